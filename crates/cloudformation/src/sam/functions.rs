//! Transforms `AWS::Serverless::Function`: generates its alias, URL and role, and the resources of its events and
//! destinations.

use super::events::Invoked;
use super::making::{At, Owner, properties, with_properties};
use super::policies::Grants;
use super::{Transform, branches, is_no_value};
use std::sync::Arc;
use trees::{Entry, Node, Value};

/// Properties that become separate resources.
const TAKEN: [&str; 4] = ["Events", "Policies", "EventInvokeConfig", "Role"];

impl Transform<'_> {
    pub(super) fn function(&mut self, entry: &Entry) -> Entry {
        let owner = Owner::of(entry);
        let properties = properties(entry);
        let get = |key: &str| properties.iter().find(|entry| &*entry.key == key);
        let value = |key: &str| {
            get(key)
                .map(|entry| &entry.value)
                .filter(|node| node.value != Value::Null)
        };
        let alias = value("AutoPublishAlias").map(|name| self.alias(&owner, name, get("ProvisionedConcurrencyConfig")));
        let invoked = Invoked::function(&owner, alias.as_deref());
        self.url(&owner, &invoked, value("FunctionUrlConfig"));

        let is_traced = value("Tracing").is_some_and(|mode| self.literal(mode).as_deref() != Some("Disabled"));
        let mut grants = Grants::of_function(owner.at, is_traced, &value);
        if let Some(queue) = value("DeadLetterQueue") {
            grants.dead_letter_queue(owner.at, queue);
        }
        if let Some(config) = value("EventInvokeConfig") {
            self.invoke_config(&owner, config, &mut grants);
        }
        if let Some(policies) = value("Policies") {
            grants.add_policies(&format!("{}Role", owner.id), policies);
        }
        for event in value("Events").and_then(Node::entries).unwrap_or_default() {
            self.event(&owner, event, &invoked, &mut grants);
        }
        let mut kept: Vec<Entry> = properties
            .iter()
            .filter(|e| !TAKEN.contains(&&*e.key))
            .cloned()
            .collect();
        kept.push(self.role_of(&owner, get("Role"), grants));
        with_properties(entry, kept)
    }

    /// Generates the version and the alias that each deployment publishes, and returns the id of the alias.
    fn alias(&mut self, owner: &Owner, name: &Node, provisioned: Option<&Entry>) -> String {
        let at = At(name.span);
        let id = match self.literal(name) {
            Some(text) => format!("{}Alias{}", owner.id, text.replace('-', "D").replace('_', "U")),
            None => format!("{}Alias", owner.id),
        };
        let function = || at.entry("FunctionName", at.reference(&owner.id));
        // Its real id ends with a hash of the packaged code.
        let version = format!("{}Version", owner.id);
        self.make(at, &version, "AWS::Lambda::Version", owner, vec![function()]);
        let mut properties = vec![
            function(),
            at.entry("Name", name.clone()),
            at.entry("FunctionVersion", at.attribute(&version, "Version")),
        ];
        properties.extend(provisioned.cloned());
        self.make(at, &id, "AWS::Lambda::Alias", owner, properties);
        self.name(owner, "Alias", &id);
        self.name(owner, "Version", &version);
        id
    }

    /// Lets authors refer to `id` as `Function.what`.
    pub(super) fn name(&mut self, owner: &Owner, what: &str, id: &str) {
        self.names.insert(format!("{}.{what}", owner.id), id.into());
    }

    /// Generates a resource with the condition of its owner.
    pub(super) fn make(&mut self, at: At, id: &str, kind: &str, owner: &Owner, properties: Vec<Entry>) {
        let resource = at.resource(id, kind, owner.condition.as_ref(), properties, at.flag(true));
        self.made.push(resource);
    }

    fn url(&mut self, owner: &Owner, invoked: &Invoked, config: Option<&Node>) {
        let Some(config) = config.filter(|config| config.entries().is_some()) else {
            return;
        };
        let at = owner.at;
        let target = at.entry("TargetFunctionArn", invoked.name(at));
        self.make(at, &format!("{}Url", owner.id), "AWS::Lambda::Url", owner, vec![target]);
        if config.get("AuthType").and_then(Node::as_str) == Some("NONE") {
            for suffix in ["UrlPublicPermissions", "URLInvokeAllowPublicAccess"] {
                self.permission(at, &format!("{}{suffix}", owner.id), owner, invoked, Some("*"));
            }
        }
    }

    /// Generates a permission for `principal` to invoke a function.
    pub(super) fn permission(&mut self, at: At, id: &str, owner: &Owner, invoked: &Invoked, principal: Option<&str>) {
        let mut properties = vec![
            at.entry("Action", at.text("lambda:InvokeFunction")),
            at.entry("FunctionName", invoked.name(at)),
        ];
        properties.extend(principal.map(|principal| at.entry("Principal", at.text(principal))));
        self.make(at, id, "AWS::Lambda::Permission", owner, properties);
    }

    /// Returns the function's role, which is generated unless it is set. If one branch of an `Fn::If` sets it, the
    /// generated role has the condition of the other.
    fn role_of(&mut self, owner: &Owner, given: Option<&Entry>, grants: Grants) -> Entry {
        let at = owner.at;
        let id = format!("{}Role", owner.id);
        let made = at.attribute(&id, "Arn");
        let mut condition = owner.condition.clone();
        let role = match given {
            None => at.entry("Role", made),
            Some(given) => match branches(&given.value) {
                Some((_, yes, no)) if is_no_value(yes) && is_no_value(no) => at.entry("Role", made),
                Some((name, yes, _)) if is_no_value(yes) => {
                    condition = Some(at.text(name));
                    chosen(given, 1, made)
                }
                Some((name, _, no)) if is_no_value(no) => {
                    let name = self.negated(name, at);
                    condition = Some(at.text(name));
                    chosen(given, 2, made)
                }
                _ => return given.clone(),
            },
        };
        let properties = grants.role_properties(at);
        let resource = at.resource(id, "AWS::IAM::Role", condition.as_ref(), properties, at.flag(true));
        self.made.push(resource);
        role
    }
}

/// Replaces the branch at `place` of an `Fn::If`.
pub(super) fn chosen(entry: &Entry, place: usize, value: Node) -> Entry {
    let mut entry = entry.clone();
    if let Value::Mapping(function) = &mut entry.value.value
        && let Some(Value::Sequence(items)) = function.first_mut().map(|function| &mut function.value.value)
        && let Some(item) = items.get_mut(place)
    {
        *item = value;
    }
    entry
}

/// Appends a suffix to a resource's id.
pub(super) fn suffixed(id: &str, suffix: &str) -> Arc<str> {
    format!("{id}{suffix}").into()
}
