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
pub(crate) struct Document<'d> {
    #[serde(borrow, default)]
    pub(crate) format_version: Option<Cow<'d, str>>,
    /// Set in a plan.
    #[serde(borrow, default)]
    pub(crate) planned_values: Option<Values<'d>>,
    #[serde(borrow, default)]
    pub(crate) resource_changes: Option<Vec<Change<'d>>>,
    #[serde(borrow, default)]
    pub(crate) configuration: Option<Configuration<'d>>,
    #[serde(default)]
    pub(crate) errored: Option<bool>,
    /// Set in a state.
    #[serde(borrow, default)]
    pub(crate) values: Option<Values<'d>>,
    /// Set in a raw state file.
    #[serde(default)]
    pub(crate) version: Option<u64>,
    #[serde(borrow, default)]
    pub(crate) resources: Option<Vec<Stored<'d>>>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Values<'d> {
    #[serde(borrow, default)]
    pub(crate) root_module: Option<ValuesModule<'d>>,
}

/// The resources of one module instance.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct ValuesModule<'d> {
    #[serde(borrow, default)]
    pub(crate) address: Cow<'d, str>,
    #[serde(borrow, default)]
    pub(crate) resources: Vec<Planned<'d>>,
    #[serde(borrow, default)]
    pub(crate) child_modules: Vec<ValuesModule<'d>>,
}

/// An instance of a resource.
#[derive(Debug, Deserialize)]
pub(crate) struct Planned<'d> {
    #[serde(borrow)]
    pub(crate) address: &'d RawValue,
    #[serde(borrow)]
    pub(crate) mode: Cow<'d, str>,
    #[serde(borrow, rename = "type")]
    pub(crate) kind: Cow<'d, str>,
    #[serde(borrow)]
    pub(crate) name: &'d RawValue,
    #[serde(borrow, default)]
    pub(crate) values: Option<&'d RawValue>,
    #[serde(borrow, default)]
    pub(crate) sensitive_values: Option<&'d RawValue>,
}

/// The change of an instance.
#[derive(Debug, Deserialize)]
pub(crate) struct Change<'d> {
    #[serde(borrow)]
    pub(crate) address: &'d RawValue,
    #[serde(borrow)]
    pub(crate) mode: Cow<'d, str>,
    #[serde(default)]
    pub(crate) deposed: Option<IgnoredAny>,
    #[serde(borrow, rename = "change")]
    pub(crate) outcome: Outcome<'d>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Outcome<'d> {
    #[serde(borrow, default)]
    pub(crate) actions: Option<&'d RawValue>,
    /// Paths of the values whose change requires a replacement.
    #[serde(borrow, default)]
    pub(crate) replace_paths: Option<&'d RawValue>,
    /// Planned values; the known arguments of a data source that is read during apply.
    #[serde(borrow, default)]
    pub(crate) after: Option<&'d RawValue>,
    #[serde(borrow, default)]
    pub(crate) after_unknown: Option<&'d RawValue>,
    #[serde(borrow, default)]
    pub(crate) after_sensitive: Option<&'d RawValue>,
}

/// The configuration that the plan was made from.
#[derive(Debug, Deserialize)]
pub(crate) struct Configuration<'d> {
    /// Provider configurations, by the keys that resources refer to.
    #[serde(borrow, default)]
    pub(crate) provider_config: BTreeMap<Cow<'d, str>, Provider<'d>>,
    #[serde(borrow, default)]
    pub(crate) root_module: ConfigurationModule<'d>,
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct ConfigurationModule<'d> {
    #[serde(borrow, default)]
    pub(crate) resources: Vec<Configured<'d>>,
    #[serde(borrow, default)]
    pub(crate) module_calls: BTreeMap<Cow<'d, str>, Called<'d>>,
    #[serde(borrow, default)]
    pub(crate) outputs: BTreeMap<Cow<'d, str>, Output<'d>>,
}

/// A provider configuration.
#[derive(Debug, Deserialize)]
pub(crate) struct Provider<'d> {
    #[serde(borrow, default)]
    pub(crate) expressions: Option<&'d RawValue>,
}

/// A resource block.
#[derive(Debug, Deserialize)]
pub(crate) struct Configured<'d> {
    #[serde(borrow, default)]
    pub(crate) provider_config_key: Option<Cow<'d, str>>,
    #[serde(borrow)]
    pub(crate) mode: Cow<'d, str>,
    #[serde(borrow, rename = "type")]
    pub(crate) kind: Cow<'d, str>,
    #[serde(borrow)]
    pub(crate) name: Cow<'d, str>,
    #[serde(borrow, default)]
    pub(crate) expressions: Option<&'d RawValue>,
    #[serde(borrow, default)]
    pub(crate) for_each_expression: Option<Expression<'d>>,
}

/// A `module` block with the module.
#[derive(Debug, Deserialize)]
pub(crate) struct Called<'d> {
    #[serde(borrow, default)]
    pub(crate) expressions: BTreeMap<Cow<'d, str>, &'d RawValue>,
    #[serde(borrow, default)]
    pub(crate) for_each_expression: Option<Expression<'d>>,
    #[serde(borrow, default)]
    pub(crate) module: ConfigurationModule<'d>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Output<'d> {
    #[serde(borrow, default)]
    pub(crate) expression: Option<Expression<'d>>,
}

/// An expression, of which a plan contains only the names it refers to, in no order and without operators.
#[derive(Debug, Default, Clone, Deserialize)]
pub(crate) struct Expression<'d> {
    #[serde(borrow, default)]
    pub(crate) references: Vec<Cow<'d, str>>,
}

/// A resource in a raw state.
#[derive(Debug, Deserialize)]
pub(crate) struct Stored<'d> {
    #[serde(borrow, default)]
    pub(crate) module: Option<Cow<'d, str>>,
    #[serde(borrow)]
    pub(crate) mode: Cow<'d, str>,
    #[serde(borrow, rename = "type")]
    pub(crate) kind: Cow<'d, str>,
    #[serde(borrow)]
    pub(crate) name: &'d RawValue,
    #[serde(borrow, default)]
    pub(crate) instances: Vec<StoredInstance<'d>>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct StoredInstance<'d> {
    #[serde(borrow, default)]
    pub(crate) index_key: Option<&'d RawValue>,
    #[serde(default)]
    pub(crate) deposed: Option<IgnoredAny>,
    #[serde(borrow, default)]
    pub(crate) attributes: Option<&'d RawValue>,
    #[serde(borrow, default)]
    pub(crate) sensitive_attributes: Option<&'d RawValue>,
}

/// Returns the change of each instance by its address as written. Both lists write it in the same way, and most
/// addresses are never parsed.
pub(crate) fn changes<'a, 'd>(document: &'a Document<'d>) -> FxHashMap<&'a str, &'a Change<'d>> {
    let changes = document.resource_changes.iter().flatten();
    let current = changes.filter(|change| change.deposed.is_none());
    current.map(|change| (change.address.get(), change)).collect()
}
