//! Converts between URIs and paths of files: `file:///a/b%20c.tf` and `/a/b c.tf`.

use lsp_types::Uri;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Returns the path of `uri`, if it is that of a file.
pub(super) fn path_of(uri: &Uri) -> Option<PathBuf> {
    let rest = uri.as_str().strip_prefix("file://")?;
    let path = rest.get(rest.find('/')?..)?;
    let path = path.split(['?', '#']).next().unwrap_or(path);
    let path = decoded(path)?;
    // `/C:/a` on Windows.
    let is_drive = path.as_bytes().get(2) == Some(&b':') && cfg!(windows);
    Some(PathBuf::from(if is_drive { path.get(1..)? } else { &path }))
}

/// Returns the URI of the file at `path`.
pub(super) fn uri_of(path: &Path) -> Option<Uri> {
    let text = source::without_verbatim_prefix(path)
        .to_str()?
        .replace(std::path::MAIN_SEPARATOR, "/");
    let mut uri = String::from(if text.starts_with('/') { "file://" } else { "file:///" });
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    Uri::from_str(&uri).ok()
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || char::from(rest.next()?).to_digit(16);
        let value = digit()? * 16 + digit()?;
        bytes.push(u8::try_from(value).ok()?);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(all(test, unix))]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn paths_are_converted_to_uris_and_back() {
        for path in ["/a/b.tf", "/a b/ö%20#?.tf", "/a:b/[c]/{d}.tf"] {
            let uri = uri_of(Path::new(path)).unwrap();
            assert_eq!(path_of(&uri).unwrap(), Path::new(path), "{}", uri.as_str());
        }
    }

    #[test]
    fn only_files_have_paths() {
        for (text, path) in [
            ("file:///a%2Fb.tf", Some("/a/b.tf")),
            ("file://host/a.tf", Some("/a.tf")),
            ("untitled:Untitled-1", None),
            ("file:///a%ff", None),
        ] {
            assert_eq!(
                path_of(&Uri::from_str(text).unwrap()),
                path.map(PathBuf::from),
                "{text}"
            );
        }
    }
}
