//! Names of attributes, as users write them.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// Name of an attribute. Most names are constants of the program, which need no allocation.
#[derive(Clone)]
pub struct Name(Spelling);

#[derive(Clone)]
enum Spelling {
    Known(&'static str),
    // A thin pointer, so that this variant does not make the enum larger.
    Written(Arc<String>),
}

impl Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        match &self.0 {
            Spelling::Known(name) => name,
            Spelling::Written(name) => name,
        }
    }
}

impl From<&'static str> for Name {
    fn from(name: &'static str) -> Self {
        Name(Spelling::Known(name))
    }
}

impl From<Arc<String>> for Name {
    fn from(name: Arc<String>) -> Self {
        Name(Spelling::Written(name))
    }
}

impl From<Arc<str>> for Name {
    fn from(name: Arc<str>) -> Self {
        Arc::new(name.to_string()).into()
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Name {}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self)
    }
}
