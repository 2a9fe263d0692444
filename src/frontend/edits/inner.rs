//! Finds numbers in JSON that is itself a text of the file, such as a quoted redrive policy.
//!
//! They are found by their keys, without parsing the text, because it may contain template syntax.

use std::ops::Range;

/// Quotes around keys and values; in a quoted text they are escaped.
const QUOTES: [&str; 2] = ["\\\"", "\""];

/// Returns the range of the digits of `value` in `text`, if they are the only value of `key`.
pub(super) fn number_of(text: &str, key: &str, value: i64) -> Option<Range<usize>> {
    let mut found = QUOTES.iter().flat_map(|quote| {
        let key = format!("{quote}{key}{quote}");
        let ends: Vec<usize> = text.match_indices(&key).map(|(at, _)| at + key.len()).collect();
        ends.into_iter().map(|end| (*quote, end))
    });
    let (quote, end) = found.next().filter(|_| found.next().is_none())?;
    let start = value_at(text, end)?;
    let is_quoted = text.get(start..)?.starts_with(quote);
    let digits = digits_at(text, if is_quoted { start + quote.len() } else { start })?;
    (text.get(digits.clone())?.parse() == Ok(value)).then_some(digits)
}

/// Returns the ranges, with and without the quotes, of the quoted whole number that is the value of a key in `text`, if
/// there is exactly one.
pub(super) fn quoted_number(text: &str) -> Option<(Range<usize>, Range<usize>)> {
    let mut found = QUOTES.iter().flat_map(|quote| {
        let keys = text.match_indices(quote).map(|(at, _)| at + quote.len());
        keys.filter_map(move |end| {
            let start = value_at(text, end)?;
            text.get(start..)?.strip_prefix(quote)?;
            let digits = digits_at(text, start + quote.len())?;
            text.get(digits.end..)?.strip_prefix(quote)?;
            Some((start..digits.end + quote.len(), digits))
        })
    });
    let only = found.next()?;
    found.next().is_none().then_some(only)
}

/// Returns the offset of the value after a colon that follows `at`.
fn value_at(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?.trim_start().strip_prefix(':')?.trim_start();
    Some(text.len() - rest.len())
}

fn digits_at(text: &str, start: usize) -> Option<Range<usize>> {
    let rest = text.get(start..)?;
    let length = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '-').len();
    let after = text.get(start + length..)?.trim_start_matches([' ', '\t']);
    let ends = after.starts_with([',', '}', '"', '\\', '\n', '\r']);
    (length > 0 && ends).then_some(start..start + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_is_found_by_its_key() {
        for (text, expected) in [
            (r#"x = "{\"a\": \"b\", \"count\":3}""#, Some("3")),
            ("x = <<E\n{\"count\": 3,\n\"a\": 3}\nE", Some("3")),
            (r#"{"count": "3"}"#, Some("3")),
            (r#"{"count": 30}"#, None),
            (r#"{"count": 3.5}"#, None),
            (r#"{"count": ${3}}"#, None),
            (r#"{"count": 3, "count": 3}"#, None),
            (r#"{"account": 3}"#, None),
            (r#"{"count": "#, None),
        ] {
            let found = number_of(text, "count", 3).and_then(|range| text.get(range));
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn single_quoted_number_is_found() {
        for (text, expected) in [
            (r#"x = "{\"a\": \"b\", \"count\":\"3\"}""#, Some(r#"\"3\""#)),
            (r#"{"a": "b", "count": "3"}"#, Some("\"3\"")),
            (r#"{"a": "4", "count": "3"}"#, None),
            (r#"{"count": 3}"#, None),
            (r#"{"count": "3"#, None),
        ] {
            let found = quoted_number(text).and_then(|(whole, _)| text.get(whole));
            assert_eq!(found, expected, "{text}");
        }
    }
}
