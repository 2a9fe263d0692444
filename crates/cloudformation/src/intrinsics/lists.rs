//! Functions on lists.

use super::refused;
use crate::eval::{Listed, too_many};
use crate::limits;
use crate::template::Template;
use crate::value::{Evaluated, Outcome, Outcomes, Part, combine, literal};
use conditions::{Cases, Condition, TooMany};
use knowledge::{Cause, Reason};
use source::Span;
use std::net::Ipv4Addr;
use trees::Node;

impl<'t> Template<'t> {
    /// Evaluates an argument that must be a list.
    pub(crate) fn items(&self, node: &'t Node, at: Span, assumed: &Condition) -> Cases<Listed<'t>> {
        let lists = self.eval(node, at, assumed).map(|outcome| {
            let reason: Reason = match &outcome.value {
                Evaluated::Text(parts) => literal(parts)
                    .err()
                    .unwrap_or_else(|| Cause::Invalid.because("a list is expected here")),
                Evaluated::Tree(tree) if tree.items().is_none() => Cause::Invalid.because("a list is expected here"),
                Evaluated::Absent => Cause::Invalid.because("a list is expected here"),
                _ => return outcome,
            };
            outcome.with(Evaluated::Unresolved(reason))
        });
        self.list(&lists, assumed)
    }

    pub(super) fn select(&self, argument: &'t Node, at: Span, assumed: &Condition) -> Outcomes<'t> {
        let Some([index, list]) = argument.items() else {
            return refused(at, "`Fn::Select` takes two items");
        };
        let indices = self.eval(index, at, assumed);
        let all = self.items(list, at, assumed).and_then(|when, list| {
            let indices = indices.clone().restrict(&assumed.and(when));
            indices.map(|index| Outcome {
                value: list.items.as_ref().map_or_else(
                    |reason| Evaluated::Unresolved(reason.clone()),
                    |items| selected(items, &index.value),
                ),
                span: at,
                origins: list.origins.clone(),
            })
        });
        all.unwrap_or_else(|TooMany| too_many(at))
    }

    pub(super) fn length(&self, argument: &'t Node, at: Span, assumed: &Condition) -> Outcomes<'t> {
        self.items(argument, at, assumed).map(|list| Outcome {
            value: match list.items {
                Ok(items) => Evaluated::literal(items.len().to_string()),
                Err(reason) => Evaluated::Unresolved(reason),
            },
            span: at,
            origins: list.origins,
        })
    }

    pub(super) fn cidr(&self, argument: &'t Node, at: Span, assumed: &Condition) -> Outcomes<'t> {
        let Some(items @ ([_, _] | [_, _, _])) = argument.items() else {
            return refused(at, "`Fn::Cidr` takes a block, a count and the bits of a range");
        };
        let operands = items.iter().map(|item| self.eval(item, at, assumed)).collect();
        let Ok(combinations) = combine(operands, assumed) else {
            return too_many(at);
        };
        combinations.map(|combination| {
            let texts: Result<Vec<String>, _> = combination.values.iter().map(Evaluated::text).collect();
            let ranges = texts.map(|texts| ranges(&texts));
            Outcome {
                value: match ranges {
                    Err(reason) => Evaluated::Unresolved(reason),
                    Ok(None) => Evaluated::Unresolved(Cause::Derived.because("the ranges of `Fn::Cidr` are not known")),
                    Ok(Some(ranges)) => {
                        Evaluated::Items(ranges.into_iter().map(|range| vec![Part::Text(range)]).collect())
                    }
                },
                span: at,
                origins: combination.origins,
            }
        })
    }
}

fn selected<'t>(items: &[Evaluated<'t>], index: &Evaluated<'t>) -> Evaluated<'t> {
    let index = match index.text().map(|text| text.trim().parse::<usize>()) {
        Ok(Ok(index)) => index,
        Ok(Err(_)) => {
            return Evaluated::Unresolved(Cause::Invalid.because("the index of `Fn::Select` is not a whole number"));
        }
        Err(reason) => return Evaluated::Unresolved(reason),
    };
    let reason = || Evaluated::Unresolved(Cause::Invalid.because("the list of `Fn::Select` is shorter"));
    items.get(index).cloned().unwrap_or_else(reason)
}

/// Returns the IPv4 ranges of `[block, count, bits]`.
fn ranges(operands: &[String]) -> Option<Vec<String>> {
    let (address, prefix) = operands.first()?.split_once('/')?;
    let base = u32::from(address.parse::<Ipv4Addr>().ok()?);
    let prefix: u32 = prefix.parse().ok().filter(|prefix| *prefix <= 32)?;
    let count: u64 = operands
        .get(1)?
        .parse()
        .ok()
        .filter(|count| *count <= limits::MAX_CIDR_RANGES)?;
    let bits: u32 = match operands.get(2) {
        Some(bits) => bits.parse().ok()?,
        None => 8,
    };
    let length = 32_u32.checked_sub(bits).filter(|length| *length >= prefix)?;
    let fits = count <= 1_u64 << (length - prefix);
    let range = |at: u64| {
        let address = u64::from(base) + (at << bits);
        let address = Ipv4Addr::from(u32::try_from(address).ok()?);
        Some(format!("{address}/{length}"))
    };
    (0..count).map(range).collect::<Option<Vec<_>>>().filter(|_| fits)
}

#[cfg(test)]
mod tests {
    use super::ranges;

    #[test]
    fn cidr_splits_a_block_into_ranges() {
        let of = |operands: &[&str]| ranges(&operands.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
        assert_eq!(
            of(&["192.168.0.0/24", "2", "5"]),
            Some(vec!["192.168.0.0/27".to_owned(), "192.168.0.32/27".to_owned()])
        );
        assert_eq!(of(&["10.0.0.0/16", "1"]), Some(vec!["10.0.0.0/24".to_owned()]));
        for refused in [
            &["10.0.0.0/24", "2", "8"][..],
            &["10.0.0.0/33", "1"],
            &["x", "1"],
            &["::/8", "1"],
            &["1.1.1.1/1", "1", "40"],
        ] {
            assert_eq!(of(refused), None, "{refused:?}");
        }
    }
}
