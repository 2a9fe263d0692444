//! Defines the shape of `sqslint.toml`. The doc comments become the descriptions in its JSON Schema.

use crate::policy::Target;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ops::Range;
use toml::Spanned;

/// Settings of sqslint
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(title = "sqslint.toml"))]
pub(super) struct File {
    /// Another configuration to extend, relative to this file. Settings in this file override it; `ignore`, `exclude`,
    /// `[[override]]`, `[[consumer]]`, `[[external]]` and `[[source]]` accumulate.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub(super) extend: Option<Spanned<String>>,
    /// Range of sqslint versions that may use this file, such as `>=0.1`.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub(super) required_version: Option<Spanned<String>>,
    /// Minimum severity of findings that fail a run.
    pub(super) fail_level: Option<Level>,
    /// Harms of findings that fail a run, instead of `fail-level`.
    pub(super) fail_on: Option<Vec<Harm>>,
    /// Rules, categories or sets (`default`, `pedantic`, `all`) that run instead of the default set.
    #[cfg_attr(test, schemars(with = "Option<Vec<String>>"))]
    pub(super) select: Option<Vec<Spanned<String>>>,
    /// Rules, categories or sets that do not run.
    #[cfg_attr(test, schemars(with = "Vec<String>"))]
    pub(super) ignore: Vec<Spanned<String>>,
    /// Files and directories to skip, as globs relative to this file.
    #[cfg_attr(test, schemars(with = "Vec<String>"))]
    pub(super) exclude: Vec<Spanned<String>>,
    /// Require a reason for every suppression.
    pub(super) require_reason: Option<bool>,
    /// The baseline, relative to this file.
    pub(super) baseline: Option<String>,
    /// Settings of individual rules.
    #[cfg_attr(test, schemars(with = "BTreeMap<String, BTreeMap<String, RuleValue>>"))]
    pub(super) rules: BTreeMap<Spanned<String>, BTreeMap<Spanned<String>, Spanned<toml::Value>>>,
    /// Rules that do not run for some files or resources.
    #[serde(rename = "override")]
    pub(super) overrides: Vec<Override>,
    /// Fail the run if a rule could not judge a resource.
    pub(super) fail_on_unjudged: Option<bool>,
    /// Environments to check if no `[[environment]]` is declared: `found` for those named by variable files, parameter
    /// files and SAM configurations, or `default` for the default values only.
    pub(super) environments: Option<Environments>,
    /// Inputs under which the files are checked. Every environment is checked, and a finding names those that it occurs
    /// in.
    #[serde(rename = "environment")]
    pub(super) declared_environments: Vec<Environment>,
    /// Consumers that no template links to their queue, and processing times.
    #[serde(rename = "consumer")]
    pub(super) consumers: Vec<Consumer>,
    /// Queues and Terraform modules that other files own.
    #[serde(rename = "external")]
    pub(super) externals: Vec<External>,
    /// Files with the source of functions.
    #[serde(rename = "source")]
    pub(super) sources: Vec<FunctionSource>,
    /// Files with further policies, as globs relative to this file and limited to its directory.
    #[cfg_attr(test, schemars(with = "Vec<String>"))]
    pub(super) policies: Vec<Spanned<String>>,
    /// Packs of policies, which `sqslint policy packs` lists.
    #[cfg_attr(test, schemars(with = "Vec<String>"))]
    pub(super) packs: Vec<Spanned<String>>,
    /// Custom rules: requirements for every queue, function or mapping.
    #[serde(rename = "policy")]
    pub(super) own_policies: Vec<Policy>,
}

/// A file that contains only policies.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct PolicyFile {
    #[serde(rename = "policy")]
    pub(super) policies: Vec<Policy>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Policy {
    /// Name in findings, in kebab-case; no other rule may have it.
    #[cfg_attr(
        test,
        schemars(with = "String"),
        schemars(regex(pattern = "^[a-z][a-z0-9]*(-[a-z0-9]+)*$"))
    )]
    pub(super) id: Spanned<String>,
    /// Kind of resource that the policy checks.
    #[serde(rename = "for")]
    pub(super) target: Target,
    /// Condition that selects the resources to check, in CEL; all of them by default.
    #[serde(rename = "where")]
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub(super) selects: Option<Spanned<String>>,
    /// Condition that must be true, in CEL.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub(super) require: Option<Spanned<String>>,
    /// Condition that must not be true, in CEL.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub(super) forbid: Option<Spanned<String>>,
    /// Description of the problem, which follows the name of the resource.
    #[cfg_attr(test, schemars(with = "String"))]
    pub(super) message: Spanned<String>,
    /// Severity of the findings; `warning` by default.
    pub(super) severity: Option<PolicySeverity>,
    /// Advice on how to resolve the finding.
    pub(super) help: Option<String>,
    /// URLs of pages that explain the policy.
    #[serde(default)]
    pub(super) references: Vec<String>,
    /// Snippets with the expected number of findings, for `sqslint policy test`.
    #[serde(default)]
    pub(super) tests: Vec<PolicyTest>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) enum PolicySeverity {
    Error,
    Warning,
    Info,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct PolicyTest {
    /// Name of the test.
    pub(super) name: Option<String>,
    /// Expected number of findings.
    pub(super) findings: usize,
    /// Expected number of resources that the policy cannot judge; 0 by default.
    #[serde(default)]
    pub(super) not_judged: usize,
    /// Text of a `main.tf`.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub(super) terraform: Option<Spanned<String>>,
    /// Text of a `template.yaml`, for CloudFormation or SAM.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub(super) template: Option<Spanned<String>>,
    /// Further files, by name.
    #[cfg_attr(test, schemars(with = "BTreeMap<String, String>"))]
    #[serde(default)]
    pub(super) files: BTreeMap<Spanned<String>, String>,
}

/// Value of a rule's setting, for the schema.
#[cfg(test)]
#[derive(schemars::JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "the schema is generated from it")]
pub(super) enum RuleValue {
    Text(String),
    Number(i64),
    Flag(bool),
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) enum Level {
    Error,
    Warning,
    Info,
    Never,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) enum Harm {
    Loss,
    Duplicates,
    Stuck,
}

impl From<Harm> for crate::diagnostic::Harm {
    fn from(harm: Harm) -> Self {
        match harm {
            Harm::Loss => Self::Loss,
            Harm::Duplicates => Self::Duplicates,
            Harm::Stuck => Self::Stuck,
        }
    }
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) enum Environments {
    Found,
    Default,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Override {
    /// Files, as globs relative to this file.
    #[cfg_attr(test, schemars(with = "Option<Vec<String>>"))]
    pub(super) paths: Option<Vec<Spanned<String>>>,
    /// Addresses of resources, as globs.
    #[cfg_attr(test, schemars(with = "Option<Vec<String>>"))]
    pub(super) resources: Option<Vec<Spanned<String>>>,
    /// Rules, categories or sets to ignore.
    #[cfg_attr(test, schemars(with = "Vec<String>"))]
    pub(super) ignore: Vec<Spanned<String>>,
    /// Reason for ignoring them.
    pub(super) reason: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Environment {
    /// Name in findings.
    #[cfg_attr(test, schemars(with = "String"))]
    pub(super) name: Spanned<String>,
    /// Terraform variable files, relative to this file; later ones take precedence.
    #[serde(default)]
    pub(super) var_files: Vec<String>,
    /// Value of `terraform.workspace`; `default` by default.
    pub(super) workspace: Option<String>,
    /// File with values of template parameters, relative to this file.
    pub(super) parameters: Option<String>,
    /// Value of `AWS::Region`, and the Region of providers that do not set one.
    pub(super) region: Option<String>,
    /// Value of `AWS::AccountId`.
    #[cfg_attr(test, schemars(with = "Option<String>"), schemars(regex(pattern = "^[0-9]{12}$")))]
    pub(super) account: Option<Spanned<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Consumer {
    /// Address, logical id or name of the queue, or a glob of these.
    #[cfg_attr(test, schemars(with = "String"))]
    pub(super) queue: Spanned<String>,
    /// Functions that the declaration is limited to; without it, the consumer is a worker.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub(super) function: Option<Spanned<String>>,
    /// Processing time of a message, with a unit: `12s`, `1.5m`.
    #[cfg_attr(test, schemars(with = "Processing"))]
    pub(super) processing: Option<Spanned<Processing>>,
    /// Renewal of the visibility timeout by a worker.
    pub(super) heartbeat: Option<Heartbeat>,
    /// Number of messages of a batch that a function processes at once.
    #[cfg_attr(test, schemars(with = "Option<u32>"), schemars(range(min = 1)))]
    pub(super) parallelism: Option<Spanned<u32>>,
    /// Date of the measurement.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub(super) measured: Option<Spanned<toml::Value>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Processing {
    /// Median processing time.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub(super) p50: Option<Spanned<String>>,
    /// 99th percentile of the processing time.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub(super) p99: Option<Spanned<String>>,
    /// Maximum processing time.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub(super) max: Option<Spanned<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Heartbeat {
    /// Interval between calls of `ChangeMessageVisibility`.
    #[cfg_attr(test, schemars(with = "String"))]
    pub(super) every: Spanned<String>,
    /// Visibility timeout that each call sets.
    #[cfg_attr(test, schemars(with = "String"))]
    pub(super) extend_to: Spanned<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct External {
    /// ARN or name of a queue that no file declares, or a glob of these.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub(super) queue: Option<Spanned<String>>,
    /// Source of a Terraform module that is not read, as its call writes it, or a glob.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub(super) module: Option<Spanned<String>>,
    /// Local directory that contains the module, relative to this file.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub(super) path: Option<Spanned<String>>,
    /// Visibility timeout of the queue, with a unit: `30s`.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub(super) visibility_timeout: Option<Spanned<String>>,
    /// Retention period of the queue, with a unit: `4d`.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub(super) retention: Option<Spanned<String>>,
    /// `true` for a FIFO queue; by default its name decides.
    #[cfg_attr(test, schemars(with = "Option<bool>"))]
    pub(super) fifo: Option<Spanned<bool>>,
    /// ARN or name of the queue's dead-letter queue; `true` if it has one, `false` if it has none.
    #[cfg_attr(test, schemars(with = "Option<DeadLetter>"))]
    pub(super) dead_letter: Option<Spanned<toml::Value>>,
    /// Owner of the queue or module; required without `path`.
    pub(super) reason: Option<String>,
}

impl External {
    /// Returns the span of its name.
    pub(super) fn span(&self) -> Range<usize> {
        let name = self.queue.as_ref().or(self.module.as_ref()).or(self.path.as_ref());
        name.map_or(0..0, Spanned::span)
    }

    /// Returns `true` if it states an attribute of a queue.
    pub(super) fn states_queue(&self) -> bool {
        let times = self.visibility_timeout.is_some() || self.retention.is_some();
        times || self.fifo.is_some() || self.dead_letter.is_some()
    }
}

#[cfg(test)]
#[derive(schemars::JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum DeadLetter {
    Exists(bool),
    Name(String),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct FunctionSource {
    /// Address, logical id or name of the function, or a glob of these.
    #[cfg_attr(test, schemars(with = "String"))]
    pub(super) function: Spanned<String>,
    /// File or directory with its source, relative to this file.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub(super) path: Option<Spanned<String>>,
    /// `true` if the source is in another repository.
    pub(super) elsewhere: Option<bool>,
    /// Location of the source, if it is elsewhere.
    pub(super) reason: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::File;
    use crate::rules::{self, RULES, Rule};
    use crate::selection;
    use serde_json::{Value, json};
    use std::sync::LazyLock;

    /// Pattern of policy ids.
    const ID: &str = "^[a-z][a-z0-9]*(-[a-z0-9]+)*$";

    /// Returns the names that a list of rules may contain without policies, each with its description.
    fn names() -> Value {
        let rules = RULES.iter().map(|rule| (rule.id, rule.summary.to_owned()));
        let categories = selection::categories().map(|name| (name, "All rules of this category.".to_owned()));
        let sets = [
            ("default", "The rules that run unless something else is said."),
            ("pedantic", "The rules that run when asked for."),
            ("all", "All rules."),
        ];
        let sets = sets.map(|(name, summary)| (name, summary.to_owned()));
        let (names, summaries): (Vec<_>, Vec<_>) = rules.chain(categories).chain(sets).unzip();
        // Editors that use Taplo show the descriptions next to the completions.
        json!({ "enum": names, "x-taplo": { "docs": { "enumValues": summaries } } })
    }

    /// Returns the schema for files that cannot declare policies, in which each name must be a built-in one. In other
    /// files, names may also be policy ids, which the file alone does not determine.
    fn without_policies() -> Value {
        let ours = json!({ "items": { "$ref": "#/$defs/Name" } });
        let declares = ["policy", "policies", "extend"].map(|key| json!({ "required": [key] }));
        json!({
            "if": { "not": { "anyOf": declares } },
            "then": {
                "properties": {
                    "select": ours,
                    "ignore": ours,
                    "override": { "items": { "properties": { "ignore": ours } } },
                    "rules": { "propertyNames": { "enum": RULES.iter().map(|rule| rule.id).collect::<Vec<_>>() } },
                },
            },
        })
    }

    /// Returns the schema of one rule's settings.
    fn settings(rule: &Rule, common: &Value) -> Value {
        let mut properties = common.clone();
        for setting in rule.settings {
            let mut schema = match setting.default {
                rules::Value::Number { value, least } => {
                    json!({ "type": "integer", "minimum": least, "default": value })
                }
                rules::Value::Flag(flag) => json!({ "type": "boolean", "default": flag }),
            };
            schema["description"] = setting.summary.into();
            properties[setting.name] = schema;
        }
        json!({
            "type": "object",
            "description": rule.summary,
            "additionalProperties": false,
            "properties": properties,
        })
    }

    /// Returns the schema of the types, extended by the names that the types do not know.
    fn schema() -> Value {
        let mut schema = serde_json::to_value(schemars::schema_for!(File)).expect("a schema is JSON");
        let name = json!({ "anyOf": [{ "$ref": "#/$defs/Name" }, { "$ref": "#/$defs/PolicyId" }] });
        let common = json!({
            "severity": { "$ref": "#/$defs/Severity" },
            "suppressible": { "$ref": "#/$defs/Suppressible" },
        });
        let properties = &mut schema["properties"];
        properties["select"]["items"] = name.clone();
        properties["ignore"]["items"] = name.clone();
        let rules = RULES.iter().map(|rule| (rule.id.to_owned(), settings(rule, &common)));
        properties["rules"]["properties"] = Value::Object(rules.collect());
        properties["rules"]["propertyNames"] = json!({ "pattern": ID });
        properties["rules"]["additionalProperties"] = json!({
            "type": "object",
            "description": "A policy.",
            "additionalProperties": false,
            "properties": common,
        });
        let shared = &mut schema["$defs"];
        shared["Name"] = names();
        shared["PolicyId"] = json!({ "type": "string", "pattern": ID, "description": "The id of a policy." });
        shared["Severity"] =
            json!({ "enum": ["error", "warning", "info"], "description": "The severity of all its findings." });
        shared["Suppressible"] =
            json!({ "type": "boolean", "description": "Whether comments can silence it.", "default": true });
        let overrides = &mut shared["Override"];
        overrides["properties"]["ignore"]["items"] = name;
        overrides["anyOf"] = json!([{ "required": ["paths"] }, { "required": ["resources"] }]);
        schema["allOf"] = json!([without_policies()]);
        schema
    }

    #[test]
    fn committed_schema_matches_the_types() {
        let text = serde_json::to_string_pretty(&schema()).expect("a schema is JSON") + "\n";
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("sqslint.schema.json");
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&path, &text).expect("the schema is writable");
        }
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            committed == text,
            "sqslint.schema.json is stale: run the tests with UPDATE=1"
        );
    }

    /// Returns `true` if the schema accepts a configuration.
    fn is_valid(text: &str) -> bool {
        static COMPILED: LazyLock<(boon::Schemas, boon::SchemaIndex)> = LazyLock::new(|| {
            let mut schemas = boon::Schemas::new();
            let mut compiler = boon::Compiler::new();
            compiler.add_resource("schema.json", schema()).expect("it is a schema");
            let index = compiler.compile("schema.json", &mut schemas).expect("it is a schema");
            (schemas, index)
        });
        let (schemas, index) = &*COMPILED;
        let value: toml::Value = toml::from_str(text).expect("it is TOML");
        let value = serde_json::to_value(value).expect("it is a tree");
        schemas.validate(&value, *index).is_ok()
    }

    #[test]
    fn policy_ids_are_accepted_if_policies_can_be_declared() {
        let inline = "[[policy]]\nid = \"no-delay\"\nfor = \"queue\"\nforbid = 'queue.delay > duration(\"0s\")'\nmessage = \"delays\"\n";
        let uses = [
            "select = [\"all\", \"no-delay\"]\n",
            "ignore = [\"no-delay\"]\n",
            "[[override]]\npaths = [\"a\"]\nignore = [\"no-delay\"]\n",
            "[rules.no-delay]\nseverity = \"info\"\nsuppressible = false\n",
        ];
        let declares = ["policies = [\"policies/*.toml\"]\n", "extend = \"../sqslint.toml\"\n"];
        for text in uses {
            assert!(!is_valid(text), "{text}");
            for declares in declares {
                assert!(is_valid(&format!("{declares}{text}")), "{declares}{text}");
            }
            assert!(is_valid(&format!("{text}{inline}")), "{text}");
        }
        for wrong in [
            "ignore = [\"No Delay\"]\n",
            "[rules.No-Delay]\nseverity = \"info\"\n",
            "[rules.no-delay]\nfactor = 3\n",
            "[rules.redrive-policy-missing]\nfactor = 3\n",
            "[rules.visibility-timeout-too-short]\nfactor = 0\n",
        ] {
            assert!(!is_valid(&format!("{wrong}{inline}")), "{wrong}");
        }
    }

    #[test]
    fn schema_rejects_invalid_configurations() {
        for text in [
            "ignore = [\"fifo\", \"redrive-policy-missing\"]\nselect = [\"all\"]",
            "[rules.visibility-timeout-too-short]\nfactor = 3\ncount-window = false\nseverity = \"info\"",
            "[[override]]\npaths = [\"a\"]\nignore = [\"redrive\"]",
            "[[environment]]\nname = \"prod\"\naccount = \"123456789012\"",
        ] {
            assert!(is_valid(text), "{text}");
        }
        for text in [
            "ignor = []",
            "ignore = [\"redrive-policy-mising\"]",
            "[rules.visibility-timeout-to-short]\nfactor = 3",
            "[rules.visibility-timeout-too-short]\nfacter = 3",
            "[rules.visibility-timeout-too-short]\nfactor = 0",
            "[rules.redrive-policy-missing]\nfactor = 3",
            "[rules.redrive-policy-missing]\nseverity = \"fatal\"",
            "[[override]]\nignore = [\"redrive\"]",
            "[[environment]]\nname = \"prod\"\naccount = \"1234\"",
        ] {
            assert!(!is_valid(text), "{text}");
        }
    }
}
