//! Lists whose copies share their first items: every run of a handler starts with the variables and objects of its
//! module, and changes few of them.

use std::collections::BTreeMap;
use std::ops::{Index, IndexMut};
use std::sync::Arc;

/// A list that copies an item of a shared beginning only to change it.
#[derive(Debug, Clone)]
pub(super) struct Layers<T> {
    shared: Arc<Vec<T>>,
    /// Changed items of `shared`, by index.
    changed: BTreeMap<usize, T>,
    added: Vec<T>,
}

impl<T> From<Vec<T>> for Layers<T> {
    fn from(added: Vec<T>) -> Self {
        Layers {
            shared: Arc::default(),
            changed: BTreeMap::new(),
            added,
        }
    }
}

impl<T: Clone> Layers<T> {
    /// Returns the same list, whose copies share all items.
    pub(super) fn shared(self) -> Self {
        Layers {
            shared: Arc::new(self.iter().cloned().collect()),
            ..Layers::from(Vec::new())
        }
    }

    pub(super) fn push(&mut self, item: T) {
        self.added.push(item);
    }

    pub(super) fn len(&self) -> usize {
        self.shared.len() + self.added.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len()).map(|at| &self[at])
    }

    /// Returns `true` if a shared item may have changed.
    pub(super) fn has_changed(&self) -> bool {
        !self.changed.is_empty()
    }

    /// Returns the number of items that are not shared.
    pub(super) fn own_len(&self) -> usize {
        self.changed.len() + self.added.len()
    }

    /// Returns the indexes of the items that are not shared, in order.
    pub(super) fn own(&self) -> Vec<usize> {
        let changed = self.changed.keys().copied();
        changed.chain(self.shared.len()..self.len()).collect()
    }
}

impl<T> Index<usize> for Layers<T> {
    type Output = T;

    fn index(&self, at: usize) -> &T {
        match at.checked_sub(self.shared.len()) {
            Some(at) => &self.added[at],
            None => self.changed.get(&at).unwrap_or(&self.shared[at]),
        }
    }
}

impl<T: Clone> IndexMut<usize> for Layers<T> {
    fn index_mut(&mut self, at: usize) -> &mut T {
        match at.checked_sub(self.shared.len()) {
            Some(at) => &mut self.added[at],
            None => self.changed.entry(at).or_insert_with(|| self.shared[at].clone()),
        }
    }
}
