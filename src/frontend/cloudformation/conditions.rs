//! The `Conditions` section as formulas over parameters, so that conditions on one parameter are correlated.
//! What is not understood is a yes-or-no question of its own, equal where its text is equal.

use super::template::{Parameter, Template, scalar};
use super::value::Evaluated;
use crate::frontend::tree::{Node, Value};
use crate::graph::{Condition, Variable};
use std::fmt::Write as _;

/// Conditions that refer to each other are followed this deep.
const MAX_DEPTH: usize = 64;

/// One side of `Fn::Equals`.
enum Side {
    /// Texts, each in some worlds.
    Known(Vec<(Condition, String)>),
    /// Something that may have several values.
    Variable(Variable),
}

impl<'t> Template<'t> {
    /// The worlds in which the condition called `name` is true.
    pub(super) fn condition(&self, name: &str) -> Condition {
        self.condition_within(name, 0)
    }

    fn condition_within(&self, name: &str, depth: usize) -> Condition {
        let flag = || Condition::flag(format!("{}|{}", self.unit, name.replace('|', "/")));
        if let Some(known) = self.computed.borrow().get(name) {
            // A condition that is being computed refers to itself: AWS refuses it.
            return known.clone().unwrap_or_else(flag);
        }
        let Some(node) = self.conditions.get(name).filter(|_| depth < MAX_DEPTH) else {
            return flag();
        };
        self.computed.borrow_mut().insert(name.into(), None);
        let condition = self.formula(node, depth + 1).named(name);
        self.computed.borrow_mut().insert(name.into(), Some(condition.clone()));
        condition
    }

    fn formula(&self, node: &'t Node, depth: usize) -> Condition {
        let flag = || Condition::flag(format!("{}|{}", self.unit, outline(node)));
        let Some([entry]) = node.entries().filter(|_| depth < MAX_DEPTH) else {
            return flag();
        };
        let operands = entry.value.items().unwrap_or_default();
        let mut formulas = operands.iter().map(|operand| self.formula(operand, depth + 1));
        match (&*entry.key, operands) {
            ("Condition", _) => match entry.value.as_str() {
                Some(name) => self.condition_within(name, depth + 1),
                None => flag(),
            },
            ("Fn::And", [_, ..]) => formulas.fold(Condition::always(), |all, next| all.and(&next)),
            ("Fn::Or", [_, ..]) => formulas.fold(Condition::never(), |all, next| all.or(&next)),
            ("Fn::Not", [_]) => formulas.next().map_or_else(flag, |only| only.not()),
            ("Fn::Equals", [left, right]) => Self::equal(self.side(left), self.side(right)),
            _ => flag(),
        }
    }

    fn equal(left: Side, right: Side) -> Condition {
        match (left, right) {
            (Side::Known(left), Side::Known(right)) => {
                let mut either = Condition::never();
                for (when, text) in &left {
                    for (other, _) in right.iter().filter(|(_, other)| other == text) {
                        either = either.or(&when.and(other));
                    }
                }
                either
            }
            (Side::Variable(variable), Side::Known(known)) | (Side::Known(known), Side::Variable(variable)) => {
                let each = known.into_iter();
                each.fold(Condition::never(), |either, (when, text)| {
                    either.or(&when.and(&Condition::is(variable.clone(), text)))
                })
            }
            (Side::Variable(a), Side::Variable(b)) if a.key == b.key => Condition::always(),
            (Side::Variable(a), Side::Variable(b)) => {
                if let (Some(values), Some(_)) = (&a.domain, &b.domain) {
                    return values.iter().fold(Condition::never(), |either, value| {
                        let mine = Condition::is(a.clone(), value.clone());
                        either.or(&mine.and(&Condition::is(b.clone(), value.clone())))
                    });
                }
                let (first, second) = if a.key < b.key { (a, b) } else { (b, a) };
                let own = second.key.rsplit('|').next().unwrap_or_default().to_owned();
                Condition::flag(format!("{} = {own}", first.key))
            }
        }
    }

    fn side(&self, node: &'t Node) -> Side {
        if let Some(name) = self.variable_name(node) {
            return Side::Variable(self.variable(name));
        }
        let opaque = || Side::Variable(self.variable(&outline(node)));
        if self.mentions_open_parameter(node, 0) {
            return opaque();
        }
        let mut known = Vec::new();
        for outcome in self.eval(node, node.span, &Condition::always()) {
            match outcome.value {
                Evaluated::Absent => known.push((outcome.when, String::new())),
                value => match value.text() {
                    Ok(text) => known.push((outcome.when, text)),
                    Err(_) => return opaque(),
                },
            }
        }
        Side::Known(known)
    }

    /// The parameter or pseudo parameter that `node` refers to, where it stands for one value.
    pub(super) fn variable_name(&self, node: &'t Node) -> Option<&'t str> {
        let [entry] = node.entries()? else { return None };
        let name = entry.value.as_str().filter(|_| &*entry.key == "Ref")?;
        let is_pseudo = name.starts_with("AWS::") && name != "AWS::NoValue" && self.pseudo_parameter(name).is_none();
        let is_parameter = self
            .parameter(name)
            .is_some_and(|parameter| !parameter.is_list() && !parameter.is_settled());
        (is_pseudo || is_parameter).then_some(name)
    }

    /// Whether the value of `node` changes with a parameter that may have any value.
    fn mentions_open_parameter(&self, node: &'t Node, depth: usize) -> bool {
        let is_open = |name: &str| {
            let parameter = self.parameter(name);
            parameter.is_some_and(Parameter::is_open)
        };
        if depth > MAX_DEPTH {
            return true;
        }
        match &node.value {
            Value::String(text) => text.match_indices("${").any(|(at, _)| {
                let name = text.get(at + 2..).and_then(|rest| rest.split('}').next());
                name.is_some_and(|name| is_open(name.trim()))
            }),
            Value::Sequence(items) => items.iter().any(|item| self.mentions_open_parameter(item, depth + 1)),
            Value::Mapping(entries) => entries.iter().any(|entry| match (&*entry.key, entry.value.as_str()) {
                ("Ref", Some(name)) => is_open(name),
                // Its keys are cases of their own.
                ("Fn::FindInMap", _) => false,
                _ => self.mentions_open_parameter(&entry.value, depth + 1),
            }),
            _ => false,
        }
    }
}

/// A text that is equal for equal expressions.
fn outline(node: &Node) -> String {
    fn write(node: &Node, depth: usize, text: &mut String) {
        if text.len() > 400 || depth > 16 {
            // Expressions this long are told apart by their place.
            let _ = write!(text, "…{}", node.span.start);
            return;
        }
        match &node.value {
            Value::Sequence(items) => {
                text.push('[');
                for (at, item) in items.iter().enumerate() {
                    text.push_str(if at > 0 { ", " } else { "" });
                    write(item, depth + 1, text);
                }
                text.push(']');
            }
            Value::Mapping(entries) => {
                for (at, entry) in entries.iter().enumerate() {
                    text.push_str(if at > 0 { ", " } else { "" });
                    let _ = write!(text, "{} ", entry.key);
                    write(&entry.value, depth + 1, text);
                }
            }
            _ => text.push_str(&scalar(node).unwrap_or_default()),
        }
    }
    let mut text = String::new();
    write(node, 0, &mut text);
    text.replace('|', "/")
}
