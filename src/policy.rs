//! Policies: rules of a team's own, written as expressions over the linked graph.
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
//! A policy is settled when it is read: every name, field, function and type is checked against the tables in
//! `objects`. Judging it cannot fail. It reads the graph and nothing else, and everything that an expression could let
//! grow is bounded: its length and depth, the elements of lists, the length of texts, and the steps that it takes.
//!
//! It knows no dialect, no configuration file and no format.

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
use crate::rules::{Facts, Rule};
use code::Code;
use std::ops::Range;
use std::sync::Arc;
use types::ObjectType;

/// What a policy is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// Every queue.
    Queue,
    /// Every queue that takes failures.
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
    /// All of them.
    pub const ALL: [Target; 7] = [
        Target::Queue,
        Target::DeadLetterQueue,
        Target::Function,
        Target::Mapping,
        Target::Alarm,
        Target::Topic,
        Target::Pipe,
    ];

    /// As a configuration spells it.
    pub fn name(self) -> &'static str {
        match self {
            Target::DeadLetterQueue => "dead-letter-queue",
            other => other.object().name(),
        }
    }

    /// The type of the object, which expressions call by its name.
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

/// What a policy demands of the objects that it selects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Demand {
    /// That this is true.
    Require(String),
    /// That this is not true.
    Forbid(String),
}

impl Demand {
    fn expression(&self) -> &str {
        match self {
            Demand::Require(text) | Demand::Forbid(text) => text,
        }
    }
}

/// A policy as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// Kebab-case.
    pub id: String,
    /// What it is for.
    pub target: Target,
    /// Which of these; `None` is all.
    pub selects: Option<String>,
    /// What it demands.
    pub demand: Demand,
    /// What is wrong where it is not met, without the name of the resource.
    pub message: String,
    /// The severity of its findings.
    pub severity: Severity,
    /// What to do about them.
    pub help: Option<String>,
    /// Addresses of what says why.
    pub references: Vec<String>,
    /// Snippets, and what it finds in each.
    pub examples: Vec<Example>,
}

/// A snippet to test a policy with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    /// What it shows, where that is said.
    pub name: Option<String>,
    /// Names and texts of its files.
    pub files: Vec<(String, String)>,
    /// How many findings the policy has in them.
    pub findings: usize,
    /// How many resources it cannot judge.
    pub not_judged: usize,
}

/// A policy that can judge.
#[derive(Debug)]
pub struct Policy {
    definition: Definition,
    facts: Arc<Facts>,
    selects: Option<Code>,
    demands: Code,
}

/// What is wrong with a policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Whether it is in `where`, and not in what is demanded.
    pub in_selection: bool,
    /// The bytes of the expression.
    pub at: Range<usize>,
    /// What is wrong, with the nearest name where a slip is likely.
    pub message: String,
}

impl Policy {
    /// The policy that `definition` says; the fault is one of its expressions.
    pub fn new(definition: Definition) -> Result<Policy, Fault> {
        let object = definition.target.object();
        let compile = |text: &str| check::check(&syntax::parse(text)?, object.name(), object);
        let fault = |in_selection: bool| {
            move |fault: syntax::Fault| Fault {
                in_selection,
                at: fault.at,
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

    /// What it says.
    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    /// Its facts, to be shared.
    pub fn facts(&self) -> &Arc<Facts> {
        &self.facts
    }

    /// The same as a rule.
    pub fn rule(&self) -> Rule<'_> {
        self.facts.rule()
    }
}

fn facts(definition: &Definition) -> Facts {
    Facts {
        id: definition.id.as_str().into(),
        severity: definition.severity,
        summary: definition.message.clone(),
        page: page(definition),
    }
}

/// Its page, for `sqslint explain` and SARIF.
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
