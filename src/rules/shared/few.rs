//! Implements a list that stores a single element without an allocation. Most attributes have one value, and most
//! comparisons depend on one value; the check of a large project creates millions of such lists.
//!
//! `SmallVec` does not fit: it is invariant, so a list of `Operand<'graph>` would not be one of a shorter lifetime.

use std::iter::Chain;
use std::ops::Deref;
use std::{option, slice, vec};

/// List of any length that dereferences to a slice.
#[derive(Debug, Clone)]
pub(crate) enum Few<T> {
    /// Single element.
    One(T),
    /// No elements, or several.
    Several(Vec<T>),
}

impl<T> Few<T> {
    /// Returns an empty list.
    pub(crate) const fn new() -> Self {
        Few::Several(Vec::new())
    }

    /// Appends an element.
    pub(crate) fn push(&mut self, element: T) {
        match std::mem::replace(self, Few::new()) {
            Few::One(first) => *self = Few::Several(vec![first, element]),
            Few::Several(elements) if elements.is_empty() => *self = Few::One(element),
            Few::Several(mut elements) => {
                elements.push(element);
                *self = Few::Several(elements);
            }
        }
    }

    /// Removes the elements for which `keeps` returns `false`.
    pub(crate) fn retain(&mut self, mut keeps: impl FnMut(&T) -> bool) {
        match self {
            Few::One(element) if keeps(element) => {}
            Few::One(_) => *self = Few::new(),
            Few::Several(elements) => elements.retain(keeps),
        }
    }
}

impl<T> Deref for Few<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Few::One(element) => slice::from_ref(element),
            Few::Several(elements) => elements,
        }
    }
}

impl<T> Extend<T> for Few<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, elements: I) {
        elements.into_iter().for_each(|element| self.push(element));
    }
}

impl<T> FromIterator<T> for Few<T> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
        let mut few = Few::new();
        few.extend(elements);
        few
    }
}

impl<T> IntoIterator for Few<T> {
    type Item = T;
    type IntoIter = Chain<option::IntoIter<T>, vec::IntoIter<T>>;

    fn into_iter(self) -> Self::IntoIter {
        let (one, several) = match self {
            Few::One(element) => (Some(element), Vec::new()),
            Few::Several(elements) => (None, elements),
        };
        one.into_iter().chain(several)
    }
}

impl<'f, T> IntoIterator for &'f Few<T> {
    type Item = &'f T;
    type IntoIter = slice::Iter<'f, T>;

    fn into_iter(self) -> slice::Iter<'f, T> {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::Few;

    #[test]
    fn list_of_any_length_equals_its_vec() {
        for length in 0..4 {
            let mut few: Few<usize> = (0..length).collect();
            let all: Vec<usize> = (0..length).collect();
            assert_eq!(*few, *all);
            assert_eq!((&few).into_iter().count(), length);
            assert_eq!(few.clone().into_iter().collect::<Vec<_>>(), all);
            assert_eq!(matches!(few, Few::One(_)), length == 1);
            few.retain(|element| *element != 0);
            assert_eq!(*few, all[length.min(1)..]);
        }
    }
}
