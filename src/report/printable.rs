//! Makes text from the files safe to print: it cannot control a terminal, reorder the displayed text, or contain a
//! command for the service whose log includes it.

/// Converts `text` to one line, and escapes all characters that would have an effect.
pub fn printable(text: &str) -> String {
    let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    if is_plain && !text.contains("::") && !text.contains("##") {
        return text.to_owned();
    }
    let mut shown = String::with_capacity(text.len());
    // The text may be at the beginning of a line.
    let mut before = ' ';
    for (at, character) in text.char_indices() {
        let rest = text.get(at..).unwrap_or("");
        match character {
            '\n' | '\t' | '\r' => shown.push(' '),
            _ if is_deceptive(character) || begins_line_command(before, rest) || ends_mark(before, rest) => {
                shown.extend(character.escape_unicode());
            }
            _ => shown.push(character),
        }
        before = character;
    }
    shown
}

/// Makes an error message printable: on one line, followed by any lines that it quotes from a file (`3 | text`,
/// ` | ^^^^`).
pub fn printable_error(text: &str) -> String {
    let is_quoted = |line: &str| {
        let behind = line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
        behind.trim_start().starts_with('|')
    };
    let mut lines = text.split('\n');
    let first = printable(lines.next().unwrap_or_default());
    lines.fold(first, |shown, line| {
        let gap = if is_quoted(line) { '\n' } else { ' ' };
        format!("{shown}{gap}{}", printable(line))
    })
}

/// Returns `true` for control characters, line separators and bidirectional controls.
pub(super) fn is_deceptive(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

/// Returns `true` if `rest` would be a workflow command at the start of a line. GitHub Actions ignores leading blanks,
/// and a line may be broken at any blank.
fn begins_line_command(before: char, rest: &str) -> bool {
    let name = before.is_whitespace().then(|| rest.strip_prefix("::")).flatten();
    name.is_some_and(|name| name.starts_with(|c: char| c.is_ascii_alphabetic()))
}

/// Returns `true` if `rest` begins with the second half of a marker that introduces a command anywhere in a line:
/// `##[error]` in GitHub Actions and Azure Pipelines, `##vso[…]`, `##teamcity[…]`.
pub(super) fn ends_mark(before: char, rest: &str) -> bool {
    let name = (before == '#').then(|| rest.strip_prefix('#')).flatten();
    name.is_some_and(|name| {
        name.trim_start_matches(|c: char| c.is_ascii_alphabetic())
            .starts_with('[')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_with_an_effect_are_escaped() {
        for (text, shown) in [
            ("a\u{1b}b", "a\\u{1b}b"),
            ("a\r\n\tb", "a   b"),
            ("::error::x", "\\u{3a}:error::x"),
            ("a\n::error file=b::x", "a \\u{3a}:error file=b::x"),
            ("AWS::SQS::Queue", "AWS::SQS::Queue"),
            ("a ::1/128", "a ::1/128"),
            ("##[error]x", "#\\u{23}[error]x"),
            ("a###vso[x]", "a##\\u{23}vso[x]"),
            ("## a [b]", "## a [b]"),
            ("#[a]", "#[a]"),
        ] {
            assert_eq!(printable(text), shown);
        }
    }

    #[test]
    fn errors_keep_quoted_lines() {
        let text = "a.toml:1: wrong\n 1 | ::error::x\n   | ^\nand more\n::error::x";
        let shown = "a.toml:1: wrong\n 1 | \\u{3a}:error::x\n   | ^ and more \\u{3a}:error::x";
        assert_eq!(printable_error(text), shown);
    }
}
