//! Builds a queue with its consumer in every dialect, for tests of rules about their attributes.
//!
//! Attributes have the neutral names of `names.rs`, preceded by their resource: `queue.visibility_timeout`. Their values
//! are in no dialect: numbers, booleans, text, `[lists]`, `null`, `open` for an unresolved value, and references such as
//! `queue.arn` or `dlq.url`. A text in quotation marks is copied, and so is text after `=`.

mod names;
mod write;

use super::table::{Row, rows};
use super::{Dialect, file, run_files};
use crate::diagnostic::Diagnostic;
use crate::rules::Rule;
use Dialect::{CloudFormation, Sam, Serverless, Terraform};
use std::fmt::Display;
use write::Writer;

/// Queue and its consumer, with the attributes that a test sets.
#[derive(Debug, Clone)]
pub struct Stack {
    /// Names and values of attributes, in order.
    attributes: Vec<(String, String)>,
    /// Dialects that are checked.
    dialects: Vec<Dialect>,
    /// Blocks of Terraform that follow the resources.
    terraform: String,
    /// Further resources of a template.
    template: String,
    /// Text of the configuration.
    configuration: String,
    /// `true` if a function polls the queue.
    has_mapping: bool,
    /// `true` if the queue has a dead-letter queue in the same files.
    has_dead_letter_queue: bool,
}

/// Returns a queue that a mapping polls for a function.
pub fn stack() -> Stack {
    Stack {
        has_mapping: true,
        ..queue()
    }
}

/// Returns a queue without a consumer.
pub fn queue() -> Stack {
    Stack {
        attributes: Vec::new(),
        dialects: vec![Terraform, CloudFormation, Sam, Serverless],
        terraform: String::new(),
        template: String::new(),
        configuration: String::new(),
        has_mapping: false,
        has_dead_letter_queue: false,
    }
}

impl Stack {
    /// Sets an attribute of the queue.
    #[must_use]
    pub fn queue(self, name: &str, value: impl Display) -> Self {
        self.set(&format!("queue.{name}"), &value.to_string())
    }

    /// Sets an attribute of the queue's dead-letter queue.
    #[must_use]
    pub fn dead_letter_queue(self, name: &str, value: impl Display) -> Self {
        let stack = Stack {
            has_dead_letter_queue: true,
            ..self
        };
        stack.set(&format!("dlq.{name}"), &value.to_string())
    }

    /// Sets an attribute of the function.
    #[must_use]
    pub fn function(self, name: &str, value: impl Display) -> Self {
        self.set(&format!("function.{name}"), &value.to_string())
    }

    /// Sets an attribute of the event source mapping.
    #[must_use]
    pub fn mapping(self, name: &str, value: impl Display) -> Self {
        self.set(&format!("mapping.{name}"), &value.to_string())
    }

    /// Checks only these dialects.
    #[must_use]
    pub fn only(mut self, dialects: &[Dialect]) -> Self {
        self.dialects.retain(|dialect| dialects.contains(dialect));
        self
    }

    /// Adds blocks of Terraform. Templates are then checked only if they also have text.
    #[must_use]
    pub fn terraform(mut self, blocks: &str) -> Self {
        self.terraform.extend([blocks, "\n"]);
        self
    }

    /// Adds resources of a template, indented by two spaces. Terraform is then checked only if it also has text.
    #[must_use]
    pub fn template(mut self, resources: &str) -> Self {
        self.template.extend([resources, "\n"]);
        self
    }

    /// Adds a configuration.
    #[must_use]
    pub fn configured(mut self, text: &str) -> Self {
        self.configuration.push_str(text);
        self
    }

    fn set(mut self, name: &str, value: &str) -> Self {
        self.attributes.retain(|(other, _)| other != name);
        self.attributes.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Returns the text in `dialect`, with markers for findings of `rule` at `places`; `None` if the dialect cannot
    /// express it.
    fn text(&self, dialect: Dialect, rule: &Rule, places: &[&str]) -> Option<String> {
        let is_terraform = dialect == Terraform;
        let (more, other) = if is_terraform {
            (&self.terraform, &self.template)
        } else {
            (&self.template, &self.terraform)
        };
        if !self.dialects.contains(&dialect) || (more.is_empty() && !other.is_empty()) {
            return None;
        }
        Writer::new(self, dialect, rule.id, places)?.text(more)
    }

    /// Returns the findings of `rule` in `dialect`.
    ///
    /// # Panics
    /// If the dialect cannot express the stack.
    pub fn findings(&self, rule: &Rule, dialect: Dialect) -> Vec<Diagnostic> {
        let text = self.text(dialect, rule, &[]).expect("the dialect has these attributes");
        let (name, text) = file(dialect, &text);
        run_files(rule, &[(name, &text)]).findings
    }

    /// Checks `rule` in every dialect for each row of a [table](super::table). A heading is the name of an attribute;
    /// `terraform` or `template` for text in these dialects; `consumer` for the settings of a consumer in the
    /// configuration; or `except` for a dialect in which the row does not apply. A heading
    /// of the dead-letter queue declares one. The place of a finding is an
    /// attribute, an attribute followed by `block` for the outermost block or key around it, or the name of a resource
    /// for its header.
    ///
    /// # Panics
    /// If the findings are not those that the table expects, or no dialect can express a row.
    pub fn check(&self, rule: &Rule, table: &str) {
        for row in rows(table) {
            let stack = self.with_cells(&row);
            let texts = [Terraform, CloudFormation, Sam, Serverless]
                .map(|dialect| (dialect, stack.text(dialect, rule, &row.places())));
            assert!(
                texts.iter().any(|(_, text)| text.is_some()),
                "no dialect has it: {row:?}"
            );
            for (dialect, text) in texts {
                let Some(text) = text else { continue };
                let (name, text) = file(dialect, &text);
                let mut files = vec![(name, &*text)];
                if !stack.configuration.is_empty() {
                    files.push(("sqslint.toml", &stack.configuration));
                }
                row.check(rule, &files);
            }
        }
    }

    fn with_cells(&self, row: &Row) -> Self {
        let mut stack = self.clone();
        for (heading, cell) in &row.cells {
            stack.has_dead_letter_queue |= heading.starts_with("dlq.");
            stack = match &**heading {
                _ if cell.is_empty() => stack,
                "terraform" => stack.terraform(cell),
                "template" => stack.template(&format!("  {cell}")),
                "consumer" => {
                    // The names in every dialect.
                    let function = if stack.has_mapping {
                        "function = \"*orker\"\n"
                    } else {
                        ""
                    };
                    stack.configured(&format!("[[consumer]]\nqueue = \"*rders\"\n{function}{cell}\n"))
                }
                "except" => {
                    stack.dialects.retain(|dialect| format!("{dialect:?}") != *cell);
                    stack
                }
                name => stack.set(name, cell),
            };
        }
        stack
    }
}
