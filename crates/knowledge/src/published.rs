//! Names under which one unit publishes a value that others read.

use super::Form;
use std::sync::Arc;

/// Place in which values are published. Names of different places are unrelated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Store {
    /// The parameter store of Systems Manager.
    Parameter,
    /// Secrets Manager.
    Secret,
    /// The outputs of stacks, by stack and output.
    StackOutput,
    /// The exports of stacks.
    Export,
    /// The outputs in the states of Terraform, by backend and output.
    StateOutput,
}

impl Store {
    /// Returns what a store contains: "parameter", "output".
    pub const fn entry(self) -> &'static str {
        match self {
            Store::Parameter => "parameter",
            Store::Secret => "secret",
            Store::StackOutput | Store::StateOutput => "output",
            Store::Export => "export",
        }
    }
}

/// A published value, as the text that reads it names it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Published {
    /// Place of the value.
    pub store: Store,
    /// Name, followed by the keys within the value, separated by `#`.
    pub name: Arc<str>,
    /// Region of the reader, if known.
    pub region: Option<Arc<str>>,
    /// Form of the text that contains the value; `None` if the value is the whole text.
    pub within: Option<Form>,
}

impl Published {
    /// Creates the name of a value that is the whole text.
    pub fn new(store: Store, name: impl Into<Arc<str>>) -> Self {
        Published {
            store,
            name: name.into(),
            region: None,
            within: None,
        }
    }

    /// Returns the name of the element `key` of the value.
    #[must_use]
    pub fn element(&self, key: &str) -> Self {
        Published {
            name: if self.name.is_empty() {
                key.into()
            } else {
                format!("{}#{key}", self.name).into()
            },
            ..self.clone()
        }
    }
}
