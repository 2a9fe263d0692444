//! Provider configurations: the one that a resource uses, through aliases and the calls of its module, with its Region
//! and account.
//!
//! Nothing else of a provider is evaluated. Credentials are never read: the account is known only if the provider sets
//! a single allowed account or assumes a role in it.

use super::{Declaration, Evaluator, Scope};
use crate::provider;
use crate::syntax::{Block, Body, Expression, ExpressionKind, Step};
use crate::value::{ResourceId, Value};
use knowledge::Cause;
use source::Span;
use std::sync::Arc;

/// The name of a provider configuration in a module: the name of the provider, and the alias.
pub(crate) type ProviderName = (Arc<str>, Option<Arc<str>>);

/// Arguments that may make a provider act in another account than that of the run.
const CREDENTIALS: [&str; 7] = [
    "access_key",
    "profile",
    "shared_config_files",
    "shared_credentials_file",
    "shared_credentials_files",
    "secret_key",
    "token",
];

impl Evaluator<'_> {
    /// Returns the Region of an instance of a resource or data source.
    pub fn region_of(&mut self, id: &ResourceId) -> Value {
        let label = (id.kind.clone(), id.name.clone());
        let Some(expansion) = self.resource(id.module, id.data, &label) else {
            return Value::unknown(Cause::Invalid.because(format!("`{}` is not declared", id.address())));
        };
        let Some((member, block)) = expansion.member(&id.key).zip(self.block_of(id)) else {
            return Value::unknown(Cause::Invalid.because(format!("`{}` does not exist", id.address())));
        };
        self.region(&id.kind, &block.body, &member.scope)
    }

    /// Returns the Region of a resource with this body: its own argument, otherwise that of its provider configuration.
    pub fn region(&mut self, kind: &str, body: &Body, scope: &Scope) -> Value {
        if let Some(attribute) = body.attribute("region") {
            let own = self.eval(&attribute.value, scope);
            if !own.is_null() {
                return own;
            }
        }
        self.provider_region(scope.module, &provider_of(kind, body))
    }

    /// Returns the account of a resource with this body: that of its provider configuration.
    pub fn account(&mut self, kind: &str, body: &Body, scope: &Scope) -> Value {
        let (name, alias) = provider_of(kind, body);
        let key = Declaration::Account(name.clone(), alias.clone());
        self.once(scope.module, key, |this| {
            match this.configuration(scope.module, &(name, alias)) {
                Some((module, block)) => this.configured_account(module, &block),
                None => this.account_of_the_run(),
            }
        })
    }

    /// Returns the tags that the provider of a resource adds to each of its resources, with their span.
    pub fn default_tags(&mut self, kind: &str, body: &Body, scope: &Scope) -> Option<(Value, Span)> {
        let (module, block) = self.configuration(scope.module, &provider_of(kind, body))?;
        let scope = self.scope(module);
        match self.blocks(&block.body, &scope, "default_tags") {
            Err(reason) => Some((Value::unknown(reason), block.header)),
            Ok(blocks) => {
                let nested = blocks.first()?;
                let attribute = nested.block.body.attribute("tags")?;
                Some((self.eval(&attribute.value, &nested.scope), attribute.span))
            }
        }
    }

    fn provider_region(&mut self, module: usize, name: &ProviderName) -> Value {
        let key = Declaration::Provider(name.0.clone(), name.1.clone());
        self.once(module, key, |this| match this.configuration(module, name) {
            Some((module, block)) => this.configured_region(module, &block),
            None => this.region_of_the_run(),
        })
    }

    /// Returns a key of the provider configuration of a resource with this body; `None` for the default one of the root
    /// module. Resources with different keys may be in different accounts or Regions.
    pub fn provider_key(&self, kind: &str, body: &Body, scope: &Scope) -> Option<String> {
        let (module, (name, alias), _) = self.provider(scope.module, &provider_of(kind, body));
        match alias {
            Some(alias) => Some(format!("{module}.{name}.{alias}")),
            None => (module != 0).then(|| format!("{module}.{name}")),
        }
    }

    /// Returns the block that configures a provider, with the module that contains it.
    fn configuration(&self, module: usize, name: &ProviderName) -> Option<(usize, Arc<Block>)> {
        let (module, _, block) = self.provider(module, name);
        Some((module, block?))
    }

    /// Returns the module that configures a provider and its name there, with the block, if there is one.
    fn provider(&self, module: usize, name: &ProviderName) -> (usize, ProviderName, Option<Arc<Block>>) {
        let (mut module, mut name) = (module, name.clone());
        loop {
            let instance = &self.instances[module];
            let own = instance.module.providers.get(&name).cloned();
            let caller = instance.caller.as_ref();
            if let Some((_, call, scope)) = caller
                && let Some(passed) = passed(&call.block, &name)
            {
                (module, name) = (scope.module, passed);
                continue;
            }
            // An empty block in a called module only declares that a provider is passed to it.
            let configures = own.filter(|block| caller.is_none() || !block.body.attributes.is_empty());
            match (configures, caller) {
                (Some(block), _) => return (module, name, Some(block)),
                // A called module inherits only configurations without an alias.
                (None, Some((_, _, scope))) if name.1.is_none() => module = scope.module,
                _ => return (module, name, None),
            }
        }
    }

    /// Returns the account that a provider allows, if it is the only one; otherwise that of the role it assumes.
    fn configured_account(&mut self, module: usize, block: &Block) -> Value {
        let scope = self.scope(module);
        if let Some(attribute) = block.body.attribute("allowed_account_ids") {
            let allowed = self.eval(&attribute.value, &scope);
            if let Some(items) = allowed.items()
                && items.len() == 1
            {
                return items[0].clone();
            }
        }
        let unknown = || Value::unknown(Cause::RunContext.because("no provider block says the account"));
        for kind in ["assume_role", "assume_role_with_web_identity"] {
            let Ok(roles) = self.blocks(&block.body, &scope, kind) else {
                return unknown();
            };
            // Roles are chained: each is assumed by the previous one.
            if let Some(last) = roles.last() {
                let arn = last.block.body.attribute("role_arn").filter(|_| last.when.is_always());
                let arn = arn.and_then(|arn| self.eval(&arn.value, &last.scope).to_text());
                let account = arn.and_then(|arn| arn.split(':').nth(4).map(Value::text));
                return account.unwrap_or_else(unknown);
            }
        }
        let mut settings = block.body.attributes.iter();
        if settings.any(|setting| CREDENTIALS.contains(&&*setting.name)) {
            return unknown();
        }
        self.account_of_the_run()
    }

    fn account_of_the_run(&self) -> Value {
        match self.inputs.and_then(|inputs| inputs.typed.account.clone()) {
            Some(account) => Value::text(account),
            None => Value::unknown(Cause::RunContext.because("no provider block says the account")),
        }
    }

    fn configured_region(&mut self, module: usize, block: &Block) -> Value {
        let Some(attribute) = block.body.attribute("region") else {
            return self.region_of_the_run();
        };
        let scope = self.scope(module);
        let region = self.eval(&attribute.value, &scope);
        if region.is_null() {
            self.region_of_the_run()
        } else {
            region
        }
    }

    fn region_of_the_run(&self) -> Value {
        match self.inputs.and_then(|inputs| inputs.typed.region.clone()) {
            Some(region) => Value::text(region),
            None => Value::unknown(Cause::RunContext.because("no provider block sets the Region")),
        }
    }

    /// Returns an attribute of a data source that describes the provider itself.
    pub(crate) fn provider_data_source(&mut self, id: &Arc<ResourceId>, attribute: &str) -> Option<Value> {
        if !id.data {
            return None;
        }
        match (&*id.kind, attribute) {
            ("aws_region", "name" | "region" | "id") => {
                let block = self.block_of(id)?;
                // Before version 6 of the provider, the argument was called `name`.
                if block.body.attribute("name").is_some() {
                    return Some(self.configured(id, &"name".into()));
                }
                Some(self.region_of(id))
            }
            ("aws_caller_identity", "account_id" | "id") => {
                let account = self.inputs.and_then(|inputs| inputs.typed.account.clone());
                account.map(Value::text)
            }
            ("aws_partition", "partition" | "id") => {
                let region = self.region_of(id).to_text();
                region.map(|region| Value::text(provider::partition(&region)))
            }
            _ => None,
        }
    }
}

/// Returns the provider configuration that a resource names, or the default one for its type.
fn provider_of(kind: &str, body: &Body) -> ProviderName {
    let provider = body.attribute("provider").and_then(|attribute| named(&attribute.value));
    provider.unwrap_or_else(|| (kind.split('_').next().unwrap_or(kind).into(), None))
}

/// Returns the configuration that a call passes to its module under `name`.
fn passed(call: &Block, name: &ProviderName) -> Option<ProviderName> {
    let ExpressionKind::Object(items) = &call.body.attribute("providers")?.value.kind else {
        return None;
    };
    let item = items.iter().find(|item| named(&item.key).as_ref() == Some(name))?;
    named(&item.value)
}

/// Parses a reference to a provider configuration: `aws` or `aws.west`, in old configurations within quotes.
fn named(expression: &Expression) -> Option<ProviderName> {
    match &expression.kind {
        ExpressionKind::Variable(name) => Some((name.clone(), None)),
        ExpressionKind::Text(text) => match text.split_once('.') {
            Some((name, alias)) => Some((name.into(), Some(alias.into()))),
            None => Some((text.clone(), None)),
        },
        _ => match expression.path()? {
            (name, [Step::Attribute(alias)]) => Some((name.into(), Some(alias.clone()))),
            // The instances of a provider with `for_each` (OpenTofu) are not distinguished.
            _ => None,
        },
    }
}
