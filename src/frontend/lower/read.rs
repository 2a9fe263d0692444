//! Reads attributes of the graph: what the view shows, turned into numbers, texts and links, with AWS's default or the
//! reason where nothing is written.

use super::{Field, Lowering, Named, Path, Policy, View};
use crate::conditions::{Cases, Condition};
use crate::graph::{Attribute, Cause, Form, Link, Name, Reason, Seconds, Sourced, State, Target, Unresolved};
use crate::source::Span;

impl<V: View> Lowering<V> {
    /// The attribute at `path`: `default` where nothing is written, else what `convert` makes of it.
    pub(super) fn read<T: Clone>(
        &mut self,
        within: &V::Written,
        path: Path,
        default: &T,
        mut convert: impl FnMut(&mut V, &V::Written) -> Result<T, Unresolved>,
    ) -> Attribute<T> {
        let found = self.view.attribute(within, path);
        let absent = |_: &str| State::Default(default.clone());
        self.convert(found, absent, |this, value| convert(&mut this.view, &value))
    }

    /// An attribute that has to be written: unresolved where it is not.
    pub(super) fn required<T>(
        &mut self,
        within: &V::Written,
        path: Path,
        mut convert: impl FnMut(&mut V, &V::Written) -> Result<T, Unresolved>,
    ) -> Attribute<T> {
        let found = self.view.attribute(within, path);
        let absent = |name: &str| State::Unresolved(V::missing(name).into());
        self.convert(found, absent, |this, value| convert(&mut this.view, &value))
    }

    /// What `convert` makes of what is written in `found`, and `absent` of its name where nothing is.
    pub(super) fn convert<W, T>(
        &mut self,
        found: Attribute<Option<W>>,
        absent: impl Fn(&str) -> State<T>,
        mut convert: impl FnMut(&mut Self, W) -> Result<T, Unresolved>,
    ) -> Attribute<T> {
        let name = found.name.clone();
        found.map(|state| match state {
            State::Set(Some(value)) => convert(self, value).map_or_else(State::Unresolved, State::Set),
            State::Set(None) | State::Default(_) => absent(&name),
            State::Unresolved(reason) => State::Unresolved(reason),
        })
    }

    pub(super) fn integer(&mut self, within: &V::Written, path: Path, default: i64) -> Attribute<i64> {
        let number = self.read(within, path, &default, V::integer);
        self.without_null(within, path, number)
    }

    /// `number`, as long as no null stands in its place that is refused.
    fn without_null<T>(&self, within: &V::Written, path: Path, number: Attribute<T>) -> Attribute<T> {
        if !self.view.is_refused_null(within, path) {
            return number;
        }
        number.map(|state| match state {
            State::Default(_) => State::Unresolved(Cause::WrongType.because("null is not a whole number").into()),
            other => other,
        })
    }

    pub(super) fn seconds(&mut self, within: &V::Written, path: Path, default: Seconds) -> Attribute<Seconds> {
        let number = self.read(within, path, &default, |view, value| view.integer(value).map(Seconds));
        self.without_null(within, path, number)
    }

    pub(super) fn flag(&mut self, within: &V::Written, path: Path, default: bool) -> Attribute<bool> {
        self.read(within, path, &default, V::boolean)
    }

    /// Whether a setting has any value but `off`.
    pub(super) fn is_not(&mut self, within: &V::Written, path: Path, off: &str) -> Attribute<bool> {
        self.read(within, path, &true, |view, value| Ok(view.text(value)? != off))
    }

    /// What `convert` makes of a value, `None` where nothing is written.
    pub(super) fn optional<T: Clone>(
        &mut self,
        within: &V::Written,
        path: Path,
        mut convert: impl FnMut(&mut V, &V::Written) -> Result<T, Unresolved>,
    ) -> Attribute<Option<T>> {
        self.read(within, path, &None, |view, value| convert(view, value).map(Some))
    }

    /// A whole number, `None` where nothing is written.
    pub(super) fn optional_integer(&mut self, within: &V::Written, path: Path) -> Attribute<Option<i64>> {
        let number = self.optional(within, path, V::integer);
        self.without_null(within, path, number)
    }

    /// A text, `None` where nothing is written.
    pub(super) fn text(&mut self, within: &V::Written, path: Path) -> Attribute<Option<String>> {
        self.optional(within, path, V::text)
    }

    /// A link, `None` where nothing is written.
    pub(super) fn optional_link(&mut self, within: &V::Written, path: Path) -> Attribute<Option<Link>> {
        let links = self.optional(within, path, |view, value| view.link(value, Named::Queue));
        dangling(links, Some)
    }

    pub(super) fn link(&mut self, within: &V::Written, path: Path, named: Named) -> Attribute<Link> {
        let links = self.required(within, path, |view, value| view.link(value, named));
        dangling(links, |link| link)
    }

    /// What a mapping or pipe reads. Declared resources that none can read are noted.
    pub(super) fn source(&mut self, within: &V::Written, path: Path) -> Attribute<Link> {
        let found = self.view.attribute(within, path);
        let missing = |name: &str| State::Unresolved(V::missing(name).into());
        let links = self.convert(found, missing, |this, value| {
            let link = this.view.link(&value, Named::Queue)?;
            if this.is_no_source(&value) {
                this.note_no_queue(&value, &link);
            }
            Ok(link)
        });
        dangling(links, |link| link)
    }

    /// Whether `value` is known to name something that no mapping or pipe can read.
    pub(super) fn is_no_source(&mut self, value: &V::Written) -> bool {
        match self.view.kind_of(value) {
            Some(kind) => V::NO_SOURCES.contains(&&*kind),
            None => (self.view.link(value, Named::Queue)).is_ok_and(|link| link.is_no_source()),
        }
    }

    /// Notes the type of the declared resource that `value`, which is `link`, names.
    pub(super) fn note_no_queue(&mut self, value: &V::Written, link: &Link) {
        if let Some(kind) = self.view.kind_of(value)
            && matches!(link.target, Target::Resource(_) | Target::Elsewhere { .. })
        {
            self.graph.not_queues.push((link.target.clone(), kind));
        }
    }

    /// What `value`, called `name`, points to.
    pub(in crate::frontend) fn link_of(&mut self, name: impl Into<Name>, value: &V::Written) -> Attribute<Link> {
        let name = name.into();
        let link = self.link(value, "", Named::Queue);
        Attribute { name, ..link }
    }

    /// The policy at `path`, `None` where there is none. `read` gets an object, or why the value is none, and its place.
    pub(super) fn policy<T>(
        &mut self,
        within: &V::Written,
        path: Path,
        mut read: impl FnMut(&mut Self, Result<V::Written, Reason>, Span) -> Result<T, Unresolved>,
    ) -> Attribute<Option<T>> {
        let Attribute { name, cases } = self.view.attribute(within, path);
        let cases = cases.map(|sourced| {
            let span = sourced.span;
            sourced.map(|state| {
                let object = match state {
                    State::Set(Some(value)) => match self.view.policy(&value) {
                        Policy::Empty => return State::Set(None),
                        Policy::Object(object) => Ok(object),
                        Policy::Malformed(reason) => Err(reason),
                        Policy::Unresolved(reason) => return State::Unresolved(reason.into()),
                    },
                    State::Set(None) | State::Default(_) => return State::Default(None),
                    State::Unresolved(reason) => return State::Unresolved(reason),
                };
                read(self, object, span).map_or_else(State::Unresolved, |policy| State::Set(Some(policy)))
            })
        });
        Attribute { name, cases }
    }

    /// What `field` holds, which is called `key`; nothing where the object that begins at `span` does not have it.
    pub(super) fn entry(
        &mut self,
        field: Option<&Field<V::Written>>,
        key: &'static str,
        span: Span,
    ) -> Attribute<Option<V::Written>> {
        match field {
            None => Attribute::absent(key, None, span),
            Some(field) => Attribute {
                name: key.into(),
                ..self.view.attribute(&field.value, "")
            },
        }
    }
}

/// `links` with a link that dangles in place of each that is not known because nothing declares what it names.
pub(super) fn dangling<T>(links: Attribute<T>, to: impl Fn(Link) -> T) -> Attribute<T> {
    links.map(|state| match state {
        State::Unresolved(reason) => match reason.undeclared_name() {
            Some(name) => State::Set(to(Link {
                target: Target::Dangling(name.into()),
                form: Form::Arn,
            })),
            None => State::Unresolved(reason),
        },
        known => known,
    })
}

/// The field `key` of an object.
pub(super) fn exact<'f, W>(fields: &'f [Field<W>], key: &str) -> Option<&'f Field<W>> {
    fields.iter().find(|field| &*field.key == key)
}

/// `attribute` with several cases in the place of each, as `split` tells them apart.
pub(super) fn spread<T, U>(
    attribute: Attribute<T>,
    mut split: impl FnMut(&Condition, Sourced<T>) -> Cases<Sourced<U>>,
) -> Attribute<U> {
    let cases = attribute.cases.into_iter();
    let cases = cases.flat_map(|case| split(&case.when, case.then).under(&case.when));
    Attribute {
        name: attribute.name,
        cases: cases.collect(),
    }
}
