//! The provider configurations of a plan as blocks with their constant arguments, from which resources receive their
//! Region and account.
//!
//! Expressions other than constants are unknown: they may contain variables. Credentials are never read.

use super::document::Configuration;
use crate::limits;
use crate::module::Module;
use crate::syntax::{Attribute, Block, Body, ExpressionKind};
use crate::value::Value;
use knowledge::Cause;
use serde_json::Value as Json;
use serde_json::value::RawValue;
use source::Span;
use std::sync::Arc;

/// Provider blocks, each with the name that [`choice`] refers to.
pub(crate) struct Providers(Vec<((Arc<str>, Option<Arc<str>>), Arc<Block>)>);

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

    /// Adds the provider blocks to `module`.
    pub(crate) fn declare(&self, module: &mut Module) {
        module.providers.extend(self.0.iter().cloned());
    }
}

/// Name used for all providers. The keys of a plan are unique across providers.
const ANY: &str = "provider";

/// Returns the argument by which a resource chooses the configuration with this key.
pub(crate) fn choice(key: &str, span: Span) -> Attribute {
    Attribute::known("provider", ExpressionKind::Text(format!("{ANY}.{key}").into()), span)
}

fn block(kind: &str, expressions: &Json, span: Span, depth: usize) -> Arc<Block> {
    let mut body = Body::default();
    for (name, expression) in expressions.as_object().into_iter().flatten() {
        match expression {
            Json::Array(blocks) if depth < limits::MAX_PROVIDER_BLOCK_DEPTH => {
                body.blocks
                    .extend(blocks.iter().map(|inner| block(name, inner, span, depth + 1)));
            }
            _ => body.attributes.push(Attribute::known(
                name.as_str(),
                ExpressionKind::Known(Box::new(constant(expression))),
                span,
            )),
        }
    }
    Arc::new(Block::unlabelled(kind, body, span))
}

/// Returns a string or a list of strings. No other value determines the Region or the account.
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
