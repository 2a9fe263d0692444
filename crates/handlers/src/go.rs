//! Finds the handler of a program in Go that another file declares: one of its package, or of a package that it imports.

use super::exports::{Token, tokens};
use super::locate::{Language, Located, Origin, go_files, text_of};
use super::scan;
use super::syntax::TextRange;
use crate::limits;
use source::Sources;
use source::files::Files;
use std::path::{Path, PathBuf};

/// Returns the source of the only function for events of a queue that has a name in what `program` passes to its runtime.
pub(super) fn handler(program: &Located, sources: &Sources) -> Option<Located> {
    let Origin::File(main) = &program.origin else {
        return None;
    };
    if program.languages != [Language::Go] {
        return None;
    }
    let (directory, files) = (main.parent()?, sources.files());
    let names = scan::started(&program.text);
    let mut found = None;
    let directories = std::iter::once(directory.to_owned()).chain(packages(directory, &program.text, files));
    for path in directories.flat_map(|directory| go_files(&directory, files)) {
        let text = text_of(&path, files).filter(|text| text.contains("SQSEvent"));
        let Some(text) = text.filter(|_| path != *main) else {
            continue;
        };
        for name in &names {
            let is_handler = |at: TextRange| text.get(at).is_some_and(|line| line.contains("SQSEvent"));
            if !scan::handler(&text, name).is_some_and(|scanned| is_handler(scanned.at)) {
                continue;
            }
            if found.is_some() {
                return None;
            }
            found = Some(Located {
                text: text.as_str().into(),
                name: (*name).to_owned(),
                origin: Origin::File(path.clone()),
                ..program.clone()
            });
        }
    }
    found
}

/// Returns the directories of the packages that `text` imports from its own module.
fn packages(directory: &Path, text: &str, files: &Files) -> Vec<PathBuf> {
    let module = directory.ancestors().take(limits::MAX_EXPORT_HOPS).find_map(|root| {
        let declared = text_of(&root.join("go.mod"), files)?;
        let name = declared.lines().find_map(|line| line.strip_prefix("module "))?;
        Some((root, name.trim().to_owned()))
    });
    let Some((root, name)) = module else {
        return Vec::new();
    };
    let own = tokens(text).into_iter().filter_map(|token| match token {
        Token::Text(path) => path.strip_prefix(&*name)?.strip_prefix('/'),
        _ => None,
    });
    own.take(limits::MAX_IMPORTS).map(|path| root.join(path)).collect()
}
