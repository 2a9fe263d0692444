//! Lists every rule of a run: the built-in ones, which are statics, and the policies of its configurations.
//!
//! Code that lists, selects, suppresses or explains rules uses a [`Catalogue`] and does not depend on the `policy`
//! module.

use crate::diagnostic::{RuleId, Severity};
use crate::rules::{self, Category, RULES, Rule};
use std::sync::Arc;

/// Metadata of a policy, for code that does not evaluate it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PolicyMetadata {
    /// Id of the policy.
    pub id: Arc<str>,
    /// Severity of its findings.
    pub severity: Severity,
    /// Summary of the requirement, in one line.
    pub summary: String,
    /// Documentation in Markdown.
    pub page: String,
}

impl PolicyMetadata {
    /// Returns the policy's metadata as a [`Rule`].
    pub fn rule(&self) -> Rule<'_> {
        Rule::unchecked(&self.id, Category::Policy, self.severity, &self.summary, &self.page)
    }
}

/// Rules of a run: the built-in ones and policies.
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    /// Policies sorted by id, without duplicates.
    policies: Vec<Arc<PolicyMetadata>>,
}

impl Catalogue {
    /// Catalogue of the built-in rules only.
    pub const BUILT_IN: &'static Catalogue = &Catalogue { policies: Vec::new() };

    /// Creates a catalogue of the built-in rules and `policies`. If two configurations define policies with the same
    /// id, the first one is used.
    pub fn with(policies: impl IntoIterator<Item = Arc<PolicyMetadata>>) -> Self {
        let mut policies: Vec<Arc<PolicyMetadata>> = policies.into_iter().collect();
        policies.sort();
        policies.dedup_by(|b, a| a.id == b.id);
        Catalogue { policies }
    }

    /// Returns all rules: the built-in ones in their order, then policies by id.
    pub fn rules(&self) -> impl Iterator<Item = Rule<'_>> + Clone {
        let ours = RULES.iter().map(|rule| **rule);
        ours.chain(self.policies.iter().map(|facts| facts.rule()))
    }

    /// Returns the ids of all rules, in the order of [`Catalogue::rules`].
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        let ours = RULES.iter().map(|rule| rule.id);
        ours.chain(self.policies.iter().map(|facts| &*facts.id))
    }

    /// Returns the policies.
    pub fn policies(&self) -> &[Arc<PolicyMetadata>] {
        &self.policies
    }

    /// Returns the rule with this id or former id.
    pub fn by_id(&self, id: &str) -> Option<Rule<'_>> {
        let id = rules::current(id);
        self.rules().find(|rule| rule.id == id)
    }
}

impl Rule<'_> {
    /// Returns the id in the form that findings store.
    pub(crate) fn shared_id(&self) -> RuleId {
        match rules::by_id(self.id) {
            Some(ours) => ours.id.into(),
            None => Arc::<str>::from(self.id).into(),
        }
    }
}
