//! Terraform's JSON spelling has no comments but entries called `//`, which Terraform passes over in bodies. One covers
//! the object that it is in; in the outermost one that is the file.

use super::super::parsed::Repeating;
use super::super::tree::{Node, Value};
use crate::source::Span;
use crate::suppress::{Content, Cover, Written, directives};

pub(super) const KEY: &str = "//";

/// The suppressions of a `.tf.json` file.
pub(super) fn suppressions(parsed: &Repeating) -> Vec<Written> {
    let mut found = Vec::new();
    if let Some(root) = parsed.root() {
        visit(root, None, &mut found);
    }
    found
}

/// Looks into `node`, which is the value of an entry, or of a part of it, at `owner`.
fn visit(node: &Node, owner: Option<Span>, found: &mut Vec<Written>) {
    match &node.value {
        Value::Mapping(entries) => {
            for entry in entries {
                if &*entry.key == KEY {
                    say(&entry.value, owner, found);
                } else {
                    visit(&entry.value, Some(entry.span()), found);
                }
            }
        }
        // An array holds one block, or several, of which one comment covers its own.
        Value::Sequence(items) => {
            let single = items.len() == 1;
            for item in items {
                visit(item, owner.filter(|_| single).or(Some(item.span)), found);
            }
        }
        _ => {}
    }
}

fn say(value: &Node, owner: Option<Span>, found: &mut Vec<Written>) {
    for remark in value.items().unwrap_or(std::slice::from_ref(value)) {
        // A sign before it makes a comment of a text.
        let comment = format!("# {}", remark.as_str().unwrap_or(""));
        for (_, said) in directives(&comment) {
            found.push(Written {
                span: remark.span,
                content: Content::Text(said.to_owned()),
                covers: owner.map_or(Cover::File, Cover::Place),
                leading: owner.is_none(),
            });
        }
    }
}
