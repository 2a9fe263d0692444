//! `terraform_remote_state`: the outputs of a state file in the project.
//!
//! The state of any other backend is unknown, and sensitive outputs are not read. `published.rs` names what it contains.

use super::Evaluator;
use crate::json;
use crate::value::{ResourceId, Value};
use knowledge::Cause;
use std::sync::Arc;

impl Evaluator<'_> {
    /// Returns `outputs` of the data source `id`.
    pub(crate) fn remote_outputs(&mut self, id: &Arc<ResourceId>) -> Value {
        let backend = self.configured(id, &"backend".into());
        let unknown = || {
            Value::unknown(Cause::Elsewhere.because(format!("the state of `{}` is not in the project", id.address())))
        };
        if backend.to_text().as_deref() != Some("local") {
            return unknown();
        }
        let config = self.configured(id, &"config".into());
        let path = config.get("path").and_then(Value::to_text);
        let path = path.unwrap_or_else(|| "terraform.tfstate".into());
        let bytes = match self.contents(&path, id.module) {
            Ok(bytes) => bytes,
            Err(refused) if refused.is_refused() => return unknown(),
            Err(refused) => return refused,
        };
        let state = String::from_utf8(bytes)
            .ok()
            .and_then(|text| json::decode(&Value::text(text)).ok());
        let outputs = state
            .as_ref()
            .and_then(|state| state.get("outputs")?.entries().cloned());
        let Some(outputs) = outputs else {
            return Value::unknown(Cause::NotRead.because(format!("`{path}` is not a state with outputs")));
        };
        let outputs = outputs.iter().map(|(name, output)| {
            let is_sensitive = output.get("sensitive").and_then(Value::to_bool) == Some(true);
            let value = match output.get("value") {
                Some(value) if !is_sensitive => value.clone(),
                _ => Value::unknown(Cause::Secret.because(format!("the output `{name}` is sensitive")))
                    .identified(|| Some(id.attribute("outputs").element(name, &format!(".{name}")))),
            };
            (name.clone(), value)
        });
        Value::map(outputs.collect())
    }
}
