//! The shape of `sqslint.toml`. Doc comments become the descriptions of its schema.

use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;

/// Settings of sqslint
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(title = "sqslint.toml"))]
pub(super) struct File {
    /// Another configuration to build on, relative to this file. What this file says wins; `ignore`, `exclude`,
    /// `[[override]]` and `[[consumer]]` add up.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub(super) extend: Option<Spanned<String>>,
    /// The versions of sqslint that may use this file, such as `>=0.1`.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub(super) required_version: Option<Spanned<String>>,
    /// From which severity on a finding fails a run.
    pub(super) fail_level: Option<Level>,
    /// Rules, categories or sets (`default`, `pedantic`, `all`) that run in place of the default set.
    #[cfg_attr(test, schemars(with = "Option<Vec<String>>"))]
    pub(super) select: Option<Vec<Spanned<String>>>,
    /// Rules, categories or sets that do not run.
    #[cfg_attr(test, schemars(with = "Vec<String>"))]
    pub(super) ignore: Vec<Spanned<String>>,
    /// Files and directories to pass over, as globs relative to this file.
    #[cfg_attr(test, schemars(with = "Vec<String>"))]
    pub(super) exclude: Vec<Spanned<String>>,
    /// Whether a suppression has to give a reason.
    pub(super) require_reason: Option<bool>,
    /// The baseline, relative to this file.
    pub(super) baseline: Option<String>,
    /// Settings of single rules.
    #[cfg_attr(test, schemars(with = "BTreeMap<String, BTreeMap<String, RuleValue>>"))]
    pub(super) rules: BTreeMap<Spanned<String>, BTreeMap<Spanned<String>, Spanned<toml::Value>>>,
    /// Rules that do not run in some places.
    #[serde(rename = "override")]
    pub(super) overrides: Vec<Override>,
    /// Whether a resource that a rule could not judge fails a run.
    pub(super) fail_on_unjudged: Option<bool>,
    /// Which environments are judged where no `[[environment]]` is declared: `found`, those that variable files, parameter
    /// files and SAM configurations name, or `default`, none but the default values.
    pub(super) environments: Option<Environments>,
    /// Values under which the files are judged. Each environment is judged, and a finding says in which it holds.
    #[serde(rename = "environment")]
    pub(super) declared_environments: Vec<Environment>,
    /// Consumers that no template links to their queue, and how long work takes.
    #[serde(rename = "consumer")]
    pub(super) consumers: Vec<Consumer>,
    /// Files with further policies, as globs relative to this file, below its directory.
    #[cfg_attr(test, schemars(with = "Vec<String>"))]
    pub(super) policies: Vec<Spanned<String>>,
    /// Rules of one's own: what every queue, function or mapping has to be like.
    #[serde(rename = "policy")]
    pub(super) own_policies: Vec<Policy>,
}

/// A file that holds policies and nothing else.
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
    /// What findings call it, in kebab-case; the name of no other rule.
    #[cfg_attr(
        test,
        schemars(with = "String"),
        schemars(regex(pattern = "^[a-z][a-z0-9]*(-[a-z0-9]+)*$"))
    )]
    pub(super) id: Spanned<String>,
    /// What it judges.
    #[serde(rename = "for")]
    pub(super) target: Target,
    /// Which of these it judges, in CEL; all of them without it.
    #[serde(rename = "where")]
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub(super) selects: Option<Spanned<String>>,
    /// What has to be true, in CEL.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub(super) require: Option<Spanned<String>>,
    /// What must not be true, in CEL.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub(super) forbid: Option<Spanned<String>>,
    /// What is wrong, behind the name of the resource.
    #[cfg_attr(test, schemars(with = "String"))]
    pub(super) message: Spanned<String>,
    /// The severity of its findings; `warning` without it.
    pub(super) severity: Option<PolicySeverity>,
    /// What to do.
    pub(super) help: Option<String>,
    /// Addresses of what says why.
    #[serde(default)]
    pub(super) references: Vec<String>,
    /// Snippets, each with the number of findings in it, for `sqslint policy test`.
    #[serde(default)]
    pub(super) tests: Vec<PolicyTest>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) enum Target {
    Queue,
    DeadLetterQueue,
    Function,
    Mapping,
    Alarm,
    Topic,
    Pipe,
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
    /// What it shows.
    pub(super) name: Option<String>,
    /// How many findings the policy has in it.
    pub(super) findings: usize,
    /// How many resources the policy cannot judge in it; 0 without it.
    #[serde(default)]
    pub(super) not_judged: usize,
    /// The text of a `main.tf`.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub(super) terraform: Option<Spanned<String>>,
    /// The text of a `template.yaml`, for CloudFormation or SAM.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub(super) template: Option<Spanned<String>>,
    /// Further files, by name.
    #[cfg_attr(test, schemars(with = "BTreeMap<String, String>"))]
    #[serde(default)]
    pub(super) files: BTreeMap<Spanned<String>, String>,
}

/// A value of a rule's setting, for the schema.
#[cfg(test)]
#[derive(schemars::JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "the schema is made from it")]
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
    /// Rules, categories or sets that do not run there.
    #[cfg_attr(test, schemars(with = "Vec<String>"))]
    pub(super) ignore: Vec<Spanned<String>>,
    /// Why.
    pub(super) reason: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Environment {
    /// What findings call it.
    #[cfg_attr(test, schemars(with = "String"))]
    pub(super) name: Spanned<String>,
    /// Terraform variable files, relative to this file; later ones win.
    #[serde(default)]
    pub(super) var_files: Vec<String>,
    /// `terraform.workspace`; `default` without it.
    pub(super) workspace: Option<String>,
    /// Values of template parameters, relative to this file.
    pub(super) parameters: Option<String>,
    /// `AWS::Region`, and the Region of providers that name none.
    pub(super) region: Option<String>,
    /// `AWS::AccountId`.
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
    /// Narrows it to functions that match; without it the consumer is a worker.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub(super) function: Option<Spanned<String>>,
    /// How long one message takes, with a unit: `12s`, `1.5m`.
    #[cfg_attr(test, schemars(with = "Processing"))]
    pub(super) processing: Option<Spanned<Processing>>,
    /// How a worker keeps its message hidden.
    pub(super) heartbeat: Option<Heartbeat>,
    /// How many messages of a batch a function works on at once.
    #[cfg_attr(test, schemars(with = "Option<u32>"), schemars(range(min = 1)))]
    pub(super) parallelism: Option<Spanned<u32>>,
    /// The day of the measurement.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub(super) measured: Option<Spanned<toml::Value>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Processing {
    /// Half of the messages take no longer.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub(super) p50: Option<Spanned<String>>,
    /// 99 of 100 messages take no longer.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub(super) p99: Option<Spanned<String>>,
    /// No message takes longer.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub(super) max: Option<Spanned<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Heartbeat {
    /// How often `ChangeMessageVisibility` is called.
    #[cfg_attr(test, schemars(with = "String"))]
    pub(super) every: Spanned<String>,
    /// The visibility timeout that each call sets.
    #[cfg_attr(test, schemars(with = "String"))]
    pub(super) extend_to: Spanned<String>,
}

#[cfg(test)]
mod tests {
    use super::File;
    use crate::rules::{self, RULES, Rule};
    use crate::selection;
    use serde_json::{Value, json};
    use std::sync::LazyLock;

    /// What an id of a policy looks like.
    const ID: &str = "^[a-z][a-z0-9]*(-[a-z0-9]+)*$";

    /// The names that a list of rules may hold where there are no policies, each with what it says.
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
        // Editors with Taplo show these beside the names that they offer.
        json!({ "enum": names, "x-taplo": { "docs": { "enumValues": summaries } } })
    }

    /// What holds where nothing can declare a policy: each name is one of ours. Where something can, ids of policies stand
    /// beside them, and the file alone does not say which there are.
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

    /// What may be said of one rule.
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

    /// The schema of the types, with the names that the types do not know.
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
    fn the_committed_schema_is_that_of_the_types() {
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

    /// What the schema says of a configuration.
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
    fn ids_of_policies_are_names_where_policies_can_be() {
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
    fn an_editor_sees_what_would_be_refused() {
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
