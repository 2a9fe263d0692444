//! Evaluates `Fn::Equals`: compares its sides case by case, and records the texts that parameters are compared with.
//!
//! A parameter that may have any value is a variable. Its value is one of the texts that it is compared with, the value
//! of another such parameter, or something else. Example:
//!
//! ```text
//! IsProd: !Equals [!Ref Env, prod]                  Env = prod
//! IsLive: !Equals [!Sub "${Env}-eu", prod-eu]       Env = prod: the rest of the pattern matches
//! IsSame: !Equals [!Ref Env, !Ref Other]            (Env = prod and Other = prod), or both have another common value
//! ```

use super::parameters::Parameter;
use super::template::Template;
use super::value::{Evaluated, Part};
use crate::limits;
use conditions::{Condition, Variable};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use trees::Node;

/// A side of `Fn::Equals` in one case.
enum Side {
    /// A text with variables in it.
    Pattern(Vec<PatternPiece>),
    /// Any other expression; equal keys mean equal values.
    Opaque(Variable),
}

#[derive(PartialEq)]
enum PatternPiece {
    Text(String),
    Value(Variable),
}

/// Texts and variables that the variables of a template are compared with.
#[derive(Debug, Default)]
pub(crate) struct Comparisons {
    /// Compared texts by variable.
    texts: BTreeMap<Arc<str>, BTreeSet<Arc<str>>>,
    /// Variables without a domain that are compared with each other.
    paired: BTreeSet<Arc<str>>,
    /// Values that two such variables may have in common. Empty until every condition has been evaluated once.
    shared: Vec<Arc<str>>,
}

impl Comparisons {
    pub(crate) fn has_pairs(&self) -> bool {
        !self.paired.is_empty()
    }

    /// Computes the shared values, after every comparison is recorded.
    pub(crate) fn settle(&mut self) {
        let texts: BTreeSet<Arc<str>> = self.texts.values().flatten().cloned().collect();
        // Two variables may also have a common value that is not compared with anything, and each pair may have a
        // different one.
        let unnamed = (0..self.paired.len().div_ceil(2)).map(|at| Arc::from(format!("\0{at}")));
        self.shared = texts.into_iter().chain(unnamed).collect();
    }

    /// Returns the texts that `variable` is compared with, if they are few.
    pub(crate) fn texts_of(&self, variable: &str) -> Option<Vec<Arc<str>>> {
        let texts = self
            .texts
            .get(variable)
            .filter(|texts| texts.len() <= limits::MAX_COMPARED_TEXTS)?;
        Some(texts.iter().cloned().collect())
    }
}

impl<'t> Template<'t> {
    /// Returns the condition under which both sides are the same text.
    pub(crate) fn equal(&self, left: &'t Node, right: &'t Node) -> Condition {
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
            let operands = left.operands().chain(right.operands()).collect();
            let key = format!("{}|{one}={other}", self.scope);
            Condition::flag_of(key, format!("{first} = {second}"), Some(operands))
        })
    }

    /// Returns the condition under which `pieces` form `text`, or `None` if matching takes too many steps.
    fn made_of(&self, pieces: &[PatternPiece], text: &str, steps: &mut u32) -> Option<Condition> {
        *steps += 1;
        if *steps > limits::MAX_PATTERN_STEPS {
            return None;
        }
        match pieces {
            [] if text.is_empty() => Some(Condition::always()),
            [] => Some(Condition::never()),
            [PatternPiece::Value(variable)] => Some(self.variable_is(variable, text)),
            [PatternPiece::Text(piece), rest @ ..] => match text.strip_prefix(piece.as_str()) {
                Some(text) => self.made_of(rest, text, steps),
                None => Some(Condition::never()),
            },
            [PatternPiece::Value(variable), rest @ ..] => {
                let ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
                let mut either = Condition::never();
                for (value, text) in ends.filter_map(|at| text.split_at_checked(at)) {
                    let following = self.made_of(rest, text, steps)?;
                    if following.is_possible() {
                        either = either.or(&self.variable_is(variable, value).and(&following));
                    }
                }
                Some(either)
            }
        }
    }

    /// Returns the condition under which two patterns are equal, if they differ in at most one variable.
    fn same_pattern(&self, one: &[PatternPiece], other: &[PatternPiece]) -> Option<Condition> {
        if one.len() != other.len() {
            return None;
        }
        let mut different = one.iter().zip(other).filter(|(a, b)| a != b);
        match (different.next(), different.next()) {
            (None, _) => Some(Condition::always()),
            (Some((PatternPiece::Value(a), PatternPiece::Value(b))), None) => Some(self.same_value(a, b)),
            _ => None,
        }
    }

    fn variable_is(&self, variable: &Variable, text: &str) -> Condition {
        self.compare(variable, text);
        Condition::is(variable.clone(), text)
    }

    /// Records that `variable` is compared with `text`.
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
            // A lookup in a mapping compares a variable with the keys, too.
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

    /// Returns the cases of a side, keeping parameters without a known value as variables.
    fn sides(&self, node: &'t Node) -> Vec<(Condition, Side)> {
        let before = self.keeps_variables.replace(true);
        let outcomes = self.eval(node, node.span, &Condition::always());
        self.keeps_variables.set(before);
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
            Part::Text(text) => Some(PatternPiece::Text(text.clone())),
            Part::Unresolved { text, .. } => {
                let name = text.strip_prefix("${")?.strip_suffix('}')?;
                let is_known = name.starts_with("AWS::") || self.parameter(name).is_some();
                is_known.then(|| PatternPiece::Value(self.variable(name)))
            }
            Part::Reference(_) => None,
        });
        pieces.collect::<Option<Vec<PatternPiece>>>().map(Side::Pattern)
    }

    /// Returns the parameter or pseudo parameter that `node` refers to, if it has a single unresolved value.
    pub(crate) fn variable_name(&self, node: &'t Node) -> Option<&'t str> {
        let [entry] = node.entries()? else { return None };
        let name = entry.value.as_str().filter(|_| &*entry.key == "Ref")?;
        let is_pseudo = name.starts_with("AWS::") && name != "AWS::NoValue" && self.pseudo_parameter(name).is_none();
        let is_free = |parameter: Parameter<'_>| !parameter.is_list() && !parameter.has_argument();
        let is_parameter = self.parameter(name).is_some_and(is_free) && !self.is_passed(name);
        (is_pseudo || is_parameter).then_some(name)
    }

    /// Returns the texts that conditions compare the parameter `name` with.
    pub(crate) fn compared(&self, name: &str) -> Vec<Arc<str>> {
        let variable = self.variable(name);
        self.comparisons.borrow().texts_of(&variable.key).unwrap_or_default()
    }
}

/// Returns the text of `pieces`, if it contains no variable.
fn text_of(pieces: &[PatternPiece]) -> Option<&str> {
    match pieces {
        [] => Some(""),
        [PatternPiece::Text(text)] => Some(text),
        _ => None,
    }
}

impl Side {
    /// Returns the values that it is computed from.
    fn operands(&self) -> impl Iterator<Item = Arc<str>> {
        let (pieces, opaque) = match self {
            Side::Pattern(pieces) => (pieces.as_slice(), None),
            Side::Opaque(variable) => (&[][..], Some(variable)),
        };
        let values = pieces.iter().filter_map(|piece| match piece {
            PatternPiece::Text(_) => None,
            PatternPiece::Value(variable) => Some(variable),
        });
        values.chain(opaque).flat_map(Variable::operands).cloned()
    }

    /// Returns a key that is equal for equal sides, and a text to show.
    fn named(&self) -> (String, String) {
        match self {
            Side::Opaque(variable) => (variable.key.to_string(), variable.name.to_string()),
            Side::Pattern(pieces) => {
                let keys = pieces.iter().map(|piece| match piece {
                    PatternPiece::Text(text) => format!("{text:?}"),
                    PatternPiece::Value(variable) => variable.key.to_string(),
                });
                let names = pieces.iter().map(|piece| match piece {
                    PatternPiece::Text(text) => &**text,
                    PatternPiece::Value(variable) => &*variable.name,
                });
                (keys.collect::<Vec<_>>().join("+"), names.collect())
            }
        }
    }
}
