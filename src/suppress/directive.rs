//! Parses the content of a suppression: `ignore[rule, rule until=2027-03-31] reason`, or the same as fields.
//!
//! The parser knows neither the location of the suppression nor which rules exist.

use super::day::Day;
use super::written::SuppressionFields;
use crate::selection;
use std::ops::Range;

/// Maximum number of names in a suppression.
const MOST_NAMES: usize = 64;

/// Parsed suppression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Directive {
    /// `true` if it applies to the whole file.
    pub(super) whole_file: bool,
    /// Rules and categories, as written.
    pub(super) names: Vec<Name>,
    /// Expiry.
    pub(super) until: Until,
    /// Reason, if given.
    pub(super) reason: Option<String>,
}

/// Name of a rule or category, and its range in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) text: String,
    pub(super) range: Option<Range<usize>>,
}

/// Expiry of a suppression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Until {
    /// The suppression does not expire.
    Forever,
    /// The suppression is valid up to the end of this day.
    Day(Day),
    /// The date is invalid.
    Malformed(String),
}

impl Until {
    fn read(text: &str) -> Until {
        Day::parse(text).map_or_else(|| Until::Malformed(text.to_owned()), Until::Day)
    }
}

/// Parses the text after `sqslint:`. Errors are clauses.
pub(super) fn parse(text: &str) -> Result<Directive, String> {
    const FORM: &str = "write `ignore[rule] reason`";
    let start = text.len() - text.trim_start().len();
    let body = text.get(start..).unwrap_or("");
    let length = body
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_')))
        .unwrap_or(body.len());
    let verb = body.get(..length).unwrap_or("");
    let whole_file = match verb {
        "ignore" => false,
        "ignore-file" => true,
        _ => {
            let near = selection::nearest(verb, ["ignore", "ignore-file"].into_iter()).filter(|_| !verb.is_empty());
            return Err(near.map_or_else(
                || format!("it contains no instruction; {FORM}"),
                |near| format!("`{verb}` is not an instruction; did you mean `{near}`?"),
            ));
        }
    };
    let rest = body.get(length..).unwrap_or("");
    let open = start + length + (rest.len() - rest.trim_start().len());
    let Some(inside) = text.get(open..).and_then(|rest| rest.strip_prefix('[')) else {
        return Err(format!("it names no rule; {FORM}"));
    };
    let Some(close) = inside.find(']') else {
        return Err("its bracket `[` is not closed".to_owned());
    };
    let mut names = Vec::new();
    let mut until = Until::Forever;
    for (at, word) in words(inside.get(..close).unwrap_or("")) {
        if let Some(day) = word.strip_prefix("until=") {
            until = Until::read(day);
            continue;
        }
        let at = open + 1 + at;
        names.push(Name {
            text: word.to_owned(),
            range: Some(at..at + word.len()),
        });
    }
    let rest = inside.get(close + 1..).unwrap_or("");
    if sets_an_end(rest) {
        return Err("its `until=` is outside the brackets; write `ignore[rule until=2027-03-31] reason`".to_owned());
    }
    checked(Directive {
        whole_file,
        names,
        until,
        reason: reason(rest),
    })
}

/// Returns `true` if a reason begins with `until=`, or contains it with a date. As a part of the reason, it would never
/// end the suppression.
pub fn sets_an_end(reason: &str) -> bool {
    let reason = reason.to_ascii_lowercase();
    let mut places = reason.match_indices("until");
    places.any(|(at, word)| {
        let (before, rest) = (reason.get(..at).unwrap_or(""), reason.get(at + word.len()..));
        let is_word = !before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '-' | '_'));
        let value = rest.and_then(|rest| rest.trim_start().strip_prefix('='));
        let is_first = !before.contains(char::is_alphanumeric);
        is_word && value.is_some_and(|value| is_first || value.trim_start().starts_with(|c: char| c.is_ascii_digit()))
    })
}

/// Parses a suppression in metadata.
pub(super) fn of_fields(fields: &SuppressionFields) -> Result<Directive, String> {
    if let Some((key, known)) = &fields.unknown {
        // An ignored misspelling of `until` would make the suppression permanent.
        let near = selection::nearest(key, known.iter().copied());
        return Err(near.map_or_else(
            || format!("unknown key `{key}`"),
            |near| format!("unknown key `{key}`; did you mean `{near}`?"),
        ));
    }
    if fields.rules.iter().all(|name| name.trim().is_empty()) {
        return Err("it names no rule; write `{rule: …, reason: …}`".to_owned());
    }
    if fields.reason.as_deref().is_some_and(sets_an_end) {
        return Err("its reason contains `until=`; write `{rule: …, reason: …, until: 2027-03-31}`".to_owned());
    }
    let names = fields.rules.iter();
    checked(Directive {
        whole_file: false,
        names: names
            .map(|text| Name {
                text: text.trim().to_owned(),
                range: None,
            })
            .filter(|name| !name.text.is_empty())
            .collect(),
        until: fields
            .until
            .as_ref()
            .map_or(Until::Forever, |text| Until::read(text.trim())),
        reason: fields.reason.as_ref().and_then(|text| reason(text)),
    })
}

fn checked(directive: Directive) -> Result<Directive, String> {
    if directive.names.is_empty() {
        return Err("it names no rule; name the rules or a category".to_owned());
    }
    if directive.names.len() > MOST_NAMES {
        return Err(format!("it names more than {MOST_NAMES} rules; name a category"));
    }
    Ok(directive)
}

/// Splits a text into words at commas and spaces, and returns them with their offsets.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let parts = text.split(|c: char| c == ',' || c.is_whitespace());
    let base = text.as_ptr() as usize;
    parts
        .filter(|part| !part.is_empty())
        .map(move |part| (part.as_ptr() as usize - base, part))
}

/// Returns the reason without separators between it and the bracket.
fn reason(text: &str) -> Option<String> {
    let text = text.trim().trim_start_matches([':', '-', '–', '—']).trim();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn common_notations_are_parsed() {
        let cases = [
            (" ignore[a] why", "false a - why"),
            ("ignore[a,b , c]", "false a+b+c - "),
            (" ignore-file [a] - why: so", "true a - why: so"),
            ("ignore[a until=2027-03-31] why", "false a 2027-03-31 why"),
            ("ignore[a, until=soon]: why", "false a !soon why"),
            ("ignore[ a\tb ] [see x]", "false a+b - [see x]"),
            (
                "ignore[a] accepted until 2027-03-31",
                "false a - accepted until 2027-03-31",
            ),
            ("ignore[a] not_until=x", "false a - not_until=x"),
        ];
        for (text, expected) in cases {
            let read = parse(text).unwrap();
            let names: Vec<&str> = read.names.iter().map(|name| name.text.as_str()).collect();
            for name in &read.names {
                assert_eq!(text.get(name.range.clone().unwrap()), Some(name.text.as_str()));
            }
            let until = match read.until {
                Until::Forever => "-".to_owned(),
                Until::Day(day) => day.to_string(),
                Until::Malformed(text) => format!("!{text}"),
            };
            let reason = read.reason.unwrap_or_default();
            let shown = format!("{} {} {until} {reason}", read.whole_file, names.join("+"));
            assert_eq!(shown, expected, "{text}");
        }
    }

    #[test]
    fn invalid_suppressions_have_an_error() {
        const END: &str = "its `until=` is outside the brackets; write `ignore[rule until=2027-03-31] reason`";
        let cases = [
            ("", "it contains no instruction; write `ignore[rule] reason`"),
            ("ignroe[a]", "`ignroe` is not an instruction; did you mean `ignore`?"),
            ("ignore a", "it names no rule; write `ignore[rule] reason`"),
            ("ignore[]", "it names no rule; name the rules or a category"),
            (
                "ignore[until=2027-01-01]",
                "it names no rule; name the rules or a category",
            ),
            ("ignore[a, b", "its bracket `[` is not closed"),
            ("ignore[é", "its bracket `[` is not closed"),
        ];
        let ends = [
            "ignore[a] until=2027-03-31",
            "ignore[a] why until=2027-03-31",
            "ignore[a](until = soon): why",
            "ignore-file[a] why, UNTIL=2027-03-31",
            "ignore[a until=2027-03-31] until=2028-03-31",
        ];
        let cases = cases.into_iter().chain(ends.map(|text| (text, END)));
        for (text, why) in cases {
            assert_eq!(parse(text), Err(why.to_owned()), "{text}");
        }
        assert!(parse(&format!("ignore[{}]", "a ".repeat(65))).is_err());
        let mut fields = SuppressionFields {
            rules: vec!["a".to_owned()],
            reason: Some("why until the end".to_owned()),
            ..SuppressionFields::default()
        };
        assert!(of_fields(&fields).is_ok());
        fields.reason = Some("why until=2027-03-31".to_owned());
        assert!(of_fields(&fields).is_err());
    }
}
