//! Transforms `AWS::Serverless::StateMachine`: its role and its events.

use super::Transform;
use super::events::Invoked;
use super::making::{Owner, properties, with_properties};
use super::policies::Grants;
use trees::{Entry, Node, Value};

/// Properties that become separate resources.
const TAKEN: [&str; 3] = ["Events", "Policies", "Role"];

impl Transform<'_> {
    pub(super) fn state_machine(&mut self, entry: &Entry) -> Entry {
        let owner = Owner::of(entry);
        let at = owner.at;
        let properties = properties(entry);
        let value = |key: &str| {
            properties
                .iter()
                .find(|entry| &*entry.key == key)
                .map(|entry| &entry.value)
        };
        let mut kept: Vec<Entry> = properties
            .iter()
            .filter(|e| !TAKEN.contains(&&*e.key))
            .cloned()
            .collect();
        let role = value("Role").cloned();
        let role = role.unwrap_or_else(|| self.machine_role(&owner, value("Policies"), value("Tracing")));
        kept.push(at.entry("RoleArn", role));
        let invoked = self.invoked_machine(&owner, value("AutoPublishAlias"), value("UseAliasAsEventTarget"));
        // Events add permissions only to the role of a function.
        let mut unused = Grants::default();
        for event in value("Events").and_then(Node::entries).unwrap_or_default() {
            self.event(&owner, event, &invoked, &mut unused);
        }
        with_properties(entry, kept)
    }

    fn machine_role(&mut self, owner: &Owner, policies: Option<&Node>, tracing: Option<&Node>) -> Node {
        let at = owner.at;
        let id = format!("{}Role", owner.id);
        let mut grants = Grants::default();
        if let Some(policies) = policies {
            grants.add_policies(&id, policies);
        }
        let is_traced = tracing.and_then(|tracing| tracing.get("Enabled")).map(|on| &on.value);
        if is_traced == Some(&Value::Bool(true)) {
            grants.tracing(at);
        }
        self.make(at, &id, "AWS::IAM::Role", owner, grants.role_properties(at));
        at.attribute(&id, "Arn")
    }

    fn invoked_machine(&mut self, owner: &Owner, alias: Option<&Node>, use_alias: Option<&Node>) -> Invoked {
        let alias = alias.and_then(Node::as_str);
        let is_used = use_alias.map(|node| &node.value) == Some(&Value::Bool(true));
        match alias.filter(|_| is_used) {
            Some(alias) => {
                let id = format!("{}Alias{alias}", owner.id);
                self.make(
                    owner.at,
                    &id,
                    "AWS::StepFunctions::StateMachineAlias",
                    owner,
                    Vec::new(),
                );
                Invoked::state_machine(id)
            }
            None => Invoked::state_machine(owner.id.to_string()),
        }
    }
}
