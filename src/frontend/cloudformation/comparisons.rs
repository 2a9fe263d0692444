//! `Fn::Equals`: what its sides are, text by text and case by case, and which texts parameters are compared with.
//!
//! A parameter that may have any value is a variable. It is equal to one of the texts that it is compared with, to
//! another such parameter, or to something else.

use super::parameters::Parameter;
use super::template::Template;
use super::value::{Evaluated, Part};
use crate::conditions::{Condition, Variable};
use crate::frontend::tree::Node;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A parameter that is compared with more texts is not told apart by them where its value is used.
const MAX_TEXTS: usize = 8;

/// Steps to find the ways in which a text may be put together.
const MAX_STEPS: u32 = 1_000;

/// A side of `Fn::Equals` under some conditions.
enum Side {
    /// A text that is put together of these.
    Pattern(Vec<Piece>),
    /// Anything else; equal texts stand for equal values.
    Opaque(Variable),
}

#[derive(PartialEq)]
enum Piece {
    Text(String),
    Value(Variable),
}

/// Which texts and which other variables the variables of a template are compared with.
#[derive(Debug, Default)]
pub(super) struct Comparisons {
    /// By variable.
    texts: BTreeMap<Arc<str>, BTreeSet<Arc<str>>>,
    /// Variables without a domain that are compared with each other.
    paired: BTreeSet<Arc<str>>,
    /// What two such variables may both be. Empty until every condition has been read once.
    shared: Vec<Arc<str>>,
}

impl Comparisons {
    pub(super) fn has_pairs(&self) -> bool {
        !self.paired.is_empty()
    }

    /// Every comparison has been met.
    pub(super) fn settle(&mut self) {
        let texts: BTreeSet<Arc<str>> = self.texts.values().flatten().cloned().collect();
        // Two variables may also share a text that nothing is compared with; two by two they may share different ones.
        let unnamed = (0..self.paired.len().div_ceil(2)).map(|at| Arc::from(format!("\0{at}")));
        self.shared = texts.into_iter().chain(unnamed).collect();
    }

    /// The texts that `variable` is compared with, where they are few.
    pub(super) fn texts_of(&self, variable: &str) -> Option<Vec<Arc<str>>> {
        let texts = self.texts.get(variable).filter(|texts| texts.len() <= MAX_TEXTS)?;
        Some(texts.iter().cloned().collect())
    }
}

impl<'t> Template<'t> {
    /// The condition under which both are the same text.
    pub(super) fn equal(&self, left: &'t Node, right: &'t Node) -> Condition {
        let (left, right) = (self.sides(left), self.sides(right));
        let mut either = Condition::never();
        for (when, one) in &left {
            for (also, other) in &right {
                let both = when.and(also);
                if both.is_possible() {
                    either = either.or(&both.and(&self.same(one, other)));
                }
            }
        }
        either
    }

    fn same(&self, left: &Side, right: &Side) -> Condition {
        let known = match (left, right) {
            (Side::Pattern(pattern), other) | (other, Side::Pattern(pattern)) if text_of(pattern).is_some() => {
                let text = text_of(pattern).unwrap_or_default();
                match other {
                    Side::Pattern(pieces) => self.made_of(pieces, text, &mut 0),
                    Side::Opaque(variable) => Some(self.variable_is(variable, text)),
                }
            }
            (Side::Pattern(one), Side::Pattern(other)) => self.same_pattern(one, other),
            (Side::Opaque(a), Side::Opaque(b)) if a.key == b.key => Some(Condition::always()),
            _ => None,
        };
        known.unwrap_or_else(|| {
            let mut sides = [left.named(), right.named()];
            sides.sort_by(|a, b| a.1.cmp(&b.1).then_with(|| a.0.cmp(&b.0)));
            let [(one, first), (other, second)] = sides;
            Condition::flag(format!("{}|{one}={other}", self.unit), format!("{first} = {second}"))
        })
    }

    /// The condition under which `pieces` make `text`; `None` where that takes too many steps to say.
    fn made_of(&self, pieces: &[Piece], text: &str, steps: &mut u32) -> Option<Condition> {
        *steps += 1;
        if *steps > MAX_STEPS {
            return None;
        }
        match pieces {
            [] if text.is_empty() => Some(Condition::always()),
            [] => Some(Condition::never()),
            [Piece::Value(variable)] => Some(self.variable_is(variable, text)),
            [Piece::Text(piece), rest @ ..] => match text.strip_prefix(piece.as_str()) {
                Some(text) => self.made_of(rest, text, steps),
                None => Some(Condition::never()),
            },
            [Piece::Value(variable), rest @ ..] => {
                let ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
                let mut either = Condition::never();
                for (value, text) in ends.filter_map(|at| text.split_at_checked(at)) {
                    let behind = self.made_of(rest, text, steps)?;
                    if behind.is_possible() {
                        either = either.or(&self.variable_is(variable, value).and(&behind));
                    }
                }
                Some(either)
            }
        }
    }

    /// The condition under which patterns are the same that differ in one variable at most.
    fn same_pattern(&self, one: &[Piece], other: &[Piece]) -> Option<Condition> {
        if one.len() != other.len() {
            return None;
        }
        let mut different = one.iter().zip(other).filter(|(a, b)| a != b);
        match (different.next(), different.next()) {
            (None, _) => Some(Condition::always()),
            (Some((Piece::Value(a), Piece::Value(b))), None) => Some(self.same_value(a, b)),
            _ => None,
        }
    }

    fn variable_is(&self, variable: &Variable, text: &str) -> Condition {
        self.compare(variable, text);
        Condition::is(variable.clone(), text)
    }

    /// Notes that `variable` is compared with `text`.
    fn compare(&self, variable: &Variable, text: &str) {
        let mut comparisons = self.comparisons.borrow_mut();
        comparisons
            .texts
            .entry(variable.key.clone())
            .or_default()
            .insert(text.into());
    }

    fn same_value(&self, a: &Variable, b: &Variable) -> Condition {
        if a.key != b.key && a.domain.is_none() && b.domain.is_none() {
            let mut comparisons = self.comparisons.borrow_mut();
            comparisons.paired.extend([a.key.clone(), b.key.clone()]);
            // Mappings are looked up by their keys, which compares as well.
            for variable in [a, b] {
                let texts = comparisons.texts.entry(variable.key.clone()).or_default();
                texts.extend(self.mapping_keys().map(Arc::from));
                texts.extend(variable.default.clone());
            }
        } else {
            for (one, other) in [(a, b), (b, a)] {
                for value in one.domain.iter().flat_map(|all| all.iter()) {
                    self.compare(other, value);
                }
            }
        }
        Condition::equal(a, b, &self.comparisons.borrow().shared)
    }

    /// What `node` is in each case, parameters without a known value left open.
    fn sides(&self, node: &'t Node) -> Vec<(Condition, Side)> {
        let before = self.leaves_open.replace(true);
        let outcomes = self.eval(node, node.span, &Condition::always());
        self.leaves_open.set(before);
        let sides = outcomes.into_iter().map(|outcome| {
            let side = match &outcome.value {
                Evaluated::Absent => Some(Side::Pattern(Vec::new())),
                Evaluated::Text(parts) => self.side_of(parts),
                Evaluated::Tree(_) | Evaluated::Items(_) | Evaluated::Unresolved(_) => None,
            };
            (outcome.when, side)
        });
        sides
            .map(|(when, side)| (when, side.unwrap_or_else(|| Side::Opaque(self.opaque(node)))))
            .collect()
    }

    fn side_of(&self, parts: &[Part]) -> Option<Side> {
        let pieces = parts.iter().map(|part| match part {
            Part::Text(text) => Some(Piece::Text(text.clone())),
            Part::Open { text, .. } => {
                let name = text.strip_prefix("${")?.strip_suffix('}')?;
                let is_known = name.starts_with("AWS::") || self.parameter(name).is_some();
                is_known.then(|| Piece::Value(self.variable(name)))
            }
            Part::Reference(_) => None,
        });
        pieces.collect::<Option<Vec<Piece>>>().map(Side::Pattern)
    }

    /// The parameter or pseudo parameter that `node` refers to, where it stands for one value.
    pub(super) fn variable_name(&self, node: &'t Node) -> Option<&'t str> {
        let [entry] = node.entries()? else { return None };
        let name = entry.value.as_str().filter(|_| &*entry.key == "Ref")?;
        let is_pseudo = name.starts_with("AWS::") && name != "AWS::NoValue" && self.pseudo_parameter(name).is_none();
        let is_free = |parameter: Parameter<'_>| !parameter.is_list() && !parameter.is_settled();
        let is_parameter = self.parameter(name).is_some_and(is_free) && !self.is_handed(name);
        (is_pseudo || is_parameter).then_some(name)
    }

    /// The texts that conditions compare the parameter `name` with.
    pub(super) fn compared(&self, name: &str) -> Vec<Arc<str>> {
        let variable = self.variable(name);
        self.comparisons.borrow().texts_of(&variable.key).unwrap_or_default()
    }
}

/// The text that `pieces` are, where no variable is among them.
fn text_of(pieces: &[Piece]) -> Option<&str> {
    match pieces {
        [] => Some(""),
        [Piece::Text(text)] => Some(text),
        _ => None,
    }
}

impl Side {
    /// A text that is equal for equal sides, and one to show.
    fn named(&self) -> (String, String) {
        match self {
            Side::Opaque(variable) => (variable.key.to_string(), variable.name.to_string()),
            Side::Pattern(pieces) => {
                let keys = pieces.iter().map(|piece| match piece {
                    Piece::Text(text) => format!("{text:?}"),
                    Piece::Value(variable) => variable.key.to_string(),
                });
                let names = pieces.iter().map(|piece| match piece {
                    Piece::Text(text) => &**text,
                    Piece::Value(variable) => &*variable.name,
                });
                (keys.collect::<Vec<_>>().join("+"), names.collect())
            }
        }
    }
}
