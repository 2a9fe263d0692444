//! The arguments of a resource block as the configuration in a plan gives them.

use serde_json::Value;
use std::collections::BTreeMap;

/// By name.
pub(super) type Arguments = BTreeMap<String, Argument>;

/// One argument, or the nested blocks of one type.
#[derive(Debug)]
pub(super) enum Argument {
    Expression {
        /// Whether it is null or an empty text.
        empty: bool,
        references: Vec<String>,
    },
    Blocks(Vec<Arguments>),
}

impl Argument {
    /// The nested block at `at` of `count`. Of several in a set it is not said which is which, since sets are sorted; nor of
    /// what a dynamic block makes.
    pub(super) fn block(&self, at: usize, count: usize, is_list: bool) -> Option<&Arguments> {
        match self {
            Argument::Blocks(blocks) if is_list => blocks.get(at).filter(|_| blocks.len() == count),
            Argument::Blocks(blocks) if blocks.len() == 1 => blocks.first(),
            _ => None,
        }
    }

    fn new(value: &Value) -> Argument {
        match value {
            Value::Array(blocks) => Argument::Blocks(blocks.iter().map(arguments).collect()),
            Value::Object(fields) if fields.keys().any(|key| key != "constant_value" && key != "references") => {
                Argument::Blocks(vec![arguments(value)])
            }
            _ => {
                let constant = value.get("constant_value");
                let references = value.get("references").and_then(Value::as_array);
                let texts = references.into_iter().flatten().filter_map(Value::as_str);
                Argument::Expression {
                    empty: constant.is_some_and(|value| value.is_null() || value.as_str() == Some("")),
                    references: texts.map(str::to_owned).collect(),
                }
            }
        }
    }
}

/// What the text of `expressions` holds; `None` where it cannot be read.
pub(super) fn parse(text: &str) -> Option<Arguments> {
    let value: Value = serde_json::from_str(text).ok()?;
    value.is_object().then(|| arguments(&value))
}

fn arguments(value: &Value) -> Arguments {
    let fields = value.as_object().into_iter().flatten();
    fields
        .map(|(name, value)| (name.clone(), Argument::new(value)))
        .collect()
}
