//! Locates the source code of a function by its configuration. The code itself is not read here.

use super::{Lowering, Path, View, is_absent};
use crate::graph::{Attribute, Code, CodeSource, State, UNKNOWN_PIECE};
use source::Span;

/// Names of the attributes that locate a function's code.
pub(in crate::frontend) struct CodeNames {
    /// The entry point that Lambda calls.
    pub(in crate::frontend) handler: Path,
    /// The command of an image, which is its entry point.
    pub(in crate::frontend) command: Path,
    /// A file or directory.
    pub(in crate::frontend) paths: &'static [Path],
    /// The code itself.
    pub(in crate::frontend) texts: &'static [Path],
    /// Files that are archived: a file or directory, or an archive.
    pub(in crate::frontend) archived: &'static [Path],
    /// The code itself, in a description of an archive.
    pub(in crate::frontend) archived_text: &'static [Path],
    /// A list of the archive's files, with the name and the text of each.
    pub(in crate::frontend) archived_texts: Option<(Path, Path, Path)>,
    /// An archive, if the same files do not create it.
    pub(in crate::frontend) archives: &'static [Path],
    /// Packages that are stored elsewhere: the key of an object.
    pub(in crate::frontend) packages: &'static [Path],
    /// The name of an image.
    pub(in crate::frontend) images: &'static [Path],
}

impl<V: View> Lowering<V> {
    /// Returns the code of the function with the names `function`.
    pub(super) fn code(
        &mut self,
        written: &V::Value,
        names: &CodeNames,
        runtime: Option<String>,
        function: Vec<String>,
    ) -> Code {
        let handler = self.text(written, names.handler);
        let handler = handler.known().cloned().flatten().or_else(|| {
            let command = self.view.elements(written, names.command);
            let first = command.first()?.written.clone();
            self.view.text(&first).ok()
        });
        let source = match &handler {
            Some(handler) => {
                let module = handler.rsplit_once('.').map_or(&**handler, |(module, _)| module);
                self.source_of(written, names, module)
            }
            None => self.image(written, names),
        };
        let entry_points = self.view.build(written).entry_points;
        let names = if handler.is_none() { function } else { Vec::new() };
        Code {
            handler,
            source,
            entry_points,
            runtime,
            names,
        }
    }

    /// Returns the directory that an image is built from, or its name, if its Dockerfile states the command.
    fn image(&mut self, written: &V::Value, names: &CodeNames) -> Option<CodeSource> {
        if self.is_set(written, names.command) {
            return None;
        }
        if let Some(directory) = self.view.build(written).image {
            return self.at(&directory);
        }
        let is_set = names.images.iter().any(|&path| self.is_set(written, path));
        let mut known = names.images.iter().filter_map(|path| self.image_name(written, path));
        is_set.then(|| CodeSource::Package(known.next().unwrap_or_default()))
    }

    fn source_of(&mut self, written: &V::Value, names: &CodeNames, module: &str) -> Option<CodeSource> {
        let build = self.view.build(written);
        if let Some(asset) = build.asset {
            return self.at(&asset);
        }
        if let Some(found) = self.source_in(written, names.paths, names.texts) {
            return Some(found);
        }
        if let Some(directory) = build.image {
            return self.at(&directory);
        }
        if let Some(archive) = self.view.archive(written) {
            if let Some(found) = self.source_in(&archive, names.archived, names.archived_text) {
                return Some(found);
            }
            if let Some((list, name, text)) = names.archived_texts {
                let mut files = self.view.elements(&archive, list);
                if files.len() > 1 {
                    files.retain(|file| {
                        let name = self.known_text(&file.written, name);
                        name.is_some_and(|(name, _)| name.rsplit_once('.').is_some_and(|(stem, _)| stem == module))
                    });
                }
                if let [only] = files.as_slice()
                    && let Some(found) = self.source_in(&only.written, &[], &[text])
                {
                    return Some(found);
                }
            }
        }
        if let Some(found) = self.source_in(written, names.archives, &[]) {
            return Some(found);
        }
        let package = self.package(written, names.packages);
        if let Some(found) = package.or_else(|| self.package(written, names.images)) {
            return Some(found);
        }
        // Without any of them, the tool packs the directory of the file.
        let mut all = names.paths.iter().chain(names.texts).chain(names.archives);
        let is_default = build.packs_directory && !all.any(|&path| self.is_set(written, path));
        is_default.then(|| self.at(".")).flatten()
    }

    /// Returns the package with its name, if an attribute at `paths` is set.
    fn package(&mut self, written: &V::Value, paths: &[Path]) -> Option<CodeSource> {
        let is_set = paths.iter().any(|&path| self.is_set(written, path));
        let mut known = paths.iter().filter_map(|path| self.package_name(written, path));
        is_set.then(|| CodeSource::Package(known.next().unwrap_or_default()))
    }

    /// Returns the name of a package, or what follows the first `/` after its unknown pieces.
    fn package_name(&mut self, within: &V::Value, path: Path) -> Option<String> {
        let found: Attribute<Option<String>> = self.text(within, path);
        let [case] = &*found.cases else { return None };
        match &case.state {
            State::Set(name) => name.clone(),
            State::Unresolved(name) => Some(name.pattern()?.tail().split_once('/')?.1.to_owned()),
            State::Default(_) => None,
        }
    }

    /// Returns the name of the repository of an image, or what follows its unknown pieces: `…/…-orders:…` is `orders`.
    fn image_name(&mut self, within: &V::Value, path: Path) -> Option<String> {
        let found: Attribute<Option<String>> = self.text(within, path);
        let [case] = &*found.cases else { return None };
        let name = match &case.state {
            State::Set(name) => name.clone()?,
            State::Unresolved(name) => name.pattern()?.to_string(),
            State::Default(_) => return None,
        };
        let name = name.rsplit('/').next()?.split([':', '@']).next()?;
        let known = match name.rsplit_once(UNKNOWN_PIECE) {
            Some((_, end)) => end.strip_prefix(['-', '_'])?,
            None => name,
        };
        (!known.is_empty()).then(|| known.to_owned())
    }

    fn is_set(&mut self, written: &V::Value, path: Path) -> bool {
        !is_absent(&self.view.attribute(written, path))
    }

    /// Returns the first known source among the files at `paths` and the `texts`.
    fn source_in(&mut self, within: &V::Value, paths: &[Path], texts: &[Path]) -> Option<CodeSource> {
        let mut found = paths.iter().filter_map(|path| self.known_text(within, path));
        if let Some(path) = found.next() {
            return self.at(&path.0);
        }
        let mut found = texts.iter().filter_map(|path| self.known_text(within, path));
        let (text, span) = found.next()?;
        Some(CodeSource::Text(text.into(), span))
    }

    /// Returns the text at `path` and its origin, if it is a single known text.
    fn known_text(&mut self, within: &V::Value, path: Path) -> Option<(String, Span)> {
        let found: Attribute<Option<String>> = self.text(within, path);
        let [case] = &*found.cases else { return None };
        let State::Set(Some(text)) = &case.state else {
            return None;
        };
        Some((text.clone(), case.source_span()))
    }

    fn at(&self, path: &str) -> Option<CodeSource> {
        if path.contains("://") {
            return Some(CodeSource::Package(path.to_owned()));
        }
        let directory = self.view.directory().filter(|_| !path.contains("${"))?;
        Some(CodeSource::Path(directory.join(path)))
    }
}
