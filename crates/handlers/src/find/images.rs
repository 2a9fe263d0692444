//! Finds the entry point of an image that a Dockerfile states: `CMD ["app.handler"]`.

use super::exports::{Token, tokens};
use super::search::Search;
use crate::facts::CodeSource;
use crate::limits;
use source::files::Files;
use std::path::{Path, PathBuf};

/// Entry point of an image, and the directory that the image is built from.
pub(crate) struct Image {
    pub(crate) handler: String,
    pub(crate) context: CodeSource,
}

/// Finds the Dockerfile of an image: the one in its directory, in the directory with its name, or the only one of the
/// repository that names an entry point, if no other function has an image.
pub(crate) fn image(source: &CodeSource, is_only: bool, search: &Search<'_>) -> Option<Image> {
    let known = |path: &PathBuf| {
        Some(Image {
            handler: command(path, search.files())?,
            context: CodeSource::Path(path.parent()?.to_owned()),
        })
    };
    match source {
        CodeSource::Path(directory) => known(&directory.join("Dockerfile")),
        CodeSource::Text(..) | CodeSource::Elsewhere => None,
        CodeSource::Package(name) => {
            // `registry/orders:latest`
            let name = name.rsplit('/').next()?.split([':', '@']).next()?;
            let is_named = |path: &&PathBuf| path.parent().and_then(Path::file_name).is_some_and(|own| own == name);
            let only = |found: Vec<Image>| <[Image; 1]>::try_from(found).ok().map(|[only]| only);
            let named = search.dockerfiles().iter().filter(is_named).filter_map(known);
            only(named.collect()).or_else(|| {
                let all = search.dockerfiles().iter().filter(|_| is_only).filter_map(known);
                only(all.collect())
            })
        }
    }
}

/// Returns the entry point in the last `CMD` of a Dockerfile.
fn command(path: &Path, files: &Files) -> Option<String> {
    let text = String::from_utf8(files.read(path, limits::MAX_DOCKERFILE_SIZE).ok()?).ok()?;
    let mut commands = text.lines().filter_map(|line| line.trim_start().strip_prefix("CMD"));
    match tokens(commands.next_back()?)[..] {
        [Token::Sign(b'['), Token::Text(handler), Token::Sign(b']')] => Some(handler.to_owned()),
        _ => None,
    }
}
