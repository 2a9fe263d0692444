//! Functions over lists.

use super::refused;
use crate::conditions::Condition;
use crate::frontend::cloudformation::eval::Listed;
use crate::frontend::cloudformation::template::Template;
use crate::frontend::cloudformation::value::{Evaluated, Outcome, Outcomes, Part, combine, literal, too_many};
use crate::frontend::tree::Node;
use crate::source::Span;
use std::net::Ipv4Addr;
use std::sync::Arc;

/// Address ranges that `Fn::Cidr` makes, at most.
const MAX_RANGES: u64 = 256;

impl<'t> Template<'t> {
    /// What `node` is as a list, where a function takes nothing else.
    pub(in crate::frontend::cloudformation) fn items(
        &self,
        node: &'t Node,
        at: Span,
        world: &Condition,
    ) -> Vec<Listed<'t>> {
        let lists = self.eval(node, at, world).into_iter().map(|outcome| {
            let reason: Arc<str> = match &outcome.value {
                Evaluated::Text(parts) => literal(parts).err().unwrap_or_else(|| "a list is expected here".into()),
                Evaluated::Tree(tree) if tree.items().is_none() => "a list is expected here".into(),
                Evaluated::Absent => "a list is expected here".into(),
                _ => return outcome,
            };
            Outcome {
                value: Evaluated::Unresolved(reason),
                ..outcome
            }
        });
        self.list(&lists.collect(), world)
    }

    pub(super) fn select(&self, argument: &'t Node, at: Span, world: &Condition) -> Outcomes<'t> {
        let Some([index, list]) = argument.items() else {
            return refused(at, "`Fn::Select` takes two items");
        };
        let indices = self.eval(index, at, world);
        let mut all = Vec::new();
        for list in self.items(list, at, world) {
            let here = world.and(&list.when);
            for index in indices.iter().filter(|index| here.is_possible_with(&index.when)) {
                all.push(Outcome {
                    when: list.when.and(&index.when),
                    value: list.items.as_ref().map_or_else(
                        |reason| Evaluated::Unresolved(reason.clone()),
                        |items| selected(items, &index.value),
                    ),
                    span: at,
                    origins: list.origins.clone(),
                });
            }
        }
        all
    }

    pub(super) fn length(&self, argument: &'t Node, at: Span, world: &Condition) -> Outcomes<'t> {
        let all = self.items(argument, at, world).into_iter().map(|list| Outcome {
            when: list.when,
            value: match list.items {
                Ok(items) => Evaluated::literal(items.len().to_string()),
                Err(reason) => Evaluated::Unresolved(reason),
            },
            span: at,
            origins: list.origins,
        });
        all.collect()
    }

    pub(super) fn cidr(&self, argument: &'t Node, at: Span, world: &Condition) -> Outcomes<'t> {
        let Some(items @ ([_, _] | [_, _, _])) = argument.items() else {
            return refused(at, "`Fn::Cidr` takes a block, a count and the bits of a range");
        };
        let operands = items.iter().map(|item| self.eval(item, at, world)).collect();
        let Some(combinations) = combine(operands, world) else {
            return too_many(at);
        };
        let all = combinations.into_iter().map(|combination| {
            let texts: Result<Vec<String>, _> = combination.values.iter().map(Evaluated::text).collect();
            let ranges = texts.map(|texts| ranges(&texts));
            Outcome {
                when: combination.when,
                value: match ranges {
                    Err(reason) => Evaluated::Unresolved(reason),
                    Ok(None) => Evaluated::Unresolved("the ranges of `Fn::Cidr` are not known".into()),
                    Ok(Some(ranges)) => {
                        Evaluated::Items(ranges.into_iter().map(|range| vec![Part::Text(range)]).collect())
                    }
                },
                span: at,
                origins: combination.origins,
            }
        });
        all.collect()
    }
}

fn selected<'t>(items: &[Evaluated<'t>], index: &Evaluated<'t>) -> Evaluated<'t> {
    let index = match index.text().map(|text| text.trim().parse::<usize>()) {
        Ok(Ok(index)) => index,
        Ok(Err(_)) => return Evaluated::Unresolved("the index of `Fn::Select` is no whole number".into()),
        Err(reason) => return Evaluated::Unresolved(reason),
    };
    let reason = || Evaluated::Unresolved("the list of `Fn::Select` is shorter".into());
    items.get(index).cloned().unwrap_or_else(reason)
}

/// `[block, count, bits]` of IPv4 as ranges.
fn ranges(operands: &[String]) -> Option<Vec<String>> {
    let (address, prefix) = operands.first()?.split_once('/')?;
    let base = u32::from(address.parse::<Ipv4Addr>().ok()?);
    let prefix: u32 = prefix.parse().ok().filter(|prefix| *prefix <= 32)?;
    let count: u64 = operands.get(1)?.parse().ok().filter(|count| *count <= MAX_RANGES)?;
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
    fn ranges_of_a_block() {
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
