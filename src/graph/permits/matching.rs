//! Matches parts of a statement against a request, as IAM does. The result is yes, no or maybe.

use crate::graph::Attribute;
use crate::graph::access::Principal;

/// Result of a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

/// Returns the best result of any case, or, if `denies`, the result that all cases have. An unresolved value is a maybe.
pub(super) fn over_cases<T>(attribute: &Attribute<T>, denies: bool, answer: impl Fn(&T) -> Match) -> Match {
    let mut answers = attribute
        .cases
        .iter()
        .map(|case| case.value().map_or(Match::Maybe, &answer));
    if denies {
        let first = answers.next().unwrap_or(Match::Maybe);
        answers.fold(first, |all, one| if all == one { all } else { Match::Maybe })
    } else {
        answers.fold(Match::No, Match::or)
    }
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

/// Returns `true` for an account, whose own policies then decide about its roles.
fn is_account(id: &str) -> bool {
    id.ends_with(":root") || !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns whether the principals include everybody. Any principal of AWS may be the one of the request.
pub(super) fn of_everybody(principals: &[Principal]) -> Match {
    principals.iter().fold(Match::No, |all, principal| {
        all.or(match (principal.kind.as_str(), principal.id.as_deref()) {
            ("*", _) | ("AWS", Some("*")) => Match::Yes,
            ("AWS", _) => Match::Maybe,
            _ => Match::No,
        })
    })
}

/// Returns "maybe" if a policy names a principal more specific than an account, which may be the role.
pub(super) fn of_role(principals: &[Principal]) -> Match {
    let named = principals
        .iter()
        .filter(|principal| !principal.id.as_deref().is_some_and(is_account));
    named.fold(Match::No, |all, principal| {
        all.or(of_everybody(std::slice::from_ref(principal)))
    })
}

/// Returns whether a policy leaves the decision to the account of the role.
pub(super) fn of_account(principals: &[Principal]) -> Match {
    principals.iter().fold(Match::No, |all, principal| {
        all.or(match (principal.kind.as_str(), principal.id.as_deref()) {
            ("*", _) | ("AWS", Some("*")) => Match::Yes,
            ("AWS", Some(id)) => Match::of(is_account(id)),
            ("AWS", None) => Match::Maybe,
            _ => Match::No,
        })
    })
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
                Some((following, from)) => {
                    at = following + 1;
                    of = from + 1;
                    star = Some((following, of));
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
