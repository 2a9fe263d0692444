//! Boolean variables for conditions that cannot be evaluated, with keys that are equal for equal expressions.
//!
//! ```text
//! Conditions:
//!   IsProd: !Equals [!GetAtt Settings.Environment, prod]
//!   IsToo: !Equals [prod, {Fn::GetAtt: [Settings, Environment]}]
//!   IsNot: !Equals [!GetAtt Settings.Size, prod]
//! ```
//!
//! The first two are one variable over `Settings.Environment`, the third is a different one. Expressions are compared
//! as parsed, with one spelling for each function, so neither their length nor the look of their texts makes two
//! expressions equal. Users see the expression on one line, cut if it is long.

use super::document::scalar;
use super::parameters::Parameter;
use super::template::Template;
use crate::limits;
use conditions::{ANY_OPERAND, Condition, Variable};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;
use trees::{Node, Value};

impl<'t> Template<'t> {
    /// Returns a condition for `node`, which cannot be evaluated.
    pub(crate) fn flag(&self, node: &'t Node) -> Condition {
        let key = format!("{}|{}", self.scope, self.identity(node));
        Condition::flag_of(key, shown(node), Some(self.operands(node)))
    }

    /// Returns `node` as a variable with an unresolved value.
    pub(crate) fn opaque(&self, node: &'t Node) -> Variable {
        Variable {
            name: shown(node).into(),
            operands: Some(self.operands(node)),
            ..self.variable(&self.identity(node))
        }
    }

    /// Returns the keys of the variables from which `node` is computed.
    fn operands(&self, node: &'t Node) -> Arc<[Arc<str>]> {
        let mut all = BTreeSet::new();
        if self.collect_operands(node, 0, &mut all).is_none() {
            all = BTreeSet::from([ANY_OPERAND.into()]);
        }
        all.into_iter().collect()
    }

    fn collect_operands(&self, node: &'t Node, depth: usize, all: &mut BTreeSet<Arc<str>>) -> Option<()> {
        if depth > limits::MAX_QUESTION_DEPTH || !self.may_step() {
            return None;
        }
        let operand = |name: &str| {
            let is_known =
                self.parameter(name).is_some_and(Parameter::has_argument) || self.pseudo_parameter(name).is_some();
            (!is_known).then(|| self.operand(name))
        };
        if let Some(items) = node.items() {
            return items
                .iter()
                .try_for_each(|item| self.collect_operands(item, depth + 1, all));
        }
        for entry in node.entries().into_iter().flatten() {
            let text = entry
                .value
                .items()
                .and_then(<[Node]>::first)
                .unwrap_or(&entry.value)
                .as_str();
            match (&*entry.key, text) {
                ("Ref" | "Fn::GetAtt", _) => all.extend(named(&entry.key, &entry.value).as_deref().and_then(operand)),
                ("Fn::Sub", Some(text)) => {
                    let names = text.split("${").skip(1).filter_map(|rest| rest.split_once('}'));
                    all.extend(names.filter_map(|(name, _)| operand(name.trim())));
                }
                ("Fn::ImportValue", Some(name)) => all.extend([self.variable_key(&format!("import {name}"))]),
                ("Fn::If" | "Condition", Some(name)) => {
                    let condition = self.conditions.get(name);
                    condition.map_or(Some(()), |node| self.collect_operands(node, depth + 1, all))?;
                }
                _ => {}
            }
            self.collect_operands(&entry.value, depth + 1, all)?;
        }
        Some(())
    }

    /// Returns a text that is equal for equal expressions only.
    fn identity(&self, node: &'t Node) -> String {
        let mut text = String::from("=");
        if self.identify(node, 0, &mut text).is_none() {
            // Too large to compare: it is equal only to itself.
            return format!("={:?}", node.span);
        }
        if text.len() <= limits::MAX_QUESTION_KEY {
            return text;
        }
        let digest = Sha256::digest(text.as_bytes());
        digest.iter().fold(String::from("=sha256:"), |mut key, byte| {
            let _ = write!(key, "{byte:02x}");
            key
        })
    }

    fn identify(&self, node: &'t Node, depth: usize, text: &mut String) -> Option<()> {
        if depth > limits::MAX_QUESTION_DEPTH || !self.may_step() {
            return None;
        }
        match &node.value {
            Value::Sequence(items) => {
                text.push('[');
                for item in items {
                    self.identify(item, depth + 1, text)?;
                    text.push(',');
                }
                text.push(']');
            }
            Value::Mapping(entries) => {
                if let [only] = &**entries
                    && let Some(name) = named(&only.key, &only.value)
                {
                    let _ = write!(text, "${name:?}");
                    return Some(());
                }
                let mut sorted: Vec<_> = entries.iter().collect();
                sorted.sort_by(|a, b| a.key.cmp(&b.key));
                text.push('{');
                for entry in sorted {
                    let _ = write!(text, "{:?}:", entry.key);
                    self.identify(&entry.value, depth + 1, text)?;
                    text.push(',');
                }
                text.push('}');
            }
            Value::Null => text.push_str("null"),
            Value::Bool(_) | Value::Integer(_) | Value::Float(_) | Value::String(_) => {
                let _ = write!(text, "{:?}", scalar(node).unwrap_or_default());
            }
        }
        Some(())
    }
}

/// Returns the name that `function` of `argument` refers to, such as `Env` or `Settings.Environment`, which `Fn::Sub`
/// can also spell.
fn named(function: &str, argument: &Node) -> Option<String> {
    match function {
        "Ref" => argument.as_str().map(str::to_owned),
        "Fn::GetAtt" => match argument.items() {
            Some(items) => {
                let names: Option<Vec<&str>> = items.iter().map(Node::as_str).collect();
                Some(names?.join("."))
            }
            None => argument.as_str().map(str::to_owned),
        },
        "Fn::Sub" => {
            let name = argument.as_str()?.strip_prefix("${")?.strip_suffix('}')?;
            let is_name = |c: char| c.is_ascii_alphanumeric() || "_.:".contains(c);
            name.chars().all(is_name).then(|| name.to_owned())
        }
        _ => None,
    }
}

/// Renders an expression on one line.
fn shown(node: &Node) -> String {
    fn write(node: &Node, depth: usize, text: &mut String) {
        if text.len() > limits::MAX_SHOWN_EXPRESSION || depth > limits::MAX_QUESTION_DEPTH {
            text.push_str(if text.ends_with('…') { "" } else { "…" });
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
    text
}
