//! Reads attributes of the graph: converts the values in the view to numbers, texts and links, with AWS's default or a
//! reason for absent ones.

use super::{BareName, Field, Lowering, Path, Policy, View};
use crate::graph::attributes::Read;
use crate::graph::{
    AsPlain, Attribute, Cause, Kind, Link, Name, Reason, Scalar, SourcedValue, State, Target, Unresolved,
};
use conditions::{Cases, Condition};
use source::Span;

impl<V: View> Lowering<V> {
    /// Reads the attribute at `path`: `default` if it is absent, else the result of `convert`.
    pub(super) fn read<T: Clone>(
        &mut self,
        within: &V::Value,
        path: Path,
        default: &T,
        mut convert: impl FnMut(&mut V, &V::Value) -> Result<T, Unresolved>,
    ) -> Attribute<T> {
        let found = self.attribute(within, path);
        let absent = |_: &str| State::Default(default.clone());
        self.convert(found, absent, |this, value| convert(&mut this.view, &value))
    }

    /// Reads a required attribute, which is unresolved if it is absent.
    pub(super) fn required<T>(
        &mut self,
        within: &V::Value,
        path: Path,
        mut convert: impl FnMut(&mut V, &V::Value) -> Result<T, Unresolved>,
    ) -> Attribute<T> {
        let found = self.attribute(within, path);
        let absent = |name: &str| State::Unresolved(V::missing(name).into());
        self.convert(found, absent, |this, value| convert(&mut this.view, &value))
    }

    /// Converts each case of `found`: written values with `convert`, absent ones with `absent`.
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

    /// Reads an attribute without parts, `default` if it is absent. An undeclared target makes a link dangle.
    pub(super) fn plain<T: AsPlain + Clone>(&mut self, within: &V::Value, path: Path, default: T) -> Attribute<T> {
        let found = self.read(within, path, &default, |view, value| {
            T::read(&mut Written { view, value })
        });
        let is_number = matches!(T::KIND, Kind::Number | Kind::Seconds);
        // The tool rejects null instead of treating it as absent.
        let is_refused = is_number && self.view.is_refused_null(within, path);
        found.map(|state| match state {
            State::Default(_) if is_refused => {
                State::Unresolved(Cause::WrongType.because("null is not a whole number").into())
            }
            State::Unresolved(reason) => match reason.undeclared_name().and_then(T::dangling) {
                Some(dangling) => State::Set(dangling),
                None => State::Unresolved(reason),
            },
            known => known,
        })
    }

    /// Returns a reader of the declared attributes of a resource.
    pub(super) fn reading<'l>(&'l mut self, written: &'l V::Value) -> Reading<'l, V> {
        Reading {
            lowering: self,
            written,
        }
    }

    /// Returns whether a setting has a value other than `off`.
    pub(super) fn is_not(&mut self, within: &V::Value, path: Path, off: &str) -> Attribute<bool> {
        self.read(within, path, &true, |view, value| Ok(view.text(value)? != off))
    }

    /// Reads an optional attribute, `None` if it is absent.
    pub(super) fn optional<T: Clone>(
        &mut self,
        within: &V::Value,
        path: Path,
        mut convert: impl FnMut(&mut V, &V::Value) -> Result<T, Unresolved>,
    ) -> Attribute<Option<T>> {
        self.read(within, path, &None, |view, value| convert(view, value).map(Some))
    }

    /// Reads a text, `None` if it is absent.
    pub(super) fn text(&mut self, within: &V::Value, path: Path) -> Attribute<Option<String>> {
        self.plain(within, path, None)
    }

    pub(super) fn link(&mut self, within: &V::Value, path: Path, named: BareName) -> Attribute<Link> {
        let links = self.required(within, path, |view, value| view.link(value, named));
        dangling(links)
    }

    /// Reads the source of a mapping or pipe, and records declared resources that cannot be one.
    pub(super) fn source(&mut self, within: &V::Value, path: Path) -> Attribute<Link> {
        let found = self.attribute(within, path);
        let missing = |name: &str| State::Unresolved(V::missing(name).into());
        let links = self.convert(found, missing, |this, value| {
            let link = this.view.link(&value, BareName::Queue)?;
            if this.is_no_source(&value) {
                this.note_no_queue(&value, &link);
            }
            Ok(link)
        });
        dangling(links)
    }

    /// Returns `true` if `value` is known to name something that neither a mapping nor a pipe can poll.
    pub(super) fn is_no_source(&mut self, value: &V::Value) -> bool {
        match self.view.kind_of(value) {
            Some(kind) => V::NO_SOURCES.contains(&&*kind),
            None => (self.view.link(value, BareName::Queue)).is_ok_and(|link| link.is_never_a_source()),
        }
    }

    /// Records the type of the declared resource that `value`, whose link is `link`, names.
    pub(super) fn note_no_queue(&mut self, value: &V::Value, link: &Link) {
        if let Some(kind) = self.view.kind_of(value)
            && matches!(link.target, Target::Resource(_) | Target::OtherUnit { .. })
        {
            self.graph.not_queues.push((link.target.clone(), kind));
        }
    }

    /// Returns the link of `value`, as the attribute `name`.
    pub(in crate::frontend) fn link_of(&mut self, name: impl Into<Name>, value: &V::Value) -> Attribute<Link> {
        let name = name.into();
        let link = self.link(value, "", BareName::Queue);
        Attribute { name, ..link }
    }

    /// Reads the policy at `path`, `None` if it is absent. `read` receives an object, or the reason why the value is
    /// not an object, and its span.
    pub(super) fn policy<T>(
        &mut self,
        within: &V::Value,
        path: Path,
        mut read: impl FnMut(&mut Self, Result<V::Value, Reason>, Span) -> Result<T, Unresolved>,
    ) -> Attribute<Option<T>> {
        let Attribute { name, cases } = self.attribute(within, path);
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

    /// Returns the value of `field`, called `key`; absent if the object that begins at `span` does not have it.
    pub(super) fn entry(
        &mut self,
        field: Option<&Field<V::Value>>,
        key: &'static str,
        span: Span,
    ) -> Attribute<Option<V::Value>> {
        match field {
            None => Attribute::absent(key, None, span),
            Some(field) => Attribute {
                name: key.into(),
                ..self.view.attribute(&field.value, "")
            },
        }
    }
}

/// Declared attributes of a resource.
pub(super) struct Reading<'l, V: View> {
    lowering: &'l mut Lowering<V>,
    written: &'l V::Value,
}

impl<V: View> Read for Reading<'_, V> {
    fn attribute<T: AsPlain + Clone>(&mut self, name: Path, default: T) -> Attribute<T> {
        self.lowering.plain(self.written, name, default)
    }
}

/// A written value.
struct Written<'v, V: View> {
    view: &'v mut V,
    value: &'v V::Value,
}

impl<V: View> Scalar for Written<'_, V> {
    fn boolean(&mut self) -> Result<bool, Unresolved> {
        self.view.boolean(self.value)
    }

    fn integer(&mut self) -> Result<i64, Unresolved> {
        self.view.integer(self.value)
    }

    fn text(&mut self) -> Result<String, Unresolved> {
        self.view.text(self.value)
    }

    fn link(&mut self) -> Result<Link, Unresolved> {
        self.view.link(self.value, BareName::Queue)
    }
}

/// Replaces each unresolved link whose target is not declared by a dangling link.
pub(super) fn dangling(links: Attribute<Link>) -> Attribute<Link> {
    links.map(|state| match state {
        State::Unresolved(reason) => match reason.undeclared_name().and_then(Link::dangling) {
            Some(dangling) => State::Set(dangling),
            None => State::Unresolved(reason),
        },
        known => known,
    })
}

/// Returns the field `key` of an object.
pub(super) fn exact<'f, W>(fields: &'f [Field<W>], key: &str) -> Option<&'f Field<W>> {
    fields.iter().find(|field| &*field.key == key)
}

/// Replaces each case of `attribute` by the cases that `split` returns.
pub(super) fn spread<T, U>(
    attribute: Attribute<T>,
    mut split: impl FnMut(&Condition, SourcedValue<T>) -> Cases<SourcedValue<U>>,
) -> Attribute<U> {
    let cases = attribute.cases.into_iter();
    let cases = cases.flat_map(|case| split(&case.when, case.then).under(&case.when));
    Attribute {
        name: attribute.name,
        cases: cases.collect(),
    }
}
