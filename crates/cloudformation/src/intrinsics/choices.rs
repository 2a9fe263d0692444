//! Functions that choose a value: by a condition, or by the keys of a mapping.

use super::{refused, unresolved};
use crate::document::scalar;
use crate::eval::too_many;
use crate::parameters::Parameter;
use crate::template::Template;
use crate::value::{Evaluated, Outcome, Outcomes, always};
use conditions::{Case, Cases, Condition, MAX_CASES, TooMany};
use knowledge::{Cause, Origin, Reason};
use source::Span;
use std::cell::OnceCell;
use trees::{Entry, Node, Value};

/// A key or the reason why it is unresolved, with its provenance.
type Key = (Result<String, Reason>, Vec<Origin>);

/// The default value of a lookup.
struct Fallback<'t> {
    value: Option<&'t Node>,
    at: Span,
    /// The evaluated default, computed once because lookups may be nested.
    known: OnceCell<Outcomes<'t>>,
}

impl<'t> Template<'t> {
    pub(super) fn choose(&self, argument: &'t Node, at: Span, assumed: &Condition) -> Outcomes<'t> {
        let Some([condition, yes, no]) = argument.items() else {
            return refused(at, "`Fn::If` takes three items");
        };
        let Some(name) = condition.as_str().or_else(|| condition.get("Condition")?.as_str()) else {
            return refused(at, "`Fn::If` takes a condition's name");
        };
        if self.is_closed && !self.conditions.contains_key(name) {
            return refused(at, &format!("condition `{name}` is not declared"));
        }
        let condition = self.condition(name);
        let branches = [Case::new(condition.clone(), yes), Case::new(condition.not(), no)];
        let possible = Cases::from_iter(branches).restrict(assumed);
        let all = possible.and_then(|when, branch| self.eval(branch, branch.span, &assumed.and(when)));
        all.unwrap_or_else(|TooMany| too_many(at))
    }

    pub(super) fn find_in_map(&self, argument: &'t Node, at: Span, assumed: &Condition) -> Outcomes<'t> {
        let Some([map, first, second, options @ ..]) = argument.items() else {
            return refused(at, "`Fn::FindInMap` takes three items");
        };
        let fallback = match options {
            [] => None,
            [options] if self.has_language_extensions => options.get("DefaultValue"),
            [_] => return refused(at, "`DefaultValue` needs the transform `AWS::LanguageExtensions`"),
            _ => return refused(at, "`Fn::FindInMap` takes three items and their options"),
        };
        let fallback = Fallback {
            value: fallback,
            at,
            known: OnceCell::new(),
        };
        let all = self.eval(map, at, assumed).and_then(|when, outcome| {
            let mapping = outcome.value.text().and_then(|name| {
                let missing = || Cause::Invalid.because(format!("mapping `{name}` is not declared"));
                self.mapping(&name).ok_or_else(missing)
            });
            match mapping {
                Ok(mapping) => self.look_up(mapping, [first, second], &fallback, &assumed.and(when)),
                Err(reason) => unresolved(at, reason),
            }
        });
        all.unwrap_or_else(|TooMany| too_many(at))
    }

    fn look_up(
        &self,
        mapping: &'t Entry,
        [first, second]: [&'t Node; 2],
        fallback: &Fallback<'t>,
        assumed: &Condition,
    ) -> Outcomes<'t> {
        let at = fallback.at;
        // An unresolved parameter as second key has one case per key of each row; any other second key is the same in
        // all rows.
        let is_of_row = self.unrestricted_parameter(second).is_some();
        let of_all = (!is_of_row).then(|| self.key_cases(second, &mapping.value, fallback, assumed));
        let rows = self.key_cases(first, &mapping.value, fallback, assumed);
        let all = rows.and_then(|when, (key, origins)| {
            let here = assumed.and(when);
            let row = key.and_then(|key| {
                let row = mapping.value.get(&key);
                row.ok_or_else(|| missing_key(&mapping.key, &key))
            });
            let row = match row {
                Ok(row) => row,
                Err(reason) => return self.instead(fallback, reason, &here),
            };
            let of_row = of_all
                .clone()
                .unwrap_or_else(|| self.key_cases(second, row, fallback, &here));
            let possible = of_row.restrict(&here);
            let found = possible.and_then(|when, (key, more)| {
                let found = key.and_then(|key| row.entry(&key).ok_or_else(|| missing_key(&mapping.key, &key)));
                match found {
                    Err(reason) => self.instead(fallback, reason, &here.and(when)),
                    Ok(entry) => {
                        let origin = Origin::new(entry.span(), format!("the mapping `{}`", mapping.key));
                        Cases::one(Outcome::with_origins(
                            self.mapped(&entry.value),
                            at,
                            origins.iter().cloned().chain(more).chain([origin]).collect(),
                        ))
                    }
                }
            });
            found.unwrap_or_else(|TooMany| too_many(at))
        });
        all.unwrap_or_else(|TooMany| too_many(at))
    }

    /// Evaluates a value of a mapping: a text or a list of texts, not a function.
    fn mapped(&self, node: &'t Node) -> Evaluated<'t> {
        let is_plain = |node: &Node| !matches!(node.value, Value::Sequence(_) | Value::Mapping(_));
        match &node.value {
            Value::Sequence(items) if items.iter().all(is_plain) => Evaluated::Tree(node),
            Value::Sequence(_) | Value::Mapping(_) => {
                Evaluated::Unresolved(Cause::Invalid.because("mappings hold only strings and lists of strings"))
            }
            Value::Null => Evaluated::Absent,
            _ => self.plain(&scalar(node).unwrap_or_default()),
        }
    }

    /// Returns the default value under `here`, or unresolved with `reason` if the lookup has no default.
    fn instead(&self, fallback: &Fallback<'t>, reason: Reason, here: &Condition) -> Outcomes<'t> {
        let Some(value) = fallback.value else {
            return always(Evaluated::Unresolved(reason), fallback.at);
        };
        let known = fallback
            .known
            .get_or_init(|| self.eval(value, fallback.at, &Condition::always()));
        known.clone().restrict(here)
    }

    /// Returns the parameter that `node` refers to, if it may have any value.
    fn unrestricted_parameter(&self, node: &'t Node) -> Option<&'t str> {
        let is_unrestricted = |name: &&str| self.parameter(name).is_none_or(Parameter::is_unrestricted);
        self.variable_name(node).filter(is_unrestricted)
    }

    /// Returns the possible keys of `node`. A parameter that may have any value is assumed to be one of the existing
    /// keys, because AWS rejects a deployment with another one, unless the lookup has a default value.
    fn key_cases(&self, node: &'t Node, row: &'t Node, fallback: &Fallback<'t>, assumed: &Condition) -> Cases<Key> {
        let Some(name) = self.unrestricted_parameter(node) else {
            return self
                .eval(node, fallback.at, assumed)
                .map(|outcome| (outcome.value.text(), outcome.origins));
        };
        let variable = self.variable(name);
        let keys = row.entries().unwrap_or_default().iter();
        let cases = keys.map(|entry| {
            let when = Condition::is(variable.clone(), entry.key.clone());
            Case::new(when, (Ok(entry.key.to_string()), Vec::new()))
        });
        let mut cases: Vec<Case<Key>> = cases.filter(|case| assumed.is_possible_with(&case.when)).collect();
        let unknown = |reason: Reason| (Err(reason), Vec::new());
        let missing = Cause::Invalid.because(format!("no key for `{name}`"));
        if fallback.value.is_some() {
            let others = cases
                .iter()
                .fold(Condition::always(), |rest, case| rest.and(&case.when.not()));
            cases.push(Case::new(others, unknown(missing.clone())));
        }
        match cases.len() {
            0 => Cases::one(unknown(missing)),
            1..=MAX_CASES => cases.into(),
            _ => Cases::one(unknown(Cause::Limit.because("the mapping has too many keys"))),
        }
    }
}

fn missing_key(mapping: &str, key: &str) -> Reason {
    Cause::Invalid.because(format!("mapping `{mapping}` has no `{key}`"))
}
