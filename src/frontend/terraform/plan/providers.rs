//! The provider configurations of a plan, as blocks: what of them Terraform wrote down as constants, which is how a
//! resource gets its Region and its account.
//!
//! An expression that is no constant is not known: variables may hold anything, and credentials are never looked at.

use super::super::module::Module;
use super::super::syntax::{Attribute, Block, Body, Expression, Kind as Syntax};
use super::super::value::Value;
use super::document::Configuration;
use crate::graph::Cause;
use crate::source::Span;
use serde_json::Value as Json;
use serde_json::value::RawValue;
use std::sync::Arc;

/// Blocks are followed so deep.
const MAX_DEPTH: usize = 8;

/// Each with the name that [`choice`] gives it.
pub(super) struct Providers(Vec<((Arc<str>, Option<Arc<str>>), Arc<Block>)>);

impl Providers {
    pub(super) fn new(configuration: Option<&Configuration<'_>>, span: Span) -> Providers {
        let all = configuration
            .into_iter()
            .flat_map(|configuration| &configuration.provider_config);
        let blocks = all.map(|(key, provider)| {
            let text = provider.expressions.map_or("{}", RawValue::get);
            let expressions = serde_json::from_str(text).unwrap_or_default();
            let block = block("provider", &expressions, span, 0);
            ((ANY.into(), Some(Arc::from(&**key))), block)
        });
        Providers(blocks.collect())
    }

    /// Makes them known in `module`, as those of a module are.
    pub(super) fn declare(&self, module: &mut Module) {
        module.providers.extend(self.0.iter().cloned());
    }
}

/// What stands for every provider: a plan has a key for each configuration, whoever's it is.
const ANY: &str = "provider";

/// The argument by which a resource chooses the configuration with this key.
pub(super) fn choice(key: &str, span: Span) -> Attribute {
    Attribute {
        name: "provider".into(),
        value: Arc::new(Expression {
            kind: Syntax::Text(format!("{ANY}.{key}").into()),
            span,
        }),
        span,
    }
}

fn block(kind: &str, expressions: &Json, span: Span, depth: usize) -> Arc<Block> {
    let mut body = Body::default();
    for (name, expression) in expressions.as_object().into_iter().flatten() {
        match expression {
            Json::Array(blocks) if depth < MAX_DEPTH => {
                body.blocks
                    .extend(blocks.iter().map(|inner| block(name, inner, span, depth + 1)));
            }
            _ => body.attributes.push(Attribute {
                name: name.as_str().into(),
                value: Arc::new(Expression {
                    kind: Syntax::Known(Box::new(constant(expression))),
                    span,
                }),
                span,
            }),
        }
    }
    Arc::new(Block {
        kind: kind.into(),
        labels: Vec::new(),
        body,
        header: span,
        span,
    })
}

/// A text or a list of texts; anything else decides neither Region nor account.
fn constant(expression: &Json) -> Value {
    let unknown = || Value::unknown(Cause::Unsupported.because("a plan does not hold what a provider block says here"));
    match expression.get("constant_value") {
        Some(Json::String(text)) => Value::text(text.as_str()),
        Some(Json::Array(items)) => {
            let items = items.iter().map(|item| item.as_str().map_or_else(unknown, Value::text));
            Value::list(items.collect())
        }
        _ => unknown(),
    }
}
