//! What an attribute holds, in little room: a graph has fifteen attributes for each queue, nearly every one of them
//! with one case, without origins, and called as the program itself calls it.

use super::{Case, Origin};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// The cases of an attribute: a list that takes no room of its own where it holds one.
#[derive(Debug, Clone)]
pub struct Cases<T>(Few<T>);

#[derive(Debug, Clone)]
enum Few<T> {
    One(Case<T>),
    Several(Box<[Case<T>]>),
}

impl<T> Cases<T> {
    pub(super) fn one(case: Case<T>) -> Self {
        Cases(Few::One(case))
    }
}

impl<T> Deref for Cases<T> {
    type Target = [Case<T>];

    fn deref(&self) -> &[Case<T>] {
        match &self.0 {
            Few::One(case) => std::slice::from_ref(case),
            Few::Several(cases) => cases,
        }
    }
}

impl<T> DerefMut for Cases<T> {
    fn deref_mut(&mut self) -> &mut [Case<T>] {
        match &mut self.0 {
            Few::One(case) => std::slice::from_mut(case),
            Few::Several(cases) => cases,
        }
    }
}

impl<T> From<Vec<Case<T>>> for Cases<T> {
    fn from(mut cases: Vec<Case<T>>) -> Self {
        match (cases.len(), cases.pop()) {
            (1, Some(case)) => Cases::one(case),
            (_, last) => {
                cases.extend(last);
                Cases(Few::Several(cases.into()))
            }
        }
    }
}

impl<T> FromIterator<Case<T>> for Cases<T> {
    fn from_iter<I: IntoIterator<Item = Case<T>>>(cases: I) -> Self {
        let mut cases = cases.into_iter();
        match (cases.next(), cases.next()) {
            (Some(case), None) => Cases::one(case),
            (first, second) => first.into_iter().chain(second).chain(cases).collect::<Vec<_>>().into(),
        }
    }
}

impl<T> IntoIterator for Cases<T> {
    type Item = Case<T>;
    type IntoIter = std::iter::Chain<std::option::IntoIter<Case<T>>, std::vec::IntoIter<Case<T>>>;

    fn into_iter(self) -> Self::IntoIter {
        let (one, several) = match self.0 {
            Few::One(case) => (Some(case), Vec::new()),
            Few::Several(cases) => (None, cases.into_vec()),
        };
        one.into_iter().chain(several)
    }
}

impl<'c, T> IntoIterator for &'c Cases<T> {
    type Item = &'c Case<T>;
    type IntoIter = std::slice::Iter<'c, Case<T>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'c, T> IntoIterator for &'c mut Cases<T> {
    type Item = &'c mut Case<T>;
    type IntoIter = std::slice::IterMut<'c, Case<T>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

/// Where a value came from, nearest first: a list that takes next to no room where it is empty.
#[derive(Debug, Clone, Default)]
pub struct Origins(Option<Arc<Vec<Origin>>>);

impl Origins {
    /// No origins: the value is written where it stands.
    pub const fn none() -> Self {
        Origins(None)
    }
}

impl Deref for Origins {
    type Target = [Origin];

    fn deref(&self) -> &[Origin] {
        self.0.as_deref().map_or(&[], Vec::as_slice)
    }
}

impl From<Vec<Origin>> for Origins {
    fn from(origins: Vec<Origin>) -> Self {
        Origins((!origins.is_empty()).then(|| Arc::new(origins)))
    }
}

/// What users call an attribute. Most are called as the program itself calls them.
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
