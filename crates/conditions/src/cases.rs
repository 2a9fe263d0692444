//! Values under conditions: the possible results of an expression, each with the condition under which it applies.
//!
//! ```text
//! VisibilityTimeout: !If [IsProd, 300, !If [IsLarge, 60, 30]]
//! Timeout: !If [IsProd, 50, 10]
//! ```
//!
//! The first is `300 when IsProd`, `60 when not IsProd and IsLarge`, `30 when not IsProd and not IsLarge`. The
//! [product](Cases::product) of the two has three cases and not six (`300, 50 when IsProd` and so on), because 300 and
//! 10 exclude each other. If the conditions are unrelated, a product can be as long as its lists multiplied; beyond
//! [`MAX_CASES`] the result is [`TooMany`] and never a truncated list.

use super::Condition;
use std::ops::{Deref, DerefMut};

/// Maximum number of cases in a list that is computed from others.
pub const MAX_CASES: usize = 64;

/// Error: a list would have more than [`MAX_CASES`] cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooMany;

/// A value and the condition under which it applies. It dereferences to the value.
#[derive(Debug, Clone)]
pub struct Case<V> {
    /// Condition under which the value applies.
    pub when: Condition,
    /// The value.
    pub then: V,
}

impl<V> Case<V> {
    /// Creates the case that `then` applies under `when`.
    pub const fn new(when: Condition, then: V) -> Self {
        Case { when, then }
    }
}

impl<V> Deref for Case<V> {
    type Target = V;

    fn deref(&self) -> &V {
        &self.then
    }
}

impl<V> DerefMut for Case<V> {
    fn deref_mut(&mut self) -> &mut V {
        &mut self.then
    }
}

/// Values under conditions that exclude each other. A single case is stored inline: nearly every value of a graph has
/// one.
#[derive(Debug, Clone)]
pub struct Cases<V>(Few<V>);

#[derive(Debug, Clone)]
enum Few<V> {
    One(Case<V>),
    Several(Box<[Case<V>]>),
}

impl<V> Cases<V> {
    /// Creates a single case that always applies.
    pub const fn one(then: V) -> Self {
        Cases(Few::One(Case::new(Condition::always(), then)))
    }

    /// Applies `change` to each value.
    pub fn map<U>(self, mut change: impl FnMut(V) -> U) -> Cases<U> {
        self.map_cases(|_, value| change(value))
    }

    /// Applies `change` to each value and its condition.
    pub fn map_cases<U>(self, mut change: impl FnMut(&Condition, V) -> U) -> Cases<U> {
        let mut changed = |Case { when, then }| {
            let then = change(&when, then);
            Case::new(when, then)
        };
        Cases(match self.0 {
            Few::One(case) => Few::One(changed(case)),
            Few::Several(cases) => Few::Several(cases.into_iter().map(changed).collect()),
        })
    }

    /// Replaces each value by the cases that `next` returns for it, under the conditions of both.
    pub fn and_then<U>(self, mut next: impl FnMut(&Condition, V) -> Cases<U>) -> Result<Cases<U>, TooMany> {
        let mut all = Vec::new();
        for Case { when, then } in self {
            all.extend(next(&when, then).under(&when));
            if all.len() > MAX_CASES {
                return Err(TooMany);
            }
        }
        Ok(all.into())
    }

    /// Adds `when` to the condition of every case and drops those that become impossible.
    #[must_use]
    pub fn under(self, when: &Condition) -> Self {
        if when.is_always() {
            return self;
        }
        let both = self.into_iter().map(|case| Case::new(when.and(&case.when), case.then));
        both.filter(|case| case.when.is_possible()).collect()
    }

    /// Keeps the cases that are possible under `when`. A condition that `when` implies becomes "always", so the result
    /// is only valid where `when` holds.
    #[must_use]
    pub fn restrict(self, when: &Condition) -> Self {
        let possible = self.into_iter().filter(|case| when.is_possible_with(&case.when));
        let restricted = possible.map(|case| {
            if when.implies(&case.when) {
                Cases::one(case.then)
            } else {
                case.into()
            }
        });
        restricted.flatten().collect()
    }

    /// Joins the cases whose values are equal by `same`; the condition of a joined case is the disjunction.
    pub fn merged(cases: impl IntoIterator<Item = Case<V>>, same: impl Fn(&V, &V) -> bool) -> Result<Self, TooMany> {
        let mut all: Vec<Case<V>> = Vec::new();
        for case in cases {
            if let Some(known) = all.iter_mut().find(|known| same(&known.then, &case.then)) {
                known.when = known.when.or(&case.when);
            } else if all.len() < MAX_CASES {
                all.push(case);
            } else {
                return Err(TooMany);
            }
        }
        Ok(all.into())
    }
}

impl<V: Clone> Cases<V> {
    /// Combines one value of each of `lists` in every way that is possible under `within`.
    pub fn product(lists: impl IntoIterator<Item = Cases<V>>, within: &Condition) -> Result<Cases<Vec<V>>, TooMany> {
        let mut all = vec![Case::new(Condition::always(), Vec::new())];
        for list in lists {
            if let Few::One(only) = &list.0
                && only.when.is_always()
            {
                for case in &mut all {
                    case.then.push(only.then.clone());
                }
                continue;
            }
            let mut next = Vec::new();
            for before in &all {
                for case in &list {
                    let when = before.when.and(&case.when);
                    if within.is_possible_with(&when) {
                        let then = before.then.iter().chain([&case.then]).cloned().collect();
                        next.push(Case::new(when, then));
                    }
                }
                if next.len() > MAX_CASES {
                    return Err(TooMany);
                }
            }
            all = next;
        }
        Ok(all.into())
    }
}

impl<V> Deref for Cases<V> {
    type Target = [Case<V>];

    fn deref(&self) -> &[Case<V>] {
        match &self.0 {
            Few::One(case) => std::slice::from_ref(case),
            Few::Several(cases) => cases,
        }
    }
}

impl<V> DerefMut for Cases<V> {
    fn deref_mut(&mut self) -> &mut [Case<V>] {
        match &mut self.0 {
            Few::One(case) => std::slice::from_mut(case),
            Few::Several(cases) => cases,
        }
    }
}

impl<V> From<Case<V>> for Cases<V> {
    fn from(case: Case<V>) -> Self {
        Cases(Few::One(case))
    }
}

impl<V> From<Vec<Case<V>>> for Cases<V> {
    fn from(mut cases: Vec<Case<V>>) -> Self {
        match (cases.len(), cases.pop()) {
            (1, Some(case)) => case.into(),
            (_, last) => {
                cases.extend(last);
                Cases(Few::Several(cases.into()))
            }
        }
    }
}

impl<V> FromIterator<Case<V>> for Cases<V> {
    fn from_iter<I: IntoIterator<Item = Case<V>>>(cases: I) -> Self {
        let mut cases = cases.into_iter();
        match (cases.next(), cases.next()) {
            (Some(case), None) => case.into(),
            (first, second) => first.into_iter().chain(second).chain(cases).collect::<Vec<_>>().into(),
        }
    }
}

impl<V> IntoIterator for Cases<V> {
    type Item = Case<V>;
    type IntoIter = std::iter::Chain<std::option::IntoIter<Case<V>>, std::vec::IntoIter<Case<V>>>;

    fn into_iter(self) -> Self::IntoIter {
        let (one, several) = match self.0 {
            Few::One(case) => (Some(case), Vec::new()),
            Few::Several(cases) => (None, cases.into_vec()),
        };
        one.into_iter().chain(several)
    }
}

impl<'c, V> IntoIterator for &'c Cases<V> {
    type Item = &'c Case<V>;
    type IntoIter = std::slice::Iter<'c, Case<V>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'c, V> IntoIterator for &'c mut Cases<V> {
    type Item = &'c mut Case<V>;
    type IntoIter = std::slice::IterMut<'c, Case<V>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn flag(name: &str) -> Condition {
        Condition::flag(name, name).named(name)
    }

    fn either<V>(name: &str, yes: V, no: V) -> Cases<V> {
        [Case::new(flag(name), yes), Case::new(flag(name).not(), no)]
            .into_iter()
            .collect()
    }

    fn shown<V: std::fmt::Debug>(cases: &Cases<V>) -> String {
        let all = cases.iter().map(|case| match case.when.describe() {
            Some(when) => format!("{:?} when {when}", case.then),
            None => format!("{:?}", case.then),
        });
        all.collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn product_omits_impossible_combinations() {
        let visibility = either("IsProd", 300, 0);
        let visibility = visibility.and_then(|_, value| match value {
            0 => either("IsLarge", 60, 30),
            value => Cases::one(value),
        });
        let lists = [visibility.unwrap(), either("IsProd", 50, 10)];
        let both = Cases::product(lists.clone(), &Condition::always()).unwrap();
        assert_eq!(
            shown(&both),
            "[300, 50] when IsProd; [60, 10] when IsLarge and not IsProd; [30, 10] when not IsLarge and not IsProd"
        );
        let not_large = Cases::product(lists, &flag("IsLarge").not()).unwrap();
        assert_eq!(not_large.len(), 2);
    }

    #[test]
    fn product_beyond_the_bound_is_an_error() {
        let lists = |count: usize| (0..count).map(|at| either(&format!("C{at}"), at, 0));
        assert_eq!(Cases::product(lists(6), &Condition::always()).unwrap().len(), MAX_CASES);
        assert_eq!(Cases::product(lists(7), &Condition::always()).unwrap_err(), TooMany);
        let nested = |_: &Condition, _| Cases::product(lists(6), &Condition::always()).unwrap();
        assert_eq!(either("Other", 1, 2).and_then(nested).unwrap_err(), TooMany);
    }

    #[test]
    fn cases_are_restricted_and_merged() {
        let three = either("A", 1, 0).and_then(|_, value| match value {
            0 => either("B", 1, 2),
            value => Cases::one(value),
        });
        let three = three.unwrap();
        assert_eq!(shown(&three), "1 when A; 1 when B and not A; 2 when not A and not B");
        assert_eq!(shown(&three.clone().restrict(&flag("A"))), "1");
        assert_eq!(
            shown(&three.clone().restrict(&flag("A").not())),
            "1 when B and not A; 2 when not A and not B"
        );
        assert_eq!(
            shown(&three.clone().under(&flag("B").not())),
            "1 when A and not B; 2 when not A and not B"
        );
        assert_eq!(
            shown(&Cases::merged(three, |a, b| a == b).unwrap()),
            "1 when A or (B and not A); 2 when not A and not B"
        );
    }
}
