//! Renders `Fn::ToJsonString` as text. Unresolved values stay placeholders in it.

use super::texts::joined;
use crate::eval::too_many;
use crate::limits::{BYTES_PER_STEP, MAX_TEXT};
use crate::template::Template;
use crate::value::{Combination, Evaluated, Outcome, Outcomes, Part, always, combine};
use conditions::{Condition, TooMany};
use source::Span;
use trees::{Node, Value};

impl<'t> Template<'t> {
    /// Renders `node` as JSON.
    pub(super) fn json_text(&self, node: &'t Node, at: Span, assumed: &Condition) -> Outcomes<'t> {
        let all = self.argument(node, at, assumed).and_then(|when, outcome| {
            let value = match outcome.value {
                Evaluated::Tree(tree) => return self.json_of_tree(tree, at, &assumed.and(when)),
                Evaluated::Text(parts) => Evaluated::Text(json_scalar(node, &parts)),
                Evaluated::Items(items) => Evaluated::Text(json_list(&items)),
                Evaluated::Absent if matches!(node.value, Value::Null) => Evaluated::literal("null"),
                other => other,
            };
            always(value, at)
        });
        all.unwrap_or_else(|TooMany| too_many(at))
    }

    fn json_of_tree(&self, tree: &'t Node, at: Span, assumed: &Condition) -> Outcomes<'t> {
        let (open, close) = if tree.entries().is_some() {
            ("{", "}")
        } else {
            ("[", "]")
        };
        let mut keys: Vec<String> = Vec::new();
        let mut values = Vec::new();
        for entry in tree.entries().unwrap_or_default() {
            keys.push(format!("{}:", quoted(&entry.key)));
            values.push(self.json_text(&entry.value, at, assumed));
        }
        for item in tree.items().unwrap_or_default() {
            keys.push(String::new());
            values.push(self.json_text(item, at, assumed));
        }
        let Ok(combinations) = combine(values, assumed) else {
            return too_many(at);
        };
        combinations.map(|Combination { values, origins }| {
            let length = values.iter().map(Evaluated::len).sum::<usize>();
            if length > MAX_TEXT || !self.spend(length / BYTES_PER_STEP) {
                return Outcome::new(self.too_long(at), at);
            }
            let written = keys
                .iter()
                .zip(values)
                .filter(|(_, value)| !matches!(value, Evaluated::Absent));
            let mut parts = vec![Part::Text(open.to_owned())];
            for (index, (key, value)) in written.enumerate() {
                let comma = if index > 0 { "," } else { "" };
                parts.push(Part::Text(format!("{comma}{key}")));
                parts.extend(value.into_parts());
            }
            parts.push(Part::Text(close.to_owned()));
            Outcome::with_origins(Evaluated::Text(joined(parts.into_iter())), at, origins)
        })
    }
}

fn json_list(items: &[Vec<Part>]) -> Vec<Part> {
    let mut pieces = vec![Part::Text("[".to_owned())];
    for (index, item) in items.iter().enumerate() {
        pieces.extend((index > 0).then(|| Part::Text(",".to_owned())));
        pieces.extend(json_string(item));
    }
    pieces.push(Part::Text("]".to_owned()));
    joined(pieces.into_iter())
}

/// Renders a scalar: numbers and booleans written in the template stay as they are; the result of a function is a
/// string.
fn json_scalar(node: &Node, parts: &[Part]) -> Vec<Part> {
    if matches!(node.value, Value::Bool(_) | Value::Integer(_) | Value::Float(_)) {
        return parts.to_vec();
    }
    json_string(parts)
}

fn json_string(parts: &[Part]) -> Vec<Part> {
    let mark = || Part::Text("\"".to_owned());
    let inner = parts.iter().map(|part| match part {
        Part::Text(text) => {
            let text = quoted(text);
            Part::Text(text.get(1..text.len().saturating_sub(1)).unwrap_or("").to_owned())
        }
        other => other.clone(),
    });
    joined(std::iter::once(mark()).chain(inner).chain([mark()]))
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
