//! Every rule that a run knows: ours, which are statics, and the policies of its configurations, which it shares.
//!
//! Who lists, selects, suppresses or explains rules asks a [`Catalogue`], and knows nothing of policies.

use crate::diagnostic::{RuleId, Severity};
use crate::rules::{self, Category, RULES, Rule, Set};
use std::sync::Arc;

/// The facts of a policy, for whoever needs no more of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Facts {
    /// Its id.
    pub id: Arc<str>,
    /// The severity of its findings.
    pub severity: Severity,
    /// One line: what it requires.
    pub summary: String,
    /// Its page, Markdown.
    pub page: String,
}

impl Facts {
    /// The same as a rule's.
    pub fn rule(&self) -> Rule<'_> {
        Rule {
            id: &self.id,
            category: Category::Policy,
            severity: self.severity,
            set: Set::Default,
            fix: None,
            summary: &self.summary,
            page: &self.page,
            settings: &[],
            check: None,
        }
    }
}

/// The rules of a run: ours, and policies.
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    /// By id; each id once.
    policies: Vec<Arc<Facts>>,
}

impl Catalogue {
    /// Ours alone.
    pub const OURS: &'static Catalogue = &Catalogue { policies: Vec::new() };

    /// Ours and `policies`. Of two with one id, which two configurations may have, the first is told.
    pub fn with(policies: impl IntoIterator<Item = Arc<Facts>>) -> Self {
        let mut policies: Vec<Arc<Facts>> = policies.into_iter().collect();
        policies.sort();
        policies.dedup_by(|b, a| a.id == b.id);
        Catalogue { policies }
    }

    /// All of them: ours in their order, then policies by id.
    pub fn rules(&self) -> impl Iterator<Item = Rule<'_>> + Clone {
        let ours = RULES.iter().map(|rule| **rule);
        ours.chain(self.policies.iter().map(|facts| facts.rule()))
    }

    /// The ids of all of them, in the same order.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        let ours = RULES.iter().map(|rule| rule.id);
        ours.chain(self.policies.iter().map(|facts| &*facts.id))
    }

    /// The policies.
    pub fn policies(&self) -> &[Arc<Facts>] {
        &self.policies
    }

    /// The rule called `id`.
    pub fn by_id(&self, id: &str) -> Option<Rule<'_>> {
        self.rules().find(|rule| rule.id == id)
    }
}

impl Rule<'_> {
    /// Its id as findings carry it.
    pub(crate) fn shared_id(&self) -> RuleId {
        match rules::by_id(self.id) {
            Some(ours) => ours.id.into(),
            None => Arc::<str>::from(self.id).into(),
        }
    }
}
