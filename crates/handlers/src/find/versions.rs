//! Versions of libraries that a project fixes:
//!
//! ```text
//! package.json      "@aws-lambda-powertools/batch": "2.29.0"
//! requirements.txt  aws-lambda-powertools==3.2.0
//! ```

use super::exports::{Token, tokens};
use crate::limits;
use source::files::Files;
use std::path::Path;

/// Package of the batch processors for JavaScript, and the last minor version of which every patch has an empty `response`
/// after the error that all messages failed.
const SCRIPT: (&str, [u32; 2]) = ("@aws-lambda-powertools/batch", [2, 34]);
/// Package for Python, and the last version known to behave the same way.
const PYTHON: (&str, [u32; 2]) = ("aws-lambda-powertools", [3, 37]);

/// Returns `true` if the batch processor of Powertools, in the version that the project of the source at `path` fixes,
/// has an empty response after it raised the error that all messages failed.
pub(crate) fn empties_full_batch(path: &Path, is_script: bool, files: &Files) -> bool {
    let read = |path: &Path| String::from_utf8(files.read(path, limits::MAX_LOCK_SIZE).ok()?).ok();
    let (file, (name, last)) = if is_script {
        ("package.json", SCRIPT)
    } else {
        ("requirements.txt", PYTHON)
    };
    let directories = path.ancestors().skip(1).take(limits::MAX_EXPORT_HOPS);
    let version = directories.into_iter().find_map(|directory| {
        let text = read(&directory.join(file))?;
        if !is_script {
            return required(&text, name);
        }
        let locked = read(&directory.join("package-lock.json")).unwrap_or_default();
        package(&locked, &format!("node_modules/{name}")).or_else(|| package(&text, name))
    });
    version.is_some_and(|version| version <= last)
}

/// Returns the version of a package in a `package.json` or its lock file, if it is exact up to the patch.
fn package(text: &str, name: &str) -> Option<[u32; 2]> {
    let tokens = tokens(text);
    (0..tokens.len()).find_map(|at| match &tokens[at..] {
        [
            Token::Text(found),
            _,
            Token::Sign(b'{'),
            Token::Text("version"),
            _,
            Token::Text(version),
            ..,
        ] if *found == name => parts(version),
        [Token::Text(found), Token::Sign(b':'), Token::Text(version), ..] if *found == name => {
            parts(version.trim_start_matches('~'))
        }
        _ => None,
    })
}

/// Returns the version of a package that a `requirements.txt` pins.
fn required(text: &str, name: &str) -> Option<[u32; 2]> {
    text.lines().find_map(|line| {
        let (package, version) = line.split_once("==")?;
        let package = package.split('[').next()?.trim().replace('_', "-");
        (package == name).then(|| parts(version.trim()))?
    })
}

fn parts(version: &str) -> Option<[u32; 2]> {
    let mut parts = version.split('.').map(|part| part.parse().ok());
    Some([parts.next()??, parts.next()??])
}
