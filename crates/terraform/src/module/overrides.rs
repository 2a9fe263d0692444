//! Override files: merges a block of one into the block that it overrides. This module reads no files.

use crate::syntax::{Attribute, Block, Body, ExpressionKind, unread};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Merges a block of an override file into the block it overrides, attribute by attribute.
pub(crate) fn override_block(blocks: &mut [Arc<Block>], from: Arc<Block>) {
    if &*from.kind == "locals" {
        for attribute in &from.body.attributes {
            for block in blocks.iter_mut().filter(|block| &*block.kind == "locals") {
                if block.body.attribute(&attribute.name).is_some() {
                    override_body(&mut Arc::make_mut(block).body, &attributes_only(attribute));
                }
            }
        }
        return;
    }
    let base = blocks.iter_mut().find(|block| {
        block.kind == from.kind
            && block.labels == from.labels
            && (&*block.kind != "provider" || alias(block) == alias(&from))
    });
    if let Some(base) = base {
        override_body(&mut Arc::make_mut(base).body, &from.body);
    }
}

/// Returns the alias of a provider block, which is part of its name.
pub(crate) fn alias(block: &Block) -> Option<Arc<str>> {
    match &block.body.attribute("alias")?.value.kind {
        ExpressionKind::Text(text) => Some(text.clone()),
        _ => None,
    }
}

fn attributes_only(attribute: &Attribute) -> Body {
    Body {
        attributes: vec![attribute.clone()],
        ..Body::default()
    }
}

fn override_body(base: &mut Body, from: &Body) {
    for attribute in &from.attributes {
        base.attributes.retain(|old| old.name != attribute.name);
        base.attributes.push(attribute.clone());
    }
    if from.broken.is_some() {
        // The unreadable part may override any attribute of the block.
        let overridden = |name: &str| from.attributes.iter().any(|attribute| &*attribute.name == name);
        for attribute in base.attributes.iter_mut().filter(|known| !overridden(&known.name)) {
            attribute.value = Arc::new(unread(attribute.value.span));
        }
        base.broken.clone_from(&from.broken);
    }
    let kind_of = |block: &Block| match &*block.kind {
        "dynamic" => block.labels.first().cloned().unwrap_or_default(),
        _ => block.kind.clone(),
    };
    let replaced: BTreeSet<Arc<str>> = from.blocks.iter().map(|block| kind_of(block)).collect();
    base.blocks.retain(|old| !replaced.contains(&kind_of(old)));
    base.blocks.extend(from.blocks.iter().cloned());
}
