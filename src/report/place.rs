//! Places as machine formats write them: on one line, in code points or bytes, with a path or a URI.

use crate::source::{Position, SourceFile, Sources, Span, plain};
use std::path::Path;

/// The directory that paths are relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Paths {
    /// For people at a terminal: relative to the working directory.
    Shown,
    /// For programs and for pages that are read elsewhere: relative to the repository, wherever sqslint ran.
    Named,
}

impl Paths {
    /// The path of `file`.
    pub(super) fn file(self, file: &SourceFile) -> &str {
        match self {
            Paths::Shown => file.shown(),
            Paths::Named => file.name(),
        }
    }

    /// `path` as that of a file.
    pub(super) fn path(self, path: &Path, sources: &Sources) -> String {
        match self {
            Paths::Shown => sources.shown_of(path),
            Paths::Named => sources.name_of(path),
        }
    }
}

/// A span in lines and columns.
pub(super) struct Region {
    /// Its first character.
    pub(super) start: Position,
    /// One past its last character.
    pub(super) end: Position,
    /// The columns once more, in bytes from 1.
    pub(super) byte_columns: (usize, usize),
}

/// All of `span`, as what takes its place needs it.
pub(super) fn whole(file: &SourceFile, span: Span) -> Region {
    let text = file.text();
    let start = text.floor_char_boundary((span.start as usize).min(text.len()));
    let end = text.floor_char_boundary((span.end as usize).min(text.len())).max(start);
    let column = |at: usize| at - file.line_range(file.line_index(at)).start + 1;
    Region {
        start: file.position(start),
        end: file.position(end),
        byte_columns: (column(start), column(end)),
    }
}

/// `span` up to the end of its first line: what annotations can show.
pub(super) fn region(file: &SourceFile, span: Span) -> Region {
    let text = file.text();
    let start = text.floor_char_boundary((span.start as usize).min(text.len()));
    let line = file.line_range(file.line_index(start));
    let end = text.floor_char_boundary((span.end as usize).min(text.len())).max(start);
    let rest = text.get(start..end.min(line.end).max(start)).unwrap_or("");
    let end = start + rest.trim_end_matches(['\n', '\r']).len();
    Region {
        start: file.position(start),
        end: file.position(end),
        byte_columns: (start - line.start + 1, end - line.start + 1),
    }
}

/// The URI of `file`, and whether it is relative to the repository root.
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

/// The `file:` URI of an absolute path.
pub(super) fn file_uri(path: &str) -> Option<String> {
    let path = plain(Path::new(path)).to_string_lossy().into_owned();
    if path.starts_with('/') {
        return Some(format!("file://{}", encoded(&path)));
    }
    let (drive, rest) = path.split_once(':').filter(|(drive, _)| drive.len() == 1)?;
    Some(format!("file:///{drive}:{}", encoded(&rest.replace('\\', "/"))))
}

/// A path with everything escaped that has a meaning in a URI, or is not ASCII.
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
