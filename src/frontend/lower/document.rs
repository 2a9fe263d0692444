//! Lowers policy documents: their statements, in any location and any spelling.
//!
//! An unresolved part stays unresolved, or makes the document opaque. This module does not decide what is permitted.

use super::{BareName, Element, Field, Lowering, Path, View};
use crate::graph::Reason;
use crate::graph::access::{Effect, Negates, PolicyDocument, Principal, Statement, StatementCondition};
use crate::graph::{Attribute, Cause, Link, Name, State, Target, Unresolved};
use conditions::Condition;
use source::Span;

impl<V: View> Lowering<V> {
    /// Returns the policy document at `path`, or `None` if it is absent.
    pub(super) fn optional_document(&mut self, within: &V::Value, path: Path) -> Attribute<Option<PolicyDocument>> {
        self.policy(within, path, |this, object, span| Ok(this.document_of(&object?, span)?))
    }

    /// Returns the policy document at `path`, unresolved if it is absent.
    pub(super) fn document(&mut self, within: &V::Value, path: Path) -> Attribute<PolicyDocument> {
        let document = self.optional_document(within, path);
        let name = document.name.clone();
        document.try_map(|document| document.ok_or_else(|| V::missing(&name).into()))
    }

    fn document_of(&mut self, object: &V::Value, span: Span) -> Result<PolicyDocument, Reason> {
        let fields = self.view.fields(object)?;
        let version = |view: &mut V, value: &V::Value| view.text(value).map(Some);
        let mut document = PolicyDocument {
            version: self.field(&fields, "Version", span, |_| State::Default(None), version),
            statements: Vec::new(),
            opaque: None,
        };
        let statements = find(&fields, "Statement").map(|field| self.view.elements(&field.value, ""));
        for element in statements.into_iter().flatten() {
            match self.view.fields(&element.written) {
                Ok(fields) => document
                    .statements
                    .push(self.statement(&fields, element.span, element.when)),
                Err(reason) => document.opaque = Some(reason),
            }
        }
        document.statements.shrink_to_fit();
        Ok(document)
    }

    fn statement(&mut self, fields: &[Field<V::Value>], span: Span, when: Condition) -> Statement {
        // A statement has only one of the two.
        let either = |plain, negated| match (find(fields, plain), find(fields, negated)) {
            (None, Some(_)) => negated,
            _ => plain,
        };
        let effect = |view: &mut V, value: &V::Value| match view.text(value)?.as_str() {
            "Allow" => Ok(Effect::Allow),
            "Deny" => Ok(Effect::Deny),
            other => Err(Cause::Invalid
                .because(format!("`{other}` is neither `Allow` nor `Deny`"))
                .into()),
        };
        let (actions, resources) = (either("Action", "NotAction"), either("Resource", "NotResource"));
        let principals = either("Principal", "NotPrincipal");
        let negates = Negates {
            principals: principals == "NotPrincipal",
            actions: actions == "NotAction",
            resources: resources == "NotResource",
        };
        let resources = find(fields, resources).map(|field| self.links(&field.value, "", &"Resource".into()));
        Statement {
            span,
            when,
            effect: self.field(
                fields,
                "Effect",
                span,
                |name| State::Unresolved(V::missing(name).into()),
                effect,
            ),
            principals: self.field(fields, principals, span, |_| State::Default(Vec::new()), principals_of),
            actions: self.field(fields, actions, span, |_| State::Default(Vec::new()), texts),
            resources: resources.unwrap_or_default(),
            conditions: self.statement_conditions(fields),
            negates,
        }
    }

    fn statement_conditions(&mut self, statement: &[Field<V::Value>]) -> Result<Vec<StatementCondition>, Reason> {
        let mut all = Vec::new();
        let Some(written) = find(statement, "Condition") else {
            return Ok(all);
        };
        for operator in self.view.fields(&written.value)? {
            for key in self.view.fields(&operator.value)? {
                all.push(StatementCondition {
                    operator: operator.key.to_string(),
                    key: key.key.to_string(),
                    has_only_wildcards: self.has_only_wildcards(&key.value),
                    values: self.condition_values(&key.value, &key.key.into()),
                });
            }
        }
        Ok(all)
    }

    /// Returns `true` if each element of `list` contains `*` or `?`, as far as it is known.
    fn has_only_wildcards(&mut self, list: &V::Value) -> bool {
        let elements = self.view.elements(list, "");
        elements.iter().all(|element| match self.view.text(&element.written) {
            Ok(text) => text.contains(['*', '?']),
            Err(unresolved) => unresolved
                .pattern()
                .is_some_and(|known| known.contains("*") || known.contains("?")),
        })
    }

    /// Returns the values of a condition: flags as texts, and everything else as links.
    fn condition_values(&mut self, list: &V::Value, name: &Name) -> Vec<Attribute<Link>> {
        let mut flags = Vec::new();
        let elements = self.view.elements(list, "");
        for element in &elements {
            if self
                .view
                .text(&element.written)
                .is_ok_and(|text| text != "true" && text != "false")
            {
                break;
            }
            let Ok(flag) = self.view.boolean(&element.written) else {
                break;
            };
            let link = Link::to(Target::External(flag.to_string().into()));
            let value = Attribute::set(name.clone(), link, element.span);
            flags.push(Attribute {
                cases: value.cases.under(&element.when),
                ..value
            });
        }
        if flags.len() == elements.len() {
            flags
        } else {
            self.links(list, "", name)
        }
    }

    /// Converts the value of `key` in an object that begins at `span`.
    fn field<T>(
        &mut self,
        fields: &[Field<V::Value>],
        key: &'static str,
        span: Span,
        absent: impl Fn(&str) -> State<T>,
        mut convert: impl FnMut(&mut V, &V::Value) -> Result<T, Unresolved>,
    ) -> Attribute<T> {
        let found = self.entry(find(fields, key), key, span);
        self.convert(found, absent, |this, value| convert(&mut this.view, &value))
    }
}

/// Returns the field `key` of an object. IAM ignores the case of keys.
fn find<'f, W>(fields: &'f [Field<W>], key: &str) -> Option<&'f Field<W>> {
    fields.iter().find(|field| field.key.eq_ignore_ascii_case(key))
}

/// Returns the texts in a list, or a single one.
fn texts<V: View>(view: &mut V, list: &V::Value) -> Result<Vec<String>, Unresolved> {
    let elements = view.elements(list, "").into_iter();
    let text = |element: Element<V::Value>| {
        if element.when.is_always() {
            view.text(&element.written)
        } else {
            Err(Cause::Unsupported.because("it depends on a condition").into())
        }
    };
    let mut texts: Vec<String> = elements.map(text).collect::<Result<_, _>>()?;
    // Collecting in place kept the capacity of the elements, each ten times the size of a text.
    texts.shrink_to_fit();
    Ok(texts)
}

fn principals_of<V: View>(view: &mut V, value: &V::Value) -> Result<Vec<Principal>, Unresolved> {
    let Ok(kinds) = view.fields(value) else {
        let id = view.text(value)?;
        return Ok(vec![Principal {
            kind: if id == "*" { "*" } else { "AWS" }.to_owned(),
            id: Some(id),
        }]);
    };
    let mut all = Vec::new();
    for kind in kinds {
        for id in view.elements(&kind.value, "") {
            if !id.when.is_always() {
                return Err(Cause::Unsupported.because("it depends on a condition").into());
            }
            all.push(Principal {
                kind: kind.key.to_string(),
                id: view.text(&id.written).ok().or_else(|| arn(view, &id.written)),
            });
        }
    }
    all.shrink_to_fit();
    Ok(all)
}

/// Returns an ARN in which only the partition, the Region or the account is unresolved:
/// `arn:aws:iam::${AWS::AccountId}:root`.
fn arn<V: View>(view: &mut V, value: &V::Value) -> Option<String> {
    match view.link(value, BareName::Queue).ok()?.target {
        Target::External(written) if written.starts_with("arn:") => Some(written.to_string()),
        _ => None,
    }
}
