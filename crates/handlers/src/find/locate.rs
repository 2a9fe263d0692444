//! Locates the file with a function's handler, within the bounds of the project, and the handler's name in it.
//!
//! The places are searched in this order, and the first with a file decides. None is guessed: if two files fit, the
//! source is not found.
//!
//! ```text
//! CodeUri: dist/orders, Handler: app.run, with an `outDir` of `dist` and a `rootDir` of `src`
//!   …                      the file that webpack or esbuild builds `dist/orders/app` of
//!   src/orders/app.*       the source of a build output
//!   dist/orders/app.*      the code itself, in any case, or a package: app/__init__.py, app/index.ts
//!   …/orders/app.*         the file of the repository whose path ends like that of the code
//!   …/orders.*             for `dist/orders/index.*`, the file that a bundler started from
//!   …/app.*                the only file in the repository that defines `run`
//! ```

use super::bundles;
use super::exports::{self, Defined};
use super::images;
use super::places::{self, beside};
use super::search::{self, Search};
use crate::facts::{Code, CodeSource};
use crate::limits;
use crate::read::language::{ENDINGS, Language, language_of};
use source::files::Files;
use source::{Sources, Span};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Source directories of Java's build tools.
const JAVA: [&str; 5] = [
    "src/main/java",
    "app/src/main/java",
    "src/main/kotlin",
    "src/main/scala",
    "",
];

/// Result of locating a source.
pub(crate) enum FoundSource {
    /// Readable source.
    Source(Located),
    /// Unreadable file, with the reason.
    Unreadable(PathBuf, String),
    /// No source, with the paths that were looked for.
    Missing(Vec<PathBuf>),
}

/// Source file or text with a handler.
pub(crate) struct Located {
    pub(crate) text: Arc<str>,
    /// Languages that it may be written in.
    pub(crate) languages: Vec<Language>,
    /// Name of the entry point, or of the function that returns it.
    pub(crate) name: String,
    pub(crate) made: Made,
    /// `true` if Lambda runs this file, or one that is compiled from it, and it was not found by its name alone.
    pub(crate) is_certain: bool,
    pub(crate) origin: Origin,
}

impl Located {
    /// Returns the source of `there` in the file that this one calls `from`.
    pub(crate) fn imported(&self, from: &str, there: String, sources: &Sources) -> Option<Located> {
        let Origin::File(path) = &self.origin else { return None };
        let path = places::imported(path, from, language_of(path)?, sources.files())?;
        match read_source(path, there, sources) {
            FoundSource::Source(found) => Some(found),
            _ => None,
        }
    }
}

/// Relation of the entry point to the named function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Made {
    /// The function itself.
    Here,
    /// A call of the function returns it.
    ByCall,
    /// A wrapper in another file calls the function.
    Wrapped,
    /// A handler in another file calls the function for each message; the flag is set if nothing else may fail.
    OfMessage(bool),
}

/// Origin of the text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Origin {
    /// A file, by its real path.
    File(PathBuf),
    /// Inline code in the configuration, at this span.
    Written(Span),
}

/// Entry point that Lambda calls, by the form of its name.
enum Wanted<'c> {
    /// `orders/app.run`: a file and a name in it.
    Module { module: &'c str, name: &'c str },
    /// `com.example.App::run`, `App::Example.Functions::Run`: the path of a class, the class and a method.
    Class {
        path: String,
        class: String,
        method: String,
        is_java: bool,
    },
    /// `bootstrap`, `bin/orders`: a program. Of a path, only the name belongs to its source.
    Program { name: &'c str, is_path: bool },
}

impl<'c> Wanted<'c> {
    /// Returns the forms that `handler` may have, most likely first.
    fn all(handler: &'c str) -> Vec<Self> {
        let handler = handler.trim_start_matches("./");
        let parts: Vec<&str> = handler.split("::").collect();
        let class = |name: &str, method: &str, is_java| {
            let own = name.rsplit('.').next().unwrap_or(name);
            // Generated around the method of a class: `Functions_Run_Generated`.
            let own = own.strip_suffix("_Generated").map_or(own, |own| {
                own.strip_suffix(method)
                    .and_then(|own| own.strip_suffix('_'))
                    .unwrap_or(own)
            });
            let names = name
                .rsplit_once('.')
                .map_or(String::new(), |(before, _)| before.replace('.', "/") + "/");
            let (class, method) = (own.to_owned(), method.to_owned());
            Wanted::Class {
                path: names + own,
                class,
                method,
                is_java,
            }
        };
        match (parts.as_slice(), handler.rsplit_once('.')) {
            ([_, name, method], _) => vec![class(name, method, false)],
            ([name, method], _) => vec![class(name, method, true)],
            ([_], None) => vec![Wanted::Program {
                name: handler.rsplit('/').next().unwrap_or(handler),
                is_path: handler.contains('/'),
            }],
            ([_], Some((module, name))) => {
                let is_class = name.starts_with(char::is_uppercase) && !handler.contains('/');
                let class = is_class.then(|| class(handler, "handleRequest", true));
                std::iter::once(Wanted::Module { module, name }).chain(class).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns the name of the entry point in its file.
    fn name(&self) -> String {
        match self {
            Wanted::Module { name, .. } => (*name).to_owned(),
            Wanted::Class { class, method, .. } => format!("{class}::{method}"),
            Wanted::Program { .. } => "main".to_owned(),
        }
    }

    /// Returns the path of the entry point's file below its code, without ending.
    fn stem(&self) -> Cow<'_, str> {
        match self {
            // `package.module` in Python.
            Wanted::Module { module, .. } if !module.contains('/') => module.replace('.', "/").into(),
            Wanted::Module { module, .. } => (*module).into(),
            Wanted::Class { path, .. } => path.into(),
            Wanted::Program { name, .. } => (*name).into(),
        }
    }

    /// Returns the paths of the file below its code, most likely first.
    fn paths(&self) -> Vec<String> {
        match self {
            Wanted::Module { module, .. } => {
                let dotted = module.replace('.', "/");
                let own = |ending: &str| if ending == "py" { dotted.as_str() } else { module };
                let plain = ENDINGS.iter().map(|(ending, _)| format!("{}.{ending}", own(ending)));
                let packages = ["__init__.py", "index.ts", "index.mjs", "index.js"];
                let packages = packages.iter().map(|name| format!("{dotted}/{name}"));
                plain.chain(packages).chain([format!("{module}.rb")]).collect()
            }
            Wanted::Class {
                path,
                class,
                is_java: true,
                ..
            } => {
                let endings = ["java", "kt", "scala"].map(|ending| format!("{path}.{ending}"));
                let nested = endings
                    .iter()
                    .flat_map(|name| JAVA.map(|place| format!("{place}/{name}")));
                let nested = nested.map(|path| path.trim_start_matches('/').to_owned());
                nested.chain([format!("{class}.java")]).collect()
            }
            Wanted::Class { path, class, .. } => {
                // The namespace of a project is not always a directory in it.
                let parts: Vec<&str> = path.split('/').collect();
                let tails = (0..parts.len()).rev().map(|at| parts[at..].join("/") + ".cs");
                tails.chain([format!("src/{class}.cs")]).collect()
            }
            Wanted::Program { name, is_path } => {
                let named = [format!("cmd/{name}/main.go"), format!("src/bin/{name}.rs")];
                let only = ["main.go", "src/main.rs"].iter().filter(|_| !is_path);
                only.map(|path| (*path).to_owned()).chain(named).collect()
            }
        }
    }
}

/// Finds the source of a function, or returns `None` if the configuration does not locate it. `is_only` is `true` if no
/// other function has a handler of the same name.
pub(crate) fn locate(code: &Code, is_only: bool, search: &Search<'_>, sources: &Sources) -> Option<FoundSource> {
    let source = code.source.as_ref()?;
    let image = match code.handler {
        Some(_) => None,
        None => Some(images::image(code, source, is_only, search)?),
    };
    let (handler, source) = match (&image, &code.handler) {
        (Some(image), _) => (&image.handler, &image.context),
        (None, handler) => (handler.as_ref()?, source),
    };
    let mut missing = Vec::new();
    for wanted in Wanted::all(handler) {
        let name = wanted.name();
        let locator = Locator {
            wanted,
            runtime: code.runtime.as_deref(),
            search,
            is_only,
        };
        let found = match source {
            CodeSource::Text(text, span) => {
                return Some(FoundSource::Source(Located {
                    text: text.clone(),
                    languages: vec![Language::Python, Language::Script],
                    name,
                    made: Made::Here,
                    is_certain: true,
                    origin: Origin::Written(*span),
                }));
            }
            CodeSource::Elsewhere => return None,
            CodeSource::Path(path) => locator.at(path, &code.entry_points).or_else(|looked| {
                // An image copies directories.
                let copied = image.as_ref().and_then(|image| locator.copied(path, &image.copied));
                copied.ok_or(looked)
            }),
            CodeSource::Package(key) => {
                let found = locator.package(Path::new(key));
                found.ok_or_else(|| vec![PathBuf::from(format!("{}.*", locator.wanted.stem()))])
            }
        };
        match found {
            Ok(path) => {
                let mut found = read_source(path.clone(), name, sources);
                if let FoundSource::Source(located) = &mut found {
                    // Its name was not followed to another file.
                    located.is_certain = located.origin == Origin::File(path) && locator.is_own(source, located);
                }
                return Some(found);
            }
            Err(looked) => missing.extend(looked),
        }
    }
    (!missing.is_empty()).then_some(FoundSource::Missing(missing))
}

/// Search for the source of one function.
struct Locator<'c, 'f> {
    wanted: Wanted<'c>,
    runtime: Option<&'c str>,
    search: &'c Search<'f>,
    is_only: bool,
}

impl Locator<'_, '_> {
    /// Finds the file in the code at `path`, or returns the paths that were looked for.
    fn at(&self, path: &Path, entry_points: &[String]) -> Result<PathBuf, Vec<PathBuf>> {
        let files = self.search.files();
        let stem = &*self.wanted.stem();
        // The file itself, which becomes an archive with that one file at its top.
        let is_source = language_of(path).is_some();
        let is_named = path.file_stem().is_some_and(|own| own == stem);
        if is_source && files.is_file(path) {
            let is_wanted = is_named || matches!(self.wanted, Wanted::Program { .. });
            let found = files.find(path).ok().filter(|_| is_wanted);
            return found.ok_or_else(|| vec![path.with_file_name(format!("{stem}.*"))]);
        }
        // It may not be built yet.
        let path = path.parent().filter(|_| is_source && is_named).unwrap_or(path);
        // A bundler names its output after the file that it starts from. A part of a template is not always next to it.
        let last = Path::new(stem).file_name();
        let entries = entry_points.iter().map(Path::new);
        let entries = entries.filter(|entry| entry.file_stem() == last && language_of(entry).is_some());
        let bases = || {
            path.ancestors()
                .take_while(|base| *base == path || files.contains(base))
        };
        let mut entries = entries.flat_map(|entry| bases().map(move |base| base.join(entry)));
        if let Some(found) = entries.find_map(|entry| beside(&entry, files)) {
            return Ok(found);
        }
        let whole = source::files::clean(&without_package(path).join(stem));
        if let Wanted::Module { .. } = self.wanted
            && let Some(found) = bundles::source_of(&whole, self.search.bundles(), files)
        {
            return Ok(found);
        }
        let output = places::output(&whole, files);
        let mut looked = Vec::new();
        for source in output.iter().flat_map(|output| &output.sources) {
            looked.push(PathBuf::from(format!("{}.*", source.display())));
            if let Some(found) = self.with_ending(source) {
                return Ok(found);
            }
        }
        looked.push(PathBuf::from(format!("{}.*", whole.display())));
        if let Some(found) = self.below(path) {
            return Ok(found);
        }
        let is_package = !files.is_directory(whole.parent().unwrap_or(&whole)) || !files.is_directory(path);
        if output.is_none() && !is_package {
            // The directory exists and lacks the file.
            let own = if let Wanted::Program { .. } = self.wanted {
                self.program(path)
            } else {
                None
            };
            return own.ok_or(looked);
        }
        // The nearest directory that exists is rather that of the source than another.
        let nearest = || whole.ancestors().skip(1).find(|above| files.is_directory(above));
        let project = output.and_then(|output| output.project);
        let project = project.or_else(|| nearest().map(Path::to_owned));
        let found = project.and_then(|project| self.find(&whole, &project));
        found.or_else(|| self.find(&whole, Path::new("/"))).ok_or(looked)
    }

    /// Returns `true` if the source is that of the code itself, and no other file in it has the path of the handler.
    fn is_own(&self, source: &CodeSource, located: &Located) -> bool {
        let (CodeSource::Path(code), Origin::File(path)) = (source, &located.origin) else {
            return false;
        };
        let code = if language_of(code).is_some() {
            code.parent().unwrap_or(code)
        } else {
            code
        };
        let own = self.wanted.paths().into_iter();
        let mut own: Vec<PathBuf> = own
            .filter_map(|name| beside(&code.join(name), self.search.files()))
            .collect();
        own.dedup();
        matches!(self.wanted, Wanted::Module { .. }) && own == [path.clone()]
    }

    /// Finds the file in the directories that an image is built of, or the only one below its own that defines the
    /// handler.
    fn copied(&self, directory: &Path, copied: &[PathBuf]) -> Option<PathBuf> {
        let mut found: Vec<PathBuf> = copied
            .iter()
            .filter_map(|path| match self.wanted {
                Wanted::Program { .. } => self.main_of(path),
                _ => self.below(path),
            })
            .collect();
        found.dedup();
        if !found.is_empty() {
            return found.pop().filter(|_| found.is_empty());
        }
        if let Wanted::Program { .. } = self.wanted {
            return self.only_program(directory);
        }
        let stem = self.wanted.stem();
        let ending = self
            .search
            .ending(Path::new(&*stem), search::length(Path::new(&*stem)), directory);
        let mut found = self.defining(ending);
        found.pop().filter(|_| found.is_empty())
    }

    /// Finds the source of a package, whose name is `path` without the handler's file.
    fn package(&self, path: &Path) -> Option<PathBuf> {
        let whole = without_package(path).join(&*self.wanted.stem());
        let bundled = bundles::source_of(&whole, self.search.bundles(), self.search.files());
        bundled.or_else(|| self.find(&whole, Path::new("/")))
    }

    /// Finds the file below `directory` whose path ends like `whole`, or the only one that defines the handler.
    fn find(&self, whole: &Path, directory: &Path) -> Option<PathBuf> {
        if let Wanted::Program { .. } = self.wanted {
            return self.program_named(whole, directory);
        }
        let stem = self.wanted.stem();
        let own = search::length(Path::new(&*stem));
        // The name of the package, in addition to that of the file. A class has one of its own.
        let least = own + usize::from(matches!(self.wanted, Wanted::Module { .. }));
        let mut found = self.defining(self.search.ending(whole, least, directory));
        if found.is_empty()
            && stem.ends_with("index")
            && let Some(package) = whole.parent()
        {
            // A bundler names its output `index`, and the package after the file that it starts from.
            found = self.defining(self.search.ending(package, 1, directory));
        }
        if found.is_empty() && self.is_only {
            // A namespace in C# is not always a directory.
            let least = if matches!(self.wanted, Wanted::Class { is_java: false, .. }) {
                own.min(2)
            } else {
                own
            };
            found = self.defining(self.search.ending(Path::new(&*stem), least, directory));
        }
        found.pop().filter(|_| found.is_empty())
    }

    /// Returns the files that define the handler, without those that the runtime cannot run.
    fn defining(&self, mut found: Vec<PathBuf>) -> Vec<PathBuf> {
        let runs = |start: &str| self.runtime.is_some_and(|runtime| runtime.starts_with(start));
        let is_language = |path: &PathBuf| {
            let language = language_of(path);
            let is_foreign = match language {
                Some(Language::Python) => runs("nodejs"),
                Some(Language::Script) => runs("python"),
                _ => false,
            };
            !is_foreign
                && matches!(
                    (&self.wanted, language),
                    (
                        Wanted::Module { .. },
                        Some(Language::Python | Language::Script | Language::Other("Ruby"))
                    ) | (
                        Wanted::Class { is_java: true, .. },
                        Some(Language::Java | Language::Other("Kotlin" | "Scala"))
                    ) | (Wanted::Class { is_java: false, .. }, Some(Language::CSharp))
                )
        };
        let name = self.wanted.name();
        found.retain(|path| is_language(path) && defines(path, &name, self.search.files()));
        found
    }

    /// Finds the file in the directory `path`.
    fn below(&self, path: &Path) -> Option<PathBuf> {
        self.wanted
            .paths()
            .iter()
            .find_map(|name| beside(&path.join(name), self.search.files()))
    }

    /// Finds the file with the name `stem` and any extension, or the package of this name.
    fn with_ending(&self, stem: &Path) -> Option<PathBuf> {
        let own = self.wanted.stem();
        let own = Path::new(&*own);
        // The handler's part of the path may be that of a package.
        let base = stem.ancestors().nth(own.components().count())?;
        match self.wanted {
            Wanted::Module { .. } if stem.ends_with(own) => self.below(base),
            Wanted::Module { .. } => {
                let endings = ENDINGS
                    .iter()
                    .map(|(ending, _)| PathBuf::from(format!("{}.{ending}", stem.display())));
                endings.into_iter().find_map(|path| beside(&path, self.search.files()))
            }
            _ => self.below(base),
        }
    }

    /// Finds the program in Go in the directory `path` or below it.
    fn program(&self, path: &Path) -> Option<PathBuf> {
        let found = self.search.files().find(path).ok()?;
        let is_path = matches!(self.wanted, Wanted::Program { is_path: true, .. });
        let own = self.main_of(&found).filter(|_| !is_path);
        own.or_else(|| self.program_named(&found.join(&*self.wanted.stem()), &found))
    }

    /// Finds the program in Go below `directory` whose directory has the name of the package or of the handler, or the
    /// only one.
    fn program_named(&self, whole: &Path, directory: &Path) -> Option<PathBuf> {
        // The name of the handler, of its package, or of the package's directory: `build/orders/lambda.zip`.
        for name in whole.ancestors().take(3).filter_map(Path::file_name) {
            let mut named = self
                .search
                .programs(directory)
                .filter(|path| path.file_name() == Some(name));
            if let (Some(one), None) = (named.next(), named.next())
                && let Some(found) = self.main_of(one)
            {
                return Some(found);
            }
        }
        if self.is_only {
            self.only_program(directory)
        } else {
            None
        }
    }

    /// Finds the only program in Go below `directory`, or the only one of a function.
    fn only_program(&self, directory: &Path) -> Option<PathBuf> {
        let programs = self.search.programs(directory).take(limits::MAX_MAIN_CANDIDATES);
        let mut all: Vec<PathBuf> = programs.filter_map(|path| self.main_of(path)).collect();
        if all.len() > 1 {
            let is_function = |text: String| text.contains("aws-lambda-go/lambda");
            all.retain(|path| text_of(path, self.search.files()).is_some_and(is_function));
        }
        all.pop().filter(|_| all.is_empty())
    }

    /// Returns the file in Go with the `main` function of a directory.
    fn main_of(&self, directory: &Path) -> Option<PathBuf> {
        let files = self.search.files();
        let listed = files.list(directory).ok()?;
        let names = listed.iter().filter_map(|one| one.name.to_str());
        let mut names: Vec<&str> = names
            .filter(|name| name.strip_suffix(".go").is_some_and(|name| !name.ends_with("_test")))
            .collect();
        names.sort_unstable();
        let mut found = names
            .iter()
            .take(limits::MAX_MAIN_CANDIDATES)
            .map(|name| directory.join(name));
        found.find(|path| defines(path, "main", files))
    }
}

/// Removes the extension of an archive from the last name.
fn without_package(path: &Path) -> PathBuf {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("zip" | "jar" | "war") => path.with_extension(""),
        _ => path.to_owned(),
    }
}

/// Returns `true` if the file defines `name`, or takes it from another one.
fn defines(path: &Path, name: &str, files: &Files) -> bool {
    language_of(path)
        .zip(text_of(path, files))
        .is_some_and(|(language, text)| exports::origin(&text, language, name) != Defined::Nowhere)
}

/// Returns the text of a source file.
fn text_of(path: &Path, files: &Files) -> Option<String> {
    String::from_utf8(files.read(path, limits::MAX_SOURCE_SIZE).ok()?).ok()
}

/// Returns the function in another file that makes the handler `made`: `export const handler = create(parts)`.
pub(crate) fn factory(made: &Located, sources: &Sources) -> Option<Located> {
    let (from, there) = exports::factory(&made.text, &made.name)?;
    Some(Located {
        made: Made::ByCall,
        ..made.imported(&from, there, sources)?
    })
}

/// Reads the file that defines `name`: the one at `path`, or one that it takes the name from.
pub(crate) fn read_source(mut path: PathBuf, mut name: String, sources: &Sources) -> FoundSource {
    let files = sources.files();
    for _ in 0..limits::MAX_EXPORT_HOPS {
        let Some(language @ (Language::Python | Language::Script)) = language_of(&path) else {
            break;
        };
        let Some(text) = text_of(&path, files) else { break };
        let next = match exports::origin(&text, language, &name) {
            Defined::By(from, there) => places::imported(&path, &from, language, files).map(|path| (path, there)),
            Defined::Among(all) => {
                let found = all
                    .iter()
                    .take(limits::MAX_MAIN_CANDIDATES)
                    .filter_map(|from| places::imported(&path, from, language, files));
                let mut found = found.filter(|path| defines(path, &name, files));
                let only = found.next().filter(|_| found.next().is_none());
                only.map(|path| (path, name.clone()))
            }
            Defined::Here | Defined::Nowhere => None,
        };
        let Some(next) = next else { break };
        (path, name) = next;
    }
    let bytes = match sources.files().read(&path, limits::MAX_SOURCE_SIZE) {
        Ok(bytes) => bytes,
        Err(refusal) => return FoundSource::Unreadable(path, refusal.to_string()),
    };
    let Ok(text) = String::from_utf8(bytes) else {
        return FoundSource::Unreadable(path, "it is not UTF-8".to_owned());
    };
    FoundSource::Source(Located {
        text: text.into(),
        languages: language_of(&path).into_iter().collect(),
        name,
        made: Made::Here,
        is_certain: false,
        origin: Origin::File(path),
    })
}
