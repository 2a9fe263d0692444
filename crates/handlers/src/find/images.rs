//! Finds the entry point of an image that a Dockerfile states, and the directories that it is built of.
//!
//! ```text
//! services/router/Dockerfile    COPY app/ ./ … CMD ["main.handler"]    an image or a function with the name `router`
//! lambda/receiver/Dockerfile    COPY app/ ./ … ENTRYPOINT ["./main"]   a program, in lambda/receiver/app
//! ```

use super::exports::{Token, tokens};
use super::search::{Search, plain_name};
use crate::facts::{Code, CodeSource};
use crate::limits;
use source::files::{Files, clean};
use std::path::{Path, PathBuf};

/// Entry point of an image, and the directories that the image is built from.
pub(crate) struct Image {
    pub(crate) handler: String,
    pub(crate) context: CodeSource,
    /// Directories that it copies.
    pub(crate) copied: Vec<PathBuf>,
}

/// Finds the Dockerfile of the image of `code`: the one in its directory, in the directory with its name or that of the
/// function, or the only one of the repository that names an entry point, if no other function has an image.
pub(crate) fn image(code: &Code, source: &CodeSource, is_only: bool, search: &Search<'_>) -> Option<Image> {
    let known = |path: &PathBuf| read(path, search.files());
    match source {
        CodeSource::Path(directory) => known(&directory.join("Dockerfile")),
        CodeSource::Text(..) | CodeSource::Elsewhere => None,
        CodeSource::Package(name) => {
            // `registry/orders:latest`
            let name = name.rsplit('/').next()?.split([':', '@']).next()?;
            let only = |found: Vec<Image>| <[Image; 1]>::try_from(found).ok().map(|[only]| only);
            let ends = code.names.iter().flat_map(|name| ends_of(name));
            for name in std::iter::once(plain_name(name)).chain(ends) {
                let is_named = |path: &&PathBuf| !name.is_empty() && names_of(path).contains(&name);
                let named: Vec<Image> = search.dockerfiles().iter().filter(is_named).filter_map(known).collect();
                if !named.is_empty() {
                    return only(named);
                }
            }
            let all = search.dockerfiles().iter().filter(|_| is_only).filter_map(known);
            only(all.collect())
        }
    }
}

/// Returns the name of a function and its ends of several words, longest first: its start may be that of a project or a
/// stage.
fn ends_of(name: &str) -> impl Iterator<Item = String> {
    let words: Vec<&str> = name.split(|c: char| !c.is_alphanumeric()).collect();
    let ends = (0..words.len()).map(|at| (at, words[at..].join("-")));
    let ends: Vec<String> = ends
        .filter(|(at, end)| *at == 0 || end.contains('-'))
        .map(|(_, end)| plain_name(&end))
        .collect();
    ends.into_iter()
}

/// Returns the names that a Dockerfile has by its directory, and by its own: `router.Dockerfile`.
fn names_of(path: &Path) -> Vec<String> {
    let directory = path.parent().and_then(Path::file_name);
    let own = [path.file_stem(), path.extension()].into_iter().flatten();
    let own = own.filter(|part| *part != "Dockerfile");
    let all = directory.into_iter().chain(own).filter_map(|name| name.to_str());
    all.map(plain_name).filter(|name| !name.is_empty()).collect()
}

/// Reads a Dockerfile: the entry point of its last stage, and what all stages copy from its context.
fn read(path: &Path, files: &Files) -> Option<Image> {
    let text = String::from_utf8(files.read(path, limits::MAX_DOCKERFILE_SIZE).ok()?).ok()?;
    let directory = path.parent()?;
    let (mut command, mut entry) = (None, None);
    let mut copied = Vec::new();
    for line in text.replace("\\\n", " ").lines() {
        let line = line.trim_start();
        let (instruction, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match instruction {
            "FROM" => (command, entry) = (None, None),
            "CMD" => command = Some(listed(rest)),
            "ENTRYPOINT" => entry = Some(listed(rest)),
            "COPY" | "ADD" if !rest.contains("--from") && copied.len() < limits::MAX_IMPORTS => {
                let words: Vec<&str> = rest.split_whitespace().filter(|word| !word.starts_with("--")).collect();
                let sources = words.split_last().map_or(&[][..], |(_, sources)| sources);
                copied.extend(
                    sources
                        .iter()
                        .filter_map(|source| directory_of(source, directory, files)),
                );
            }
            _ => {}
        }
    }
    copied.sort();
    copied.dedup();
    copied.retain(|path| path != directory);
    let handler = match (command.as_deref(), entry.as_deref()) {
        (Some([handler]), _) => handler.clone(),
        // `python -m awslambdaric app.handler`
        (None, Some([.., client, handler])) if matches!(&**client, "awslambdaric" | "aws-lambda-ric") => {
            handler.clone()
        }
        (None, Some([program])) if Path::new(program).extension().is_none() => program.rsplit('/').next()?.to_owned(),
        _ => return None,
    };
    // A program has no path of its source.
    let is_program = handler.starts_with(['/', '.']);
    let handler = if is_program {
        handler.rsplit('/').next()?.to_owned()
    } else {
        handler
    };
    Some(Image {
        handler,
        context: CodeSource::Path(directory.to_owned()),
        copied,
    })
}

/// Returns the texts of `["python", "app.py"]`.
fn listed(rest: &str) -> Vec<String> {
    let texts = tokens(rest).into_iter().filter_map(|token| match token {
        Token::Text(text) => Some(text.to_owned()),
        _ => None,
    });
    texts.collect()
}

/// Returns the directory that a `COPY` of `source` names, in the nearest directory that has it: an image may be built from
/// one above that of its Dockerfile.
fn directory_of(source: &str, directory: &Path, files: &Files) -> Option<PathBuf> {
    if source.contains(['*', '$']) || source.starts_with("http") {
        return None;
    }
    let bounds = directory.ancestors().take_while(|above| files.contains(above));
    bounds
        .map(|above| clean(&above.join(source.trim_start_matches('/'))))
        .find_map(|path| {
            if files.is_directory(&path) {
                Some(path)
            } else {
                files.is_file(&path).then(|| path.parent().map(Path::to_owned))?
            }
        })
}
