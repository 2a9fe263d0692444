//! Converts spans for machine-readable formats: to single lines, in code points or bytes, with a path or a URI.

use source::{Position, SourceFile, Sources, Span, without_verbatim_prefix};
use std::path::Path;

/// Base directory of paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Paths {
    /// Paths relative to the working directory, for people at a terminal.
    FromWorkingDirectory,
    /// Paths relative to the repository, for programs and for pages that are read elsewhere.
    FromRepository,
}

impl Paths {
    /// Returns the path of `file`.
    pub(super) fn file(self, file: &SourceFile) -> &str {
        match self {
            Paths::FromWorkingDirectory => file.shown(),
            Paths::FromRepository => file.name(),
        }
    }

    /// Returns `path` in the same notation as that of a file.
    pub(super) fn path(self, path: &Path, sources: &Sources) -> String {
        match self {
            Paths::FromWorkingDirectory => sources.shown_of(path),
            Paths::FromRepository => sources.name_of(path),
        }
    }
}

/// Span as lines and columns.
pub(super) struct Region {
    /// First character.
    pub(super) start: Position,
    /// End, one past the last character.
    pub(super) end: Position,
}

/// Returns the region of the whole `span`, as needed for replacing it.
pub(super) fn full_region(file: &SourceFile, span: Span) -> Region {
    let text = file.text();
    let start = text.floor_char_boundary((span.start as usize).min(text.len()));
    let end = text.floor_char_boundary((span.end as usize).min(text.len())).max(start);
    Region {
        start: file.position(start),
        end: file.position(end),
    }
}

/// Returns the region of `span` up to the end of its first line, as needed for annotations.
pub(super) fn first_line_region(file: &SourceFile, span: Span) -> Region {
    let text = file.text();
    let start = text.floor_char_boundary((span.start as usize).min(text.len()));
    let line = file.line_range(file.line_index(start));
    let end = text.floor_char_boundary((span.end as usize).min(text.len())).max(start);
    let rest = text.get(start..end.min(line.end).max(start)).unwrap_or("");
    let end = start + rest.trim_end_matches(['\n', '\r']).len();
    Region {
        start: file.position(start),
        end: file.position(end),
    }
}

/// Returns the URI of `file`, and `true` if it is relative to the root of the repository.
pub(super) fn uri(file: &SourceFile) -> (String, bool) {
    let name = file.name();
    let has_drive = cfg!(windows) && name.as_bytes().get(1) == Some(&b':');
    if has_drive || name.starts_with('/') || name.starts_with("../") {
        let path = file.path().to_string_lossy();
        if let Some(uri) = file_uri(&path) {
            return (uri, false);
        }
    }
    (encoded(name), true)
}

/// Returns the `file:` URI of an absolute path.
pub(super) fn file_uri(path: &str) -> Option<String> {
    let path = without_verbatim_prefix(Path::new(path)).to_string_lossy().into_owned();
    if path.starts_with('/') {
        return Some(format!("file://{}", encoded(&path)));
    }
    let (drive, rest) = path.split_once(':').filter(|(drive, _)| drive.len() == 1)?;
    Some(format!("file:///{drive}:{}", encoded(&rest.replace('\\', "/"))))
}

/// Percent-encodes all characters of a path that are not ASCII or have a meaning in a URI.
fn encoded(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::file_uri;

    #[test]
    fn absolute_paths_have_a_uri() {
        assert_eq!(file_uri("/a/b c.tf").as_deref(), Some("file:///a/b%20c.tf"));
        assert_eq!(file_uri(r"C:\a\b.tf").as_deref(), Some("file:///C:/a/b.tf"));
        assert_eq!(file_uri(r"\\?\C:\a\b.tf").as_deref(), Some("file:///C:/a/b.tf"));
        assert_eq!(file_uri("a/b.tf"), None);
        assert_eq!(file_uri("<stdin>"), None);
    }
}
