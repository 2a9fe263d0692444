//! How users spell an attribute.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// The name of an attribute. Most are called as the program itself calls them, and take next to no room.
#[derive(Clone)]
pub struct Name(Spelling);

#[derive(Clone)]
enum Spelling {
    Known(&'static str),
    // Thin, so that the two take no more room than the one.
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

impl From<Arc<str>> for Name {
    fn from(name: Arc<str>) -> Self {
        Name(Spelling::Written(Arc::new(name.to_string())))
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
