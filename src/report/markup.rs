//! Text that came out of files, as XML and HTML may hold it.

use super::printable;

/// `text` on one line, safe in text and in quoted attributes of XML and HTML.
///
/// XML 1.0 has no way to write most control characters and two noncharacters; they are spelled out.
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
