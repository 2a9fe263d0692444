//! Policies: a team's own rules, written as expressions over the linked graph.
//!
//! ```toml
//! [[policy]]
//! id = "orders-keep-fourteen-days"
//! for = "queue"
//! where = 'queue.name.startsWith("orders")'
//! require = 'queue.retention >= duration("14d")'
//! message = "order queues keep messages for 14 days"
//! ```
//!
//! ```text
//! text ── syntax ──► tree ── check ──► code ── eval over objects of a Context ──► findings
//! ```
//!
//! A policy is checked completely when it is read: every name, field, function and type is compared with the tables in
//! `objects`. Evaluating it cannot fail. It reads only the graph, and everything that an expression could enlarge is
//! bounded: its length and depth, the elements of lists, the length of strings, and the number of steps.
//!
//! This module knows no dialect, no configuration file and no format.

mod check;
mod code;
mod context;
mod duration;
mod eval;
mod judge;
mod links;
mod objects;
mod schema;
mod syntax;
#[cfg(test)]
mod tests;
mod types;
mod value;

pub use schema::schema;

use crate::diagnostic::Severity;
use crate::rules::{PolicyMetadata, Rule};
use code::Code;
use serde::Deserialize;
use std::ops::Range;
use std::sync::Arc;
use types::ObjectType;

/// Kind of resource that a policy checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Target {
    /// Every queue.
    Queue,
    /// Every dead-letter queue.
    DeadLetterQueue,
    /// Every function.
    Function,
    /// Every event source mapping of a queue.
    Mapping,
    /// Every alarm.
    Alarm,
    /// Every topic.
    Topic,
    /// Every pipe.
    Pipe,
}

impl Target {
    /// All kinds.
    pub const ALL: [Target; 7] = [
        Target::Queue,
        Target::DeadLetterQueue,
        Target::Function,
        Target::Mapping,
        Target::Alarm,
        Target::Topic,
        Target::Pipe,
    ];

    /// Returns the name of the kind in a configuration.
    pub fn name(self) -> &'static str {
        match self {
            Target::DeadLetterQueue => "dead-letter-queue",
            other => other.object().name(),
        }
    }

    /// Returns the type of the object, whose name is that of the variable in expressions.
    fn object(self) -> ObjectType {
        match self {
            Target::Queue | Target::DeadLetterQueue => ObjectType::Queue,
            Target::Function => ObjectType::Function,
            Target::Mapping => ObjectType::Mapping,
            Target::Alarm => ObjectType::Alarm,
            Target::Topic => ObjectType::Topic,
            Target::Pipe => ObjectType::Pipe,
        }
    }
}

/// Requirement for the selected objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Demand {
    /// An expression that must be true.
    Require(String),
    /// An expression that must not be true.
    Forbid(String),
}

impl Demand {
    fn expression(&self) -> &str {
        match self {
            Demand::Require(text) | Demand::Forbid(text) => text,
        }
    }
}

/// Definition of a policy, as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// Id, in kebab-case.
    pub id: String,
    /// Kind of resource that the policy checks.
    pub target: Target,
    /// Expression that selects resources; `None` for all.
    pub selects: Option<String>,
    /// Requirement for the selected resources.
    pub demand: Demand,
    /// Description of the problem, without the name of the resource.
    pub message: String,
    /// Severity of the findings.
    pub severity: Severity,
    /// Advice on how to resolve the findings.
    pub help: Option<String>,
    /// URLs of pages that explain the policy.
    pub references: Vec<String>,
    /// Snippets with the expected findings.
    pub examples: Vec<Example>,
}

/// Snippet to test a policy with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    /// Name of the test, if any.
    pub name: Option<String>,
    /// Names and texts of its files.
    pub files: Vec<(String, String)>,
    /// Expected number of findings.
    pub findings: usize,
    /// Expected number of resources that cannot be judged.
    pub not_judged: usize,
}

/// Compiled policy.
#[derive(Debug)]
pub struct Policy {
    definition: Definition,
    facts: Arc<PolicyMetadata>,
    selects: Option<Code>,
    demands: Code,
}

/// Error in a policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// `true` if the error is in `where`, `false` if it is in the requirement.
    pub in_selection: bool,
    /// Byte range in the expression.
    pub at: Range<usize>,
    /// Description of the error, with the nearest valid name if a misspelling is likely.
    pub message: String,
}

impl Policy {
    /// Compiles `definition`. A fault is an error in one of its expressions.
    pub fn new(definition: Definition) -> Result<Policy, Fault> {
        let object = definition.target.object();
        let compile = |text: &str| check::check(&syntax::parse(text)?, object.name(), object);
        let fault = |in_selection: bool| {
            move |fault: syntax::Fault| Fault {
                in_selection,
                at: fault.range,
                message: fault.message,
            }
        };
        let selects = definition.selects.as_deref().map(compile).transpose();
        Ok(Policy {
            selects: selects.map_err(fault(true))?,
            demands: compile(definition.demand.expression()).map_err(fault(false))?,
            facts: Arc::new(facts(&definition)),
            definition,
        })
    }

    /// Returns the definition.
    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    /// Returns the metadata, for sharing.
    pub fn facts(&self) -> &Arc<PolicyMetadata> {
        &self.facts
    }

    /// Returns the policy as a rule.
    pub fn rule(&self) -> Rule<'_> {
        self.facts.rule()
    }
}

fn facts(definition: &Definition) -> PolicyMetadata {
    PolicyMetadata {
        id: definition.id.as_str().into(),
        severity: definition.severity,
        summary: definition.message.clone(),
        page: page(definition),
    }
}

/// Returns the page for `sqslint explain` and SARIF.
fn page(definition: &Definition) -> String {
    let Definition {
        id,
        target,
        selects,
        demand,
        message,
        help,
        references,
        ..
    } = definition;
    let (verb, expression) = match demand {
        Demand::Require(text) => ("requires", text),
        Demand::Forbid(text) => ("forbids", text),
    };
    let each = target.name();
    let mut page = format!("# {id}\n\n{message}\n\nA policy of this project. For every {each}");
    if let Some(selects) = selects {
        page += &format!(" where\n\n```cel\n{}\n```\n\n", selects.trim());
        page += &format!("is true, it {verb}");
    } else {
        page += &format!(" it {verb}");
    }
    page += &format!("\n\n```cel\n{}\n```\n", expression.trim());
    if let Some(help) = help {
        page += &format!("\n## How to fix it\n\n{help}\n");
    }
    if !references.is_empty() {
        page += "\n## References\n\n";
        for address in references {
            page += &format!(
                "- <{address}>
"
            );
        }
    }
    page
}
