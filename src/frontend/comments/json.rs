//! Finds suppressions in Terraform's JSON, which has no comments except entries with the key `//`, which Terraform
//! ignores in bodies. Such an entry covers the object that contains it; in the outermost object it covers the file.

use crate::suppress::{Content, Coverage, RawSuppression, directives};
use source::Span;
use trees::parsed::Repeating;
use trees::{Node, Value};

pub(super) const KEY: &str = "//";

/// Returns the suppressions of a `.tf.json` file.
pub(super) fn suppressions(parsed: &Repeating) -> Vec<RawSuppression> {
    let mut found = Vec::new();
    if let Some(root) = parsed.root() {
        visit(root, None, &mut found);
    }
    found
}

/// Searches `node`, which is the value of the entry at `owner` or a part of that value.
fn visit(node: &Node, owner: Option<Span>, found: &mut Vec<RawSuppression>) {
    match &node.value {
        Value::Mapping(entries) => {
            for entry in entries {
                if &*entry.key == KEY {
                    collect(&entry.value, owner, found);
                } else {
                    visit(&entry.value, Some(entry.span()), found);
                }
            }
        }
        // An array contains one block, or several; a comment in one of several covers only that one.
        Value::Sequence(items) => {
            let single = items.len() == 1;
            for item in items {
                visit(item, owner.filter(|_| single).or(Some(item.span)), found);
            }
        }
        _ => {}
    }
}

fn collect(value: &Node, owner: Option<Span>, found: &mut Vec<RawSuppression>) {
    for remark in value.items().unwrap_or(std::slice::from_ref(value)) {
        // The parser of directives expects a comment with its sign.
        let comment = format!("# {}", remark.as_str().unwrap_or(""));
        for (_, stated) in directives(&comment) {
            found.push(RawSuppression {
                span: remark.span,
                content: Content::Text(stated.to_owned()),
                covers: owner.map_or(Coverage::File, Coverage::Span),
                leading: owner.is_none(),
            });
        }
    }
}
