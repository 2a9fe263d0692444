//! Nested blocks of a body, dynamic ones expanded.

use super::super::syntax::{Block, Body, Kind as Syntax};
use super::super::value::Value;
use super::{Evaluator, Scope};
use crate::conditions::{Case, Condition};
use crate::graph::{Cause, Reason};
use crate::source::Span;
use std::sync::Arc;

/// A nested block, or one that a dynamic block makes.
#[derive(Clone)]
pub(in super::super) struct Nested {
    pub(in super::super) block: Arc<Block>,
    pub(in super::super) scope: Scope,
    pub(in super::super) when: Condition,
    pub(in super::super) span: Span,
}

impl Evaluator<'_> {
    /// The nested blocks `name`, dynamic ones expanded; or why they are not known.
    pub(in super::super) fn blocks(&mut self, body: &Body, scope: &Scope, name: &str) -> Result<Vec<Nested>, Reason> {
        if body.broken.is_some() {
            return Err(Cause::NotRead.because("a part of the block cannot be read"));
        }
        let mut all = Vec::new();
        for block in &body.blocks {
            if &*block.kind == name {
                all.push(Nested {
                    block: block.clone(),
                    scope: scope.clone(),
                    when: Condition::always(),
                    span: block.span,
                });
            } else if &*block.kind == "dynamic" && block.labels.first().is_some_and(|label| &**label == name) {
                self.dynamic(block, scope, &mut all)?;
            }
        }
        Ok(all)
    }

    fn dynamic(&mut self, block: &Arc<Block>, scope: &Scope, all: &mut Vec<Nested>) -> Result<(), Reason> {
        let label = block.labels.first().cloned().unwrap_or_default();
        let content = block.body.blocks.iter().find(|block| &*block.kind == "content");
        let collection = block.body.attribute("for_each").cloned();
        let (Some(content), Some(collection)) = (content, collection) else {
            return Err(Cause::Invalid.because("a dynamic block is not complete"));
        };
        let collection = self.eval(&collection.value, scope);
        let iterator = match block.body.attribute("iterator").map(|attribute| &attribute.value.kind) {
            Some(Syntax::Variable(name)) => name.clone(),
            _ => label,
        };
        for Case { when, then: collection } in collection.each_case() {
            let pairs = match self.pairs(&collection) {
                Ok(pairs) => pairs,
                Err(_) if collection.is_null() => continue,
                Err(refused) => {
                    return Err(refused.as_unknown().map_or_else(
                        || Cause::Derived.because("the `for_each` of a dynamic block is not known"),
                        |unknown| unknown.reason.clone(),
                    ));
                }
            };
            for (key, value) in pairs {
                let item = Value::map(vec![("key".into(), key), ("value".into(), value)]);
                all.push(Nested {
                    block: content.clone(),
                    scope: scope.with(&iterator, item),
                    when: when.clone(),
                    span: block.span,
                });
            }
        }
        Ok(())
    }
}
