//! The formats of `terraform show -json` (of a plan and of a state) and of a raw state file, read in one pass.
//!
//! The contents of resources stay unparsed text, so that only the relevant resources of a large plan are ever parsed.
//! This module interprets nothing. <https://developer.hashicorp.com/terraform/internals/json-format>

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
    /// Set in a plan.
    #[serde(borrow, default)]
    pub(super) planned_values: Option<Values<'d>>,
    #[serde(borrow, default)]
    pub(super) resource_changes: Option<Vec<Change<'d>>>,
    #[serde(borrow, default)]
    pub(super) configuration: Option<Configuration<'d>>,
    #[serde(default)]
    pub(super) errored: Option<bool>,
    /// Set in a state.
    #[serde(borrow, default)]
    pub(super) values: Option<Values<'d>>,
    /// Set in a raw state file.
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

/// The resources of one module instance.
#[derive(Debug, Default, Deserialize)]
pub(super) struct ValuesModule<'d> {
    #[serde(borrow, default)]
    pub(super) address: Cow<'d, str>,
    #[serde(borrow, default)]
    pub(super) resources: Vec<Planned<'d>>,
    #[serde(borrow, default)]
    pub(super) child_modules: Vec<ValuesModule<'d>>,
}

/// An instance of a resource.
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

/// The change of an instance.
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
    /// Planned values; the known arguments of a data source that is read during apply.
    #[serde(borrow, default)]
    pub(super) after: Option<&'d RawValue>,
    #[serde(borrow, default)]
    pub(super) after_unknown: Option<&'d RawValue>,
    #[serde(borrow, default)]
    pub(super) after_sensitive: Option<&'d RawValue>,
}

/// The configuration that the plan was made from.
#[derive(Debug, Deserialize)]
pub(super) struct Configuration<'d> {
    /// Provider configurations, by the keys that resources refer to.
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

/// A `module` block with the module.
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

/// An expression, of which a plan contains only the names it refers to, in no order and without operators.
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

/// Returns the change of each instance by its address as written. Both lists write it in the same way, and most
/// addresses are never parsed.
pub(super) fn changes<'a, 'd>(document: &'a Document<'d>) -> FxHashMap<&'a str, &'a Change<'d>> {
    let changes = document.resource_changes.iter().flatten();
    let current = changes.filter(|change| change.deposed.is_none());
    current.map(|change| (change.address.get(), change)).collect()
}
