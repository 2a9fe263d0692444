//! Questions: what a condition asks that nobody knows here, and by what it is told from others.
//!
//! ```text
//! Conditions:
//!   IsProd: !Equals [!GetAtt Settings.Environment, prod]
//!   IsToo: !Equals [prod, {Fn::GetAtt: [Settings, Environment]}]
//!   IsNot: !Equals [!GetAtt Settings.Size, prod]
//! ```
//!
//! The first two are one question about `Settings.Environment`, the third is another. An expression is compared as it
//! was parsed, with one spelling for each function; so neither its length nor what its texts look like makes two
//! expressions one. What users read is a line of it, cut where it gets long.

use super::sections::scalar;
use super::template::Template;
use crate::conditions::{Condition, Variable};
use crate::frontend::tree::{Node, Value};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// Longer expressions are compared by a digest.
const MAX_KEY: usize = 200;
/// So much of an expression is shown.
const MAX_SHOWN: usize = 200;
/// So deep.
const MAX_DEPTH: usize = 64;

impl<'t> Template<'t> {
    /// The condition that `node`, which is not understood, is true.
    pub(super) fn flag(&self, node: &'t Node) -> Condition {
        Condition::flag(format!("{}|{}", self.unit, self.identity(node)), shown(node))
    }

    /// `node` as a variable, whose value is not known.
    pub(super) fn opaque(&self, node: &'t Node) -> Variable {
        Variable {
            name: shown(node).into(),
            ..self.variable(&self.identity(node))
        }
    }

    /// A text that is equal for equal expressions, and for no others.
    fn identity(&self, node: &'t Node) -> String {
        let mut text = String::from("=");
        if self.identify(node, 0, &mut text).is_none() {
            // Too large to compare: it is what it is where it stands.
            return format!("={:?}", node.span);
        }
        if text.len() <= MAX_KEY {
            return text;
        }
        let digest = Sha256::digest(text.as_bytes());
        digest.iter().fold(String::from("=sha256:"), |mut key, byte| {
            let _ = write!(key, "{byte:02x}");
            key
        })
    }

    fn identify(&self, node: &'t Node, depth: usize, text: &mut String) -> Option<()> {
        if depth > MAX_DEPTH || !self.may_step() {
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

/// The name that the function `function` of `argument` stands for: `Env` and `Settings.Environment`, as `Fn::Sub` writes
/// them too.
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

/// An expression on one line.
fn shown(node: &Node) -> String {
    fn write(node: &Node, depth: usize, text: &mut String) {
        if text.len() > MAX_SHOWN || depth > MAX_DEPTH {
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
