//! Locates the source code of a function by its configuration. The code itself is not read here.

use super::{Lowering, Path, View};
use crate::graph::{Attribute, Code, CodeSource, State};
use source::Span;

/// Names of the attributes that locate a function's code.
pub(in crate::frontend) struct CodeNames {
    /// The entry point that Lambda calls.
    pub(in crate::frontend) handler: Path,
    /// A file or directory.
    pub(in crate::frontend) paths: &'static [Path],
    /// The code itself.
    pub(in crate::frontend) texts: &'static [Path],
    /// A file or directory that is archived.
    pub(in crate::frontend) archived: &'static [Path],
    /// A list of the archive's files, and the text of each.
    pub(in crate::frontend) archived_texts: Option<(Path, Path)>,
}

impl<V: View> Lowering<V> {
    pub(super) fn code(&mut self, written: &V::Value, names: &CodeNames) -> Code {
        let handler = self.text(written, names.handler);
        let handler = handler.known().cloned().flatten();
        let source = handler.as_ref().and_then(|_| self.source_of(written, names));
        Code { handler, source }
    }

    fn source_of(&mut self, written: &V::Value, names: &CodeNames) -> Option<CodeSource> {
        if let Some(asset) = self.view.asset(written) {
            return self.at(&asset);
        }
        if let Some(found) = self.source_in(written, names.paths, names.texts) {
            return Some(found);
        }
        let archive = self.view.archive(written)?;
        if let Some(found) = self.source_in(&archive, names.archived, &[]) {
            return Some(found);
        }
        let (list, text) = names.archived_texts?;
        let files = self.view.elements(&archive, list);
        match files.as_slice() {
            [only] => self.source_in(&only.written, &[], &[text]),
            _ => None,
        }
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
        let is_elsewhere = path.contains("://") || path.contains("${");
        let directory = self.view.directory().filter(|_| !is_elsewhere)?;
        Some(CodeSource::Path(directory.join(path)))
    }
}
