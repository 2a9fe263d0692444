//! Matches parts of a statement against a request, as IAM does. The result is yes, no or maybe.

use crate::graph::Attribute;
use crate::graph::access::Principal;

/// Result of a match.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Match {
    Yes,
    No,
    Maybe,
}

impl Match {
    pub(super) fn and(self, other: Match) -> Match {
        match (self, other) {
            (Match::No, _) | (_, Match::No) => Match::No,
            (Match::Maybe, _) | (_, Match::Maybe) => Match::Maybe,
            _ => Match::Yes,
        }
    }

    pub(super) fn or(self, other: Match) -> Match {
        match (self, other) {
            (Match::Yes, _) | (_, Match::Yes) => Match::Yes,
            (Match::Maybe, _) | (_, Match::Maybe) => Match::Maybe,
            _ => Match::No,
        }
    }

    pub(super) fn not_if(self, is_negated: bool) -> Match {
        match (self, is_negated) {
            (Match::Yes, true) => Match::No,
            (Match::No, true) => Match::Yes,
            (other, _) => other,
        }
    }

    pub(super) fn of(holds: bool) -> Match {
        if holds { Match::Yes } else { Match::No }
    }
}

/// Returns the best result of any case. An unresolved value is a maybe.
pub(super) fn any_case<T>(attribute: &Attribute<T>, answer: impl Fn(&T) -> Match) -> Match {
    let cases = attribute.cases.iter();
    cases.fold(Match::No, |all, case| {
        all.or(case.value().map_or(Match::Maybe, &answer))
    })
}

pub(super) fn of_service(principals: &[Principal], service: &str) -> Match {
    if principals.is_empty() {
        return Match::Maybe;
    }
    let start = service.split('.').next().unwrap_or_default();
    principals.iter().fold(Match::No, |all, principal| {
        all.or(match (principal.kind.as_str(), principal.id.as_deref()) {
            ("*", _) | ("AWS", Some("*")) => Match::Yes,
            // Some Regions have principals of their own: `sns.cn-north-1.amazonaws.com.cn`.
            ("Service", Some(id)) => Match::of(id.split('.').next() == Some(start)),
            ("Service", None) => Match::Maybe,
            _ => Match::No,
        })
    })
}

/// Returns "maybe" if a policy names a principal more specific than an account. A policy that names the account leaves
/// the decision to the account's own policies.
pub(super) fn of_anybody(principals: &[Principal]) -> Match {
    let is_account = |id: &str| id.ends_with(":root") || id.bytes().all(|byte| byte.is_ascii_digit());
    let mut people = principals
        .iter()
        .filter(|principal| matches!(principal.kind.as_str(), "*" | "AWS"));
    if people.any(|principal| !principal.id.as_deref().is_some_and(is_account)) {
        Match::Maybe
    } else {
        Match::No
    }
}

/// Returns `true` if `pattern`, with `*` and `?`, matches `text`, ignoring case.
pub fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut at, mut of, mut star): (usize, usize, Option<(usize, usize)>) = (0, 0, None);
    while of < text.len() {
        match (pattern.get(at), text.get(of)) {
            (Some(b'*'), _) => {
                star = Some((at, of));
                at += 1;
            }
            (Some(letter), Some(other)) if *letter == b'?' || letter.eq_ignore_ascii_case(other) => {
                at += 1;
                of += 1;
            }
            _ => match star {
                Some((behind, from)) => {
                    at = behind + 1;
                    of = from + 1;
                    star = Some((behind, of));
                }
                None => return false,
            },
        }
    }
    pattern
        .get(at..)
        .is_some_and(|rest| rest.iter().all(|letter| *letter == b'*'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_match_as_iam_does() {
        for (pattern, text, expected) in [
            ("sqs:SendMessage", "sqs:SendMessage", true),
            ("SQS:sendmessage", "sqs:SendMessage", true),
            ("sqs:*", "sqs:SendMessage", true),
            ("*", "sqs:SendMessage", true),
            ("sqs:Send*", "sqs:SendMessage", true),
            ("sqs:Send", "sqs:SendMessage", false),
            ("sqs:Send?essage", "sqs:SendMessage", true),
            ("*Message", "sqs:SendMessage", true),
            ("sqs:*Batch", "sqs:SendMessage", false),
            ("", "sqs:SendMessage", false),
            ("", "", true),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }
}
