//! Reads lists: as a whole, with a case for each combination of elements, or element by element.

use super::read::spread;
use super::{Element, Lowering, Path, View, last};
use crate::graph::Reason;
use crate::graph::{Attribute, Cause, Link, Name, SourcedValue, State, Unresolved};
use conditions::{Case, Cases, Condition, TooMany};

impl<V: View> Lowering<V> {
    /// Returns the lists at `inner` in the attribute at `path`, `None` if that is absent.
    pub(super) fn lists(&mut self, within: &V::Value, path: Path, inner: Path) -> Attribute<Option<Vec<V::Value>>> {
        let found = self.attribute(within, path);
        spread(found, |when, sourced| {
            let SourcedValue { state, span, origins } = sourced;
            let lists = match state {
                State::Set(Some(list)) => combinations(self.view.elements(&list, inner), when),
                State::Set(None) | State::Default(_) => {
                    return Cases::one(SourcedValue::new(State::Default(None), span));
                }
                State::Unresolved(unresolved) => Cases::one(Err(unresolved.reason().clone())),
            };
            lists.map(|items| SourcedValue {
                state: items.map_or_else(
                    |reason| State::Unresolved(reason.into()),
                    |items| State::Set(Some(items)),
                ),
                span,
                origins: origins.clone(),
            })
        })
    }

    /// Converts each element of a list; the list is empty if it is absent. The paths are those of the list, or of an
    /// object with the list and of the list in it, and that of the value in an element.
    pub(super) fn each<T>(
        &mut self,
        within: &V::Value,
        [path, list, value]: [Path; 3],
        mut convert: impl FnMut(&mut V, &V::Value) -> Result<T, Unresolved>,
    ) -> Attribute<Vec<Attribute<T>>> {
        let lists = self.lists(within, path, list);
        let absent = |_: &str| State::Default(Vec::new());
        self.convert(lists, absent, |this, items| {
            let name = last(if value.is_empty() { path } else { value });
            let values = items.iter().map(|item| Attribute {
                name: name.into(),
                ..this.required(item, value, &mut convert)
            });
            Ok(values.collect())
        })
    }

    /// Returns the link of each element of the list at `path`. Elements with the same index become cases of one link.
    pub(super) fn links(&mut self, within: &V::Value, path: Path, name: &Name) -> Vec<Attribute<Link>> {
        let mut all: Vec<(Result<usize, Reason>, Vec<Case<SourcedValue<Link>>>)> = Vec::new();
        for element in self.view.elements(within, path) {
            let link = self.link_of(name.clone(), &element.written);
            let cases = link.cases.under(&element.when);
            match all.last_mut() {
                Some((Ok(place), known)) if element.place.as_ref() == Ok(place) => known.extend(cases),
                _ => all.push((element.place, cases.into_iter().collect())),
            }
        }
        let attributes = all.into_iter().map(|(_, cases)| Attribute {
            name: name.clone(),
            cases: cases.into(),
        });
        let mut attributes: Vec<_> = attributes.collect();
        attributes.shrink_to_fit();
        attributes
    }
}

/// Returns the lists that `elements` form under `within`, with a case for each combination of their conditions.
fn combinations<W: Clone>(elements: Vec<Element<W>>, within: &Condition) -> Cases<Result<Vec<W>, Reason>> {
    let each = elements.into_iter().map(|element| {
        let item = element.place.map(|_| element.written);
        let there = Case::new(element.when.clone(), Some(item));
        let cases = [there, Case::new(element.when.not(), None)].into_iter();
        cases.filter(|case| case.when.is_possible()).collect::<Cases<_>>()
    });
    match Cases::product(each, within) {
        Ok(lists) => lists.map(|items| items.into_iter().flatten().collect()),
        Err(TooMany) => Cases::one(Err(Cause::Limit.because("too many combinations of conditions"))),
    }
}
