//! Errors in a configuration, with their location.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Returns `path` for display: relative to the working directory, if it is below it.
pub fn shown(path: &Path) -> String {
    let here = std::env::current_dir().and_then(|here| source::files::real(&here));
    let below = here
        .ok()
        .and_then(|here| path.strip_prefix(here).ok().map(Path::to_owned));
    below.as_deref().unwrap_or(path).display().to_string()
}

/// Error that makes a configuration unusable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    /// File; `None` for the command line.
    pub path: Option<PathBuf>,
    /// Text of the file.
    pub text: String,
    /// Byte range of the error; `None` for the whole file.
    pub span: Option<Range<usize>>,
    /// Description of the error, with the nearest valid name if a misspelling is likely.
    pub message: String,
}

impl ConfigError {
    /// Returns the line and column of the error, counted from 1.
    pub fn position(&self) -> Option<(usize, usize)> {
        let before = self.text.get(..self.span.as_ref()?.start)?;
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Some((line, column))
    }

    /// Returns the line with the error, and carets below the wrong part.
    fn excerpt(&self) -> Option<String> {
        let (line, column) = self.position()?;
        let span = self.span.as_ref()?;
        let text = self.text.lines().nth(line - 1)?;
        let marked = self.text.get(span.clone()).unwrap_or_default();
        let marked = marked.lines().next().unwrap_or_default().chars().count().max(1);
        let number = line.to_string();
        let margin = " ".repeat(number.len());
        // Tabs are kept, so that the carets align with their characters.
        let before: String = text
            .chars()
            .take(column - 1)
            .map(|c| if c == '\t' { c } else { ' ' })
            .collect();
        Some(format!(
            "\n{margin} |\n{number} | {text}\n{margin} | {before}{}",
            "^".repeat(marked)
        ))
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.path.as_deref().map_or_else(|| "command line".to_owned(), shown);
        match self.position() {
            Some((line, column)) => write!(f, "{name}:{line}:{column}: {}", self.message)?,
            None => write!(f, "{name}: {}", self.message)?,
        }
        f.write_str(&self.excerpt().unwrap_or_default())
    }
}

impl std::error::Error for ConfigError {}

/// Rewords messages of the deserialiser, which use terms of Rust, in terms of TOML.
/// `key` is the key of the wrong value, if known.
pub(super) fn in_words_of_toml(stated: &str, key: Option<&str>) -> String {
    if let Some(key) = stated.strip_prefix("missing field ") {
        return format!("the key {key} is missing");
    }
    if stated == "wanted string or table" {
        return match key {
            Some("fail-level") => "expected `\"error\"`, `\"warning\"`, `\"info\"` or `\"never\"`".to_owned(),
            Some("severity") => "expected `\"error\"`, `\"warning\"` or `\"info\"`".to_owned(),
            _ => "expected a string, in quotes".to_owned(),
        };
    }
    let Some((found, wanted)) = stated
        .strip_prefix("invalid type: ")
        .and_then(|stated| stated.split_once(", expected "))
    else {
        return stated.to_owned();
    };
    let wanted = match wanted {
        "a sequence" => "an array, as in `[\"…\"]`",
        "a map" => "a table",
        "a string" => "a string, in quotes",
        "a boolean" => "`true` or `false`",
        "u32" => "a whole number",
        "struct Processing" => "a table, as in `{ p99 = \"45s\" }`",
        "struct Heartbeat" => "a table, as in `{ every = \"1m\", extend-to = \"2m\" }`",
        other => other,
    };
    let found = match found.split_once(' ') {
        Some(("string", text)) => format!("the string {text}"),
        Some(("integer", number)) => format!("the number {}", number.trim_matches('`')),
        Some(("boolean", flag)) => flag.to_owned(),
        _ => found.to_owned(),
    };
    format!("expected {wanted}, found {found}")
}
