//! The shapes of `terraform show -json` (of a plan and of a state) and of a raw state file, read in one pass.
//!
//! What a resource is made of stays text, so that of a large plan only the resources that matter are ever taken
//! apart. Nothing is looked up or judged here.
//! <https://developer.hashicorp.com/terraform/internals/json-format>

use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Any of the three documents.
#[derive(Debug, Deserialize)]
pub(super) struct Document<'d> {
    #[serde(borrow, default)]
    pub(super) format_version: Option<Cow<'d, str>>,
    /// Of a plan.
    #[serde(borrow, default)]
    pub(super) planned_values: Option<Values<'d>>,
    #[serde(borrow, default)]
    pub(super) resource_changes: Option<Vec<Change<'d>>>,
    #[serde(borrow, default)]
    pub(super) configuration: Option<Configuration<'d>>,
    #[serde(default)]
    pub(super) errored: Option<bool>,
    /// Of a state.
    #[serde(borrow, default)]
    pub(super) values: Option<Values<'d>>,
    /// Of a raw state.
    #[serde(default)]
    pub(super) version: Option<u64>,
    #[serde(borrow, default)]
    pub(super) resources: Option<Vec<Stored<'d>>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Values<'d> {
    #[serde(borrow, default)]
    pub(super) root_module: Option<ValuesModule<'d>>,
}

/// The resources of one instance of a module.
#[derive(Debug, Default, Deserialize)]
pub(super) struct ValuesModule<'d> {
    #[serde(borrow, default)]
    pub(super) address: Cow<'d, str>,
    #[serde(borrow, default)]
    pub(super) resources: Vec<Planned<'d>>,
    #[serde(borrow, default)]
    pub(super) child_modules: Vec<ValuesModule<'d>>,
}

/// One instance of a resource.
#[derive(Debug, Deserialize)]
pub(super) struct Planned<'d> {
    #[serde(borrow)]
    pub(super) address: &'d RawValue,
    #[serde(borrow)]
    pub(super) mode: Cow<'d, str>,
    #[serde(borrow, rename = "type")]
    pub(super) kind: Cow<'d, str>,
    #[serde(borrow)]
    pub(super) name: &'d RawValue,
    #[serde(borrow, default)]
    pub(super) values: Option<&'d RawValue>,
    #[serde(borrow, default)]
    pub(super) sensitive_values: Option<&'d RawValue>,
}

/// What happens to one instance.
#[derive(Debug, Deserialize)]
pub(super) struct Change<'d> {
    #[serde(borrow)]
    pub(super) address: &'d RawValue,
    #[serde(borrow)]
    pub(super) mode: Cow<'d, str>,
    #[serde(default)]
    pub(super) deposed: Option<IgnoredAny>,
    #[serde(borrow, rename = "change")]
    pub(super) outcome: Outcome<'d>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Outcome<'d> {
    /// Of a data source that is read during apply: what is known of it.
    #[serde(borrow, default)]
    pub(super) after: Option<&'d RawValue>,
    #[serde(borrow, default)]
    pub(super) after_unknown: Option<&'d RawValue>,
    #[serde(borrow, default)]
    pub(super) after_sensitive: Option<&'d RawValue>,
}

/// The configuration that was planned.
#[derive(Debug, Deserialize)]
pub(super) struct Configuration<'d> {
    /// By the keys that resources name.
    #[serde(borrow, default)]
    pub(super) provider_config: BTreeMap<Cow<'d, str>, Provider<'d>>,
    #[serde(borrow, default)]
    pub(super) root_module: ConfigurationModule<'d>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct ConfigurationModule<'d> {
    #[serde(borrow, default)]
    pub(super) resources: Vec<Configured<'d>>,
    #[serde(borrow, default)]
    pub(super) module_calls: BTreeMap<Cow<'d, str>, Called<'d>>,
    #[serde(borrow, default)]
    pub(super) outputs: BTreeMap<Cow<'d, str>, Output<'d>>,
}

/// A provider configuration.
#[derive(Debug, Deserialize)]
pub(super) struct Provider<'d> {
    #[serde(borrow, default)]
    pub(super) expressions: Option<&'d RawValue>,
}

/// A resource block.
#[derive(Debug, Deserialize)]
pub(super) struct Configured<'d> {
    #[serde(borrow, default)]
    pub(super) provider_config_key: Option<Cow<'d, str>>,
    #[serde(borrow)]
    pub(super) mode: Cow<'d, str>,
    #[serde(borrow, rename = "type")]
    pub(super) kind: Cow<'d, str>,
    #[serde(borrow)]
    pub(super) name: Cow<'d, str>,
    #[serde(borrow, default)]
    pub(super) expressions: Option<&'d RawValue>,
    #[serde(borrow, default)]
    pub(super) for_each_expression: Option<Expression<'d>>,
}

/// A `module` block and the module.
#[derive(Debug, Deserialize)]
pub(super) struct Called<'d> {
    #[serde(borrow, default)]
    pub(super) expressions: BTreeMap<Cow<'d, str>, &'d RawValue>,
    #[serde(borrow, default)]
    pub(super) for_each_expression: Option<Expression<'d>>,
    #[serde(borrow, default)]
    pub(super) module: ConfigurationModule<'d>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Output<'d> {
    #[serde(borrow, default)]
    pub(super) expression: Option<Expression<'d>>,
}

/// All that a plan says of an expression: what it names, in no order and without its operators.
#[derive(Debug, Default, Clone, Deserialize)]
pub(super) struct Expression<'d> {
    #[serde(borrow, default)]
    pub(super) references: Vec<Cow<'d, str>>,
}

/// A resource in a raw state.
#[derive(Debug, Deserialize)]
pub(super) struct Stored<'d> {
    #[serde(borrow, default)]
    pub(super) module: Option<Cow<'d, str>>,
    #[serde(borrow)]
    pub(super) mode: Cow<'d, str>,
    #[serde(borrow, rename = "type")]
    pub(super) kind: Cow<'d, str>,
    #[serde(borrow)]
    pub(super) name: &'d RawValue,
    #[serde(borrow, default)]
    pub(super) instances: Vec<StoredInstance<'d>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct StoredInstance<'d> {
    #[serde(borrow, default)]
    pub(super) index_key: Option<&'d RawValue>,
    #[serde(default)]
    pub(super) deposed: Option<IgnoredAny>,
    #[serde(borrow, default)]
    pub(super) attributes: Option<&'d RawValue>,
    #[serde(borrow, default)]
    pub(super) sensitive_attributes: Option<&'d RawValue>,
}

/// What `change` says of each instance, by its address as it is written: both lists spell it alike, and most of it
/// is never looked at.
pub(super) fn changes<'a, 'd>(document: &'a Document<'d>) -> FxHashMap<&'a str, &'a Change<'d>> {
    let changes = document.resource_changes.iter().flatten();
    let current = changes.filter(|change| change.deposed.is_none());
    current.map(|change| (change.address.get(), change)).collect()
}
