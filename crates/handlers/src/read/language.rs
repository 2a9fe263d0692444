//! Languages of source files, by their extensions.

use std::path::Path;

/// Language of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Python,
    /// JavaScript and TypeScript.
    Script,
    Java,
    CSharp,
    Go,
    /// A language that is not judged.
    Other(&'static str),
}

/// Extensions that runtimes and bundlers look for, those of hand-written files first.
pub(crate) const ENDINGS: [(&str, Language); 7] = [
    ("py", Language::Python),
    ("ts", Language::Script),
    ("mts", Language::Script),
    ("cts", Language::Script),
    ("mjs", Language::Script),
    ("js", Language::Script),
    ("cjs", Language::Script),
];

/// Extensions of other languages, which need no bundler.
const OTHER_ENDINGS: [(&str, Language); 7] = [
    ("java", Language::Java),
    ("kt", Language::Other("Kotlin")),
    ("scala", Language::Other("Scala")),
    ("cs", Language::CSharp),
    ("go", Language::Go),
    ("rb", Language::Other("Ruby")),
    ("rs", Language::Other("Rust")),
];

impl Language {
    /// Returns the name that people use.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Language::Python => "Python",
            Language::Script => "JavaScript",
            Language::Java => "Java",
            Language::CSharp => "C#",
            Language::Go => "Go",
            Language::Other(name) => name,
        }
    }
}

/// Returns `true` if people are more likely to have written the file at `path` than the one at `other`.
pub(crate) fn is_preferred(path: &Path, other: &Path) -> bool {
    let rank = |path: &Path| {
        let ending = path.extension();
        ENDINGS
            .iter()
            .position(|(known, _)| ending.is_some_and(|ending| ending == *known))
    };
    rank(path) < rank(other)
}

/// Returns the language of a source file, by its extension.
pub(crate) fn language_of(path: &Path) -> Option<Language> {
    let ending = path.extension()?.to_str()?;
    let mut known = ENDINGS.iter().chain(&OTHER_ENDINGS);
    known.find(|(known, _)| *known == ending).map(|(_, language)| *language)
}
