//! Values that other units publish: parameters, secrets, outputs of stacks and of Terraform's states.
//!
//! ```text
//! data "aws_ssm_parameter" "q" { name = "/orders/arn" }
//! data "terraform_remote_state" "n" {
//!   backend = "s3"
//!   config  = { bucket = "states", key = "network.tfstate", region = "eu-west-1" }
//! }
//! ```
//!
//! `data.aws_ssm_parameter.q.value` is unknown here, but it is the parameter `/orders/arn`, whichever unit writes it, and
//! `data.terraform_remote_state.n.outputs.arn` is the output `s3/states/network.tfstate#arn`. [`Evaluator::own_state`]
//! returns the first part of that name for the unit whose `backend` block has the same settings. Settings that the
//! files do not determine, such as those of `-backend-config`, give no name.

use super::{Evaluator, Scope};
use crate::syntax::{Block, ExpressionKind, For};
use crate::value::{Identity, ResourceId, Value, ValueKind, joined};
use knowledge::{Cause, Published, Store};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Settings that identify a state, by the type of the backend.
/// <https://developer.hashicorp.com/terraform/language/backend>
const BACKENDS: [(&str, &[&str]); 6] = [
    ("azurerm", &["storage_account_name", "container_name", "key"]),
    ("consul", &["path"]),
    ("gcs", &["bucket", "prefix"]),
    ("http", &["address"]),
    ("remote", &["organization", "workspaces"]),
    ("s3", &["bucket", "key"]),
];

/// Prefix of the keys of all workspaces except `default` in a bucket.
/// <https://developer.hashicorp.com/terraform/language/backend/s3>
const WORKSPACE_PREFIX: &str = "env:";

/// Returns the published attribute `attribute` of a resource of type `kind`: its store, and the argument with its name.
fn source(id: &ResourceId, attribute: &str) -> Option<(Store, &'static str)> {
    Some(match (&*id.kind, attribute, id.data) {
        ("aws_ssm_parameter", "value" | "insecure_value", true) => (Store::Parameter, "name"),
        // Elements of a map from these names to these values are parameters.
        ("aws_ssm_parameters_by_path", "names" | "values", true) => (Store::Parameter, ""),
        ("aws_secretsmanager_secret_version", "secret_string", true) => (Store::Secret, "secret_id"),
        ("aws_cloudformation_stack", "outputs", _) => (Store::StackOutput, "name"),
        ("aws_cloudformation_export", "value", true) => (Store::Export, "name"),
        ("tfe_outputs", "values" | "nonsensitive_values", true) => (Store::StateOutput, ""),
        _ => return None,
    })
}

impl Evaluator<'_> {
    /// Returns the unknown attribute `attribute` of `id` with the name under which another unit may publish it.
    pub(super) fn published(&mut self, id: &Arc<ResourceId>, attribute: &Arc<str>) -> Option<Value> {
        let (store, argument) = source(id, attribute)?;
        let name = match (argument, &*id.kind) {
            ("", "tfe_outputs") => self.workspace_state(id),
            ("", _) => Value::text(""),
            _ => match self.template_of_stack(id) {
                Some(unit) => Value::text(unit.as_str()),
                None => self.configured(id, &argument.into()),
            },
        };
        let region = self.region_of(id).to_text();
        Some(self.lift(vec![name], &mut |this, names| {
            let name = this.published_name(&names[0]).map(|name| Published {
                region: region.clone(),
                ..Published::new(store, name)
            });
            let value = this.configured(id, attribute);
            value.otherwise_identified(|| Some(id.attribute(attribute).published_as(name)))
        }))
    }

    /// Returns the name of the state of the workspace that `tfe_outputs` reads.
    fn workspace_state(&mut self, id: &Arc<ResourceId>) -> Value {
        let [organization, workspace] = ["organization", "workspace"].map(|name| self.configured(id, &name.into()));
        joined(vec![Value::text("remote/"), organization, Value::text("/"), workspace])
    }

    /// Returns the unit whose template a stack deploys: `template_body = file("queues.yaml")`.
    fn template_of_stack(&mut self, id: &Arc<ResourceId>) -> Option<String> {
        let block = self.block_of(id).filter(|_| &*id.kind == "aws_cloudformation_stack")?;
        let ExpressionKind::Call { name, arguments, .. } = &block.body.attribute("template_body")?.value.kind else {
            return None;
        };
        let path = arguments
            .first()
            .filter(|_| matches!(&**name, "file" | "templatefile"))?;
        let scope = self.scope(id.module);
        let path = self.eval(path, &scope).to_text()?;
        self.named_file(&path, id.module)
    }

    /// Returns the parameters to which a `for` maps their names: `{ for at, name in all.names : name => all.values[at] }`.
    pub(super) fn mapped_by_name(&mut self, names: &Value, parts: &For, scope: &Scope) -> Option<Published> {
        let all = names.published().filter(|all| all.name.is_empty())?.clone();
        let (key, at) = (parts.key.as_ref()?, parts.key_name.clone()?);
        let unknown = |name: &str| {
            let identity = Identity::of(format!("element {name}"));
            Value::unknown(Cause::KnownAfterApply.because("it is known only after apply")).identified(|| Some(identity))
        };
        let name = unknown("name");
        let inner = scope.with(&at, unknown("index")).with(&parts.value_name, name.clone());
        let is_name = self.eval(key, &inner).identity() == name.identity();
        let value = self.eval(&parts.value, &inner);
        let is_value = value.published().is_some_and(|value| value.name.is_empty());
        (is_name && is_value).then(|| Published::clone(&all))
    }

    /// Returns a name as text. That of a parameter or secret may be a reference to it.
    pub fn published_name(&mut self, name: &Value) -> Option<Arc<str>> {
        match &name.kind {
            ValueKind::Reference(id, attribute)
                if matches!(&*id.kind, "aws_ssm_parameter" | "aws_secretsmanager_secret")
                    && matches!(&**attribute, "arn" | "id" | "name") =>
            {
                self.configured(id, &"name".into()).to_text()
            }
            _ => {
                let name = self.plain(name.clone()).to_text()?;
                let of_secret = name.strip_prefix("arn:aws:secretsmanager:");
                Some(
                    of_secret
                        .and_then(|arn| arn.split(':').nth(3))
                        .map_or(name.clone(), Arc::from),
                )
            }
        }
    }

    /// Returns the name of the state that the data source `id` reads.
    pub(super) fn remote_state(&mut self, id: &Arc<ResourceId>) -> Option<Published> {
        let backend = self.configured(id, &"backend".into()).to_text()?;
        let config = self.configured(id, &"config".into());
        let workspace = match self.block_of(id)?.body.attribute("workspace") {
            Some(_) => Some(self.configured(id, &"workspace".into()).to_text()?),
            None => None,
        };
        let setting = |name: &str| config.get(name).cloned();
        let directory = self.instances[id.module].module.directory.clone();
        let name = state_name(&backend, setting, workspace.as_deref(), &directory)?;
        Some(Published::new(Store::StateOutput, name))
    }

    /// Returns the name of the state of the root module.
    pub fn own_state(&mut self) -> Option<Arc<str>> {
        let module = self.instances[0].module.clone();
        let workspace = self.workspace().to_text()?;
        let Some(block) = &module.backend else {
            return state_name("local", |_| None, Some(&workspace), &module.directory);
        };
        let backend = match &*block.kind {
            "cloud" => "remote".into(),
            _ => block.labels.first()?.clone(),
        };
        let scope = self.scope(0);
        let mut values = Vec::new();
        for attribute in &block.body.attributes {
            values.push((attribute.name.clone(), self.eval(&attribute.value, &scope)));
        }
        for block in &block.body.blocks {
            values.push((block.kind.clone(), self.entries(block, &scope)));
        }
        let setting = |name: &str| {
            values
                .iter()
                .find(|(known, _)| &**known == name)
                .map(|(_, value)| value.clone())
        };
        state_name(&backend, setting, Some(&workspace), &module.directory)
    }

    /// Returns the arguments of a nested block as an object.
    fn entries(&mut self, block: &Block, scope: &Scope) -> Value {
        let attributes = block.body.attributes.iter();
        Value::map(
            attributes
                .map(|one| (one.name.clone(), self.eval(&one.value, scope)))
                .collect(),
        )
    }
}

/// Returns the name of a state in `workspace`; `None` if the files do not determine it.
fn state_name(
    backend: &str,
    setting: impl Fn(&str) -> Option<Value>,
    workspace: Option<&str>,
    directory: &Path,
) -> Option<Arc<str>> {
    let workspace = workspace.filter(|name| *name != "default");
    if backend == "local" {
        let written = setting("path").map_or_else(|| Some("terraform.tfstate".into()), |path| path.to_text())?;
        let path = normal(&directory.join(&*written));
        let workspace = workspace.map(|name| format!("#{name}")).unwrap_or_default();
        return Some(format!("local/{}{workspace}", path.display()).into());
    }
    let (_, settings) = BACKENDS.iter().find(|(known, _)| *known == backend)?;
    let mut name = backend.to_owned();
    for key in *settings {
        let value = setting(key)?;
        let text = match value.get("name") {
            Some(name) => name.to_text()?,
            None => value.to_text()?,
        };
        let text = if (backend, *key) == ("s3", "key") {
            let prefix =
                setting("workspace_key_prefix").map_or_else(|| Some(WORKSPACE_PREFIX.into()), |one| one.to_text())?;
            workspace.map_or(text.clone(), |workspace| format!("{prefix}/{workspace}/{text}").into())
        } else {
            text
        };
        name.push('/');
        name.push_str(&text);
    }
    if backend != "s3"
        && let Some(workspace) = workspace
    {
        name.push('#');
        name.push_str(workspace);
    }
    Some(name.into())
}

/// Returns `path` without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut all = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                all.pop();
            }
            other => all.push(other),
        }
    }
    all
}
