//! Escapes text from the files for XML and HTML.

use super::printable;

/// Escapes `text` for one line of text or a quoted attribute in XML or HTML.
///
/// XML 1.0 cannot represent most control characters and two noncharacters; they are replaced by their escaped notation.
pub(super) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in printable(text).chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => safe.extend(character.escape_unicode()),
            _ => safe.push(character),
        }
    }
    safe
}
