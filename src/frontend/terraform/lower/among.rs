//! The queues that an argument with an unknown value may refer to: those of the block that its text names.

use crate::graph::order::without_keys;
use std::sync::Arc;
use terraform::syntax::{Block, Step};
use terraform::value::ModulePath;

/// Returns the address of the block that the text of an argument refers to: `aws_sqs_queue.q` for
/// `aws_sqs_queue.q[…].id`.
pub(super) fn among(block: &Block, argument: &str, path: &ModulePath) -> Option<Arc<str>> {
    let url = block.body.attribute(argument)?;
    let (base, steps) = url.value.path()?;
    let named = match (base, steps.first()) {
        ("each", _) => {
            let collection = block.body.attribute("for_each")?;
            let (base, steps) = collection.value.path()?;
            declared(base, steps.first())?
        }
        (base, first) => declared(base, first)?,
    };
    Some(format!("{}{named}", without_keys(&path.to_string())).into())
}

fn declared(base: &str, first: Option<&Step>) -> Option<String> {
    match first {
        Some(Step::Attribute(name)) if matches!(base, "aws_sqs_queue" | "module") => Some(format!("{base}.{name}")),
        _ => None,
    }
}

pub(super) fn is_within(address: &str, among: &str) -> bool {
    let address = without_keys(address);
    let rest = address.strip_prefix(among);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instance_keys_in_addresses_are_ignored() {
        assert!(is_within("module.a[0].aws_sqs_queue.q", "module.a"));
        assert!(!is_within("module.ab.aws_sqs_queue.q", "module.a"));
    }
}
