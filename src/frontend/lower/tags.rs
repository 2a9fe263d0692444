//! Lowers tags: a map, or a list of keys and values, with the tags that the tool adds to every resource.

use super::{Field, Lowering, Path, View};
use crate::graph::{Attribute, Cause, Reason, SourcedValue, State, Tag, Tags};
use conditions::{Cases, Condition};

/// Keys of an element if tags are a list.
const KEY: &str = "Key";
const VALUE: &str = "Value";

impl<V: View> Lowering<V> {
    /// Returns the tags of `resource`, at the first of `paths` that is written.
    pub(super) fn tags(&mut self, resource: &V::Value, paths: &[Path]) -> Attribute<Tags> {
        let is_written = |this: &mut Self, path: &&Path| this.view.has(resource, path);
        let written = paths.iter().find(|path| is_written(self, path));
        let path = written.or(paths.last()).copied().unwrap_or_default();
        let own = self.map(resource, path);
        let inherited = self.view.inherited_tags(resource);
        if inherited.cases.iter().all(|case| case.is_default()) {
            own
        } else {
            self.with_inherited(own, &inherited)
        }
    }

    /// Returns the tags of `resource`, or `None` if it has none.
    pub(super) fn tags_if_any(&mut self, resource: &V::Value, paths: &[Path]) -> Option<Box<Attribute<Tags>>> {
        let tags = self.tags(resource, paths);
        let is_empty = |tags: &Tags| tags.entries.is_empty() && tags.opaque.is_none();
        let mut cases = tags.cases.iter();
        let has_none = cases.all(|case| case.value().is_some_and(is_empty));
        (!has_none).then(|| Box::new(tags))
    }

    /// Returns the map at `path`, whose entries are read like tags.
    pub(super) fn map(&mut self, resource: &V::Value, path: Path) -> Attribute<Tags> {
        let found = self.attribute(resource, path);
        let absent = |_: &str| State::Default(Tags::default());
        self.convert(found, absent, |this, value| Ok(this.tags_of(&value)))
    }

    /// Appends to `own` the tags that the tool adds.
    fn with_inherited(&mut self, own: Attribute<Tags>, inherited: &Attribute<Option<V::Value>>) -> Attribute<Tags> {
        let mut further: Vec<(Condition, Result<Tags, Reason>)> = Vec::new();
        for case in &inherited.cases {
            let tags = match &case.state {
                State::Set(Some(value)) => Ok(self.tags_of(value)),
                State::Set(None) | State::Default(_) => continue,
                State::Unresolved(unresolved) => Err(unresolved.reason().clone()),
            };
            further.push((case.when.clone(), tags));
        }
        own.map(|state| {
            let (mut tags, is_set) = match state {
                State::Set(tags) => (tags, true),
                State::Default(tags) => (tags, false),
                State::Unresolved(unresolved) => return State::Unresolved(unresolved),
            };
            for (when, more) in &further {
                match more {
                    Ok(more) => {
                        let entries = more.entries.iter().map(|tag| Tag {
                            when: tag.when.and(when),
                            ..tag.clone()
                        });
                        tags.entries.extend(entries);
                        tags.opaque = tags.opaque.or_else(|| more.opaque.clone());
                    }
                    Err(reason) => tags.opaque = tags.opaque.or_else(|| Some(reason.clone())),
                }
            }
            if is_set { State::Set(tags) } else { State::Default(tags) }
        })
    }

    fn tags_of(&mut self, value: &V::Value) -> Tags {
        let mut tags = Tags::default();
        if let Ok(fields) = self.view.fields(value) {
            tags.entries.reserve_exact(fields.len());
            for field in fields {
                self.add_tag(&mut tags, &field, &Condition::always());
            }
            return tags;
        }
        for element in self.view.elements(value, "") {
            if let Err(reason) = &element.place {
                tags.opaque = Some(reason.clone());
                continue;
            }
            let fields = self.view.fields(&element.written);
            let key = self.text(&element.written, KEY);
            let key = match (key.known(), fields) {
                (Some(Some(key)), Ok(fields)) => {
                    fields
                        .into_iter()
                        .find(|field| &*field.key == VALUE)
                        .map(|field| Field {
                            key: key.as_str().into(),
                            ..field
                        })
                }
                _ => None,
            };
            match key {
                Some(field) => self.add_tag(&mut tags, &field, &element.when),
                None => tags.opaque = Some(Cause::Derived.because("a tag's key is not known")),
            }
        }
        tags
    }

    /// Adds the tag `field`, unless it is null.
    fn add_tag(&mut self, tags: &mut Tags, field: &Field<V::Value>, when: &Condition) {
        let found = self.view.attribute(&field.value, "");
        let written: Vec<_> = (found.cases.into_iter())
            .filter(|case| !matches!(case.state, State::Default(_) | State::Set(None)))
            .collect();
        if written.is_empty() {
            return;
        }
        let set = written.iter().fold(Condition::never(), |all, case| all.or(&case.when));
        let found = Attribute {
            name: self.tag_keys.shared(field.key.to_string()).into(),
            cases: written.into_iter().collect::<Cases<SourcedValue<Option<V::Value>>>>(),
        };
        let value = self.convert(
            found,
            |_| State::Default(String::new()),
            |this, value| this.view.text(&value),
        );
        tags.entries.push(Tag {
            value,
            when: when.and(&set),
        });
    }
}
