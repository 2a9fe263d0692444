//! What Terraform shows of its resources: arguments and nested blocks, dynamic ones expanded, evaluated case by case.

use super::super::eval::{Evaluator, Nested, Scope};
use super::super::json;
use super::super::syntax::{Block, Body};
use super::super::value::{Kind, Value};
use super::among;
use super::archive::Archives;
use super::composed::Names;
use super::link::{function_link, link, qualifier, service};
use crate::conditions::{Case, Condition};
use crate::frontend::lower::{Element, Field, Named, Path, Policy, View, last};
use crate::graph::Reason;
use crate::graph::{Attribute, Cause, Knowledge, Link, Name, PolicyFault, SetBy, Sourced, State, Target, Unresolved};
use crate::source::Span;
use std::path::PathBuf;
use std::sync::Arc;

/// The configuration of one unit.
pub(in crate::frontend::terraform) struct Terraform<'a, 'e> {
    pub(super) eval: &'e mut Evaluator<'a>,
    /// Names that are put together from something unknown.
    pub(super) names: &'e mut Names,
    /// Archives that the configuration makes.
    pub(super) archives: Archives,
}

/// Something that a configuration says.
#[derive(Clone)]
pub(in crate::frontend::terraform) struct Written {
    what: What,
    /// Where to point at something absent.
    header: Span,
    /// Where it stands.
    assumed: Condition,
}

#[derive(Clone)]
enum What {
    /// A resource, or a block in it.
    Block(Arc<Block>, Arc<Scope>),
    /// A value and its place.
    Value(Value, Span),
    /// Not known.
    Unknown(Reason),
}

impl Written {
    pub(super) fn resource(block: Arc<Block>, scope: Arc<Scope>, assumed: Condition) -> Self {
        Written {
            header: block.header,
            what: What::Block(block, scope),
            assumed,
        }
    }

    /// A value; what it holds is absent at `header`.
    pub(super) fn value(value: Value, span: Span, assumed: Condition) -> Self {
        Written {
            header: span,
            what: What::Value(value, span),
            assumed,
        }
    }

    fn nested(&self, nested: &Nested) -> Self {
        Written {
            header: nested.block.header,
            what: What::Block(nested.block.clone(), Arc::new(nested.scope.clone())),
            assumed: self.assumed.and(&nested.when),
        }
    }

    /// The single value that it is, and its place.
    fn as_value(&self) -> Result<(&Value, Span), Reason> {
        match &self.what {
            What::Value(value, span) => Ok((value, *span)),
            What::Block(..) => Err(Cause::Invalid.because("it is a block")),
            What::Unknown(reason) => Err(reason.clone()),
        }
    }
}

impl View for Terraform<'_, '_> {
    type Written = Written;

    const NO_SOURCES: &'static [&'static str] = &[
        "aws_cloudwatch_event_bus",
        "aws_cloudwatch_event_rule",
        "aws_cloudwatch_log_group",
        "aws_lambda_alias",
        "aws_lambda_function",
        "aws_s3_bucket",
        "aws_sfn_state_machine",
        "aws_sns_topic",
    ];

    const AWAITS_QUEUE_POLICIES: bool = true;

    fn attribute(&mut self, within: &Written, path: Path) -> Attribute<Option<Written>> {
        let (first, rest) = split(path);
        let (value, span, name) = match &within.what {
            What::Unknown(reason) => return Attribute::unresolved(last(path), reason.clone(), within.header),
            What::Block(block, _) if path.is_empty() => {
                return Attribute::set(path, Some(within.clone()), block.span);
            }
            What::Block(block, scope) if has_block(&block.body, first) => {
                return self.in_blocks(within, block, scope, path);
            }
            What::Block(block, scope) => {
                let name = match rest {
                    "" => self.spelled(block, scope, first),
                    _ => last(path).into(),
                };
                let Some((value, span)) = self.argument(&block.body, scope, first) else {
                    return Attribute::absent(name, None, within.header);
                };
                (self.at(value, rest), span, name)
            }
            What::Value(value, span) => (self.at(value.clone(), path), *span, last(path).into()),
        };
        let cases = value.each_case().restrict(&within.assumed);
        if cases.is_empty() {
            return Attribute::unresolved(
                name,
                Cause::Derived.because("no combination of conditions reaches it"),
                span,
            );
        }
        let cases = cases.map_cases(|when, value| Sourced {
            span,
            origins: value.origins.list().into(),
            state: match &value.kind {
                Kind::Null => State::Default(None),
                Kind::Unknown(_) if !self.names.has(&value) => State::Unresolved(bounded(&value)),
                _ => State::Set(Some(Written {
                    header: within.header,
                    assumed: within.assumed.and(when),
                    what: What::Value(value, span),
                })),
            },
        });
        Attribute { name, cases }
    }

    fn elements(&mut self, within: &Written, path: Path) -> Vec<Element<Written>> {
        let unknown = |reason: Reason| Element {
            place: Err(reason.clone()),
            when: Condition::always(),
            span: within.header,
            header: within.header,
            written: Written {
                what: What::Unknown(reason),
                ..within.clone()
            },
        };
        let (first, rest) = split(path);
        match &within.what {
            What::Unknown(reason) => vec![unknown(reason.clone())],
            What::Value(value, span) => {
                let value = self.at(value.clone(), path);
                elements(&value, *span, within)
            }
            What::Block(block, scope) if has_block(&block.body, first) => {
                let blocks = match self.eval.blocks(&block.body, scope, first) {
                    Ok(blocks) => blocks.into_iter().enumerate(),
                    Err(reason) => return vec![unknown(reason)],
                };
                let elements = blocks.flat_map(|(at, nested)| {
                    let element = Element {
                        place: Ok(at),
                        when: nested.when.clone(),
                        span: nested.span,
                        header: nested.block.header,
                        written: within.nested(&nested),
                    };
                    if rest.is_empty() {
                        return vec![element];
                    }
                    let mut inner = self.elements(&element.written, rest);
                    for one in &mut inner {
                        one.when = one.when.and(&nested.when);
                    }
                    inner
                });
                elements.collect()
            }
            What::Block(block, scope) => match self.argument(&block.body, scope, first) {
                None => Vec::new(),
                Some((value, span)) => {
                    let value = self.at(value, rest);
                    elements(&value, span, within)
                }
            },
        }
    }

    fn fields(&mut self, object: &Written) -> Result<Vec<Field<Written>>, Reason> {
        let (value, span) = object.as_value()?;
        let entries = value.entries().ok_or_else(|| refusal(value, "it is not an object"))?;
        let place = |value: &Value| value.span.unwrap_or(span);
        let fields = entries.iter().map(|(key, value)| Field {
            key: key.clone(),
            span: place(value),
            value: Written::value(value.clone(), place(value), object.assumed.clone()),
        });
        Ok(fields.collect())
    }

    fn policy(&mut self, written: &Written) -> Policy<Written> {
        let (value, span) = match written.as_value() {
            Ok(found) => found,
            Err(reason) => return Policy::Unresolved(reason),
        };
        let unknown = || Policy::Unresolved(refusal(value, "the policy is not known"));
        match &value.kind {
            Kind::Text(text) if text.trim().is_empty() => return Policy::Empty,
            Kind::Text(_) | Kind::Encoded(_) | Kind::Rendered(_) | Kind::Template(_) => {}
            // The provider takes a string and nothing else.
            Kind::List(_) | Kind::Set(_) | Kind::Map(_) | Kind::Bool(_) | Kind::Number(_) => {
                return Policy::Malformed(Cause::Invalid.because("the policy is not a string"));
            }
            _ => return unknown(),
        }
        match json::decode(value) {
            Err(_) if !json::is_malformed(value) => unknown(),
            Err(reason) => Policy::Malformed(Cause::Invalid.because(reason)),
            Ok(decoded) => match &decoded.kind {
                Kind::Map(entries) if entries.is_empty() => Policy::Empty,
                Kind::Map(_) => Policy::Object(Written::value(decoded, span, written.assumed.clone())),
                Kind::Cases(_) | Kind::Unknown(_) | Kind::Reference(..) => unknown(),
                _ => Policy::Malformed(Cause::Invalid.because("the policy is not an object")),
            },
        }
    }

    fn decoded(&mut self, written: &Written) -> Option<Written> {
        let (value, span) = written.as_value().ok()?;
        let decoded = json::decode(value).ok()?;
        Some(Written::value(decoded, span, written.assumed.clone()))
    }

    fn inherited_tags(&mut self, resource: &Written) -> Attribute<Option<Written>> {
        let absent = || Attribute::absent("default_tags", None, resource.header);
        let What::Block(block, scope) = &resource.what else {
            return absent();
        };
        let Some(kind) = block.labels.first() else {
            return absent();
        };
        match self.eval.default_tags(kind, &block.body, scope) {
            None => absent(),
            Some((value, span)) => self.attribute(&Written::value(value, span, resource.assumed.clone()), ""),
        }
    }

    fn has(&mut self, within: &Written, key: &str) -> bool {
        match &within.what {
            What::Block(block, _) => {
                has_block(&block.body, key) || block.body.attributes.iter().any(|one| &*one.name == key)
            }
            What::Value(value, _) => value.get(key).is_some(),
            What::Unknown(_) => false,
        }
    }

    fn integer(&mut self, written: &Written) -> Result<i64, Unresolved> {
        let (value, _) = written.as_value()?;
        value.to_whole().ok_or_else(|| bounded(value))
    }

    fn boolean(&mut self, written: &Written) -> Result<bool, Unresolved> {
        let (value, _) = written.as_value()?;
        value
            .to_bool()
            .ok_or_else(|| refusal(value, "it is not a boolean").into())
    }

    fn text(&mut self, written: &Written) -> Result<String, Unresolved> {
        text(self.eval, written.as_value()?.0)
    }

    fn link(&mut self, written: &Written, named: Named) -> Result<Link, Unresolved> {
        let value = written.as_value()?.0;
        let link = match named {
            Named::Function => function_link(self.eval, value),
            Named::Queue | Named::Parameter => link(self.eval, value),
        };
        link.or_else(|unresolved| self.composed(value, named).ok_or(unresolved))
    }

    fn qualifier(&mut self, written: &Written) -> Result<Option<String>, Unresolved> {
        qualifier(self.eval, written.as_value()?.0)
    }

    fn is_queue(&mut self, written: &Written) -> Option<bool> {
        Some(service(written.as_value().ok()?.0)? == "sqs")
    }

    fn refers_to(&mut self, written: &Written, link: &Link) -> bool {
        written.as_value().is_ok_and(|(value, _)| refers_to(value, link))
    }

    fn kind_of(&mut self, written: &Written) -> Option<Arc<str>> {
        match &written.as_value().ok()?.0.kind {
            Kind::Reference(id, _) if !id.data => Some(id.kind.clone()),
            _ => None,
        }
    }

    fn count_fault(&mut self, written: &Written) -> Option<PolicyFault> {
        let (value, _) = written.as_value().ok()?;
        Some(match &value.kind {
            Kind::Text(text) if text.trim().parse::<i64>().is_ok() => PolicyFault::CountQuoted(text.to_string()),
            Kind::Text(text) => PolicyFault::CountNotInteger(text.to_string()),
            Kind::Number(number) if !number.is_whole() => PolicyFault::CountNotInteger(number.to_string()),
            Kind::Bool(_) | Kind::List(_) | Kind::Map(_) => {
                let text = json::encode(value).to_text();
                PolicyFault::CountNotInteger(text.map_or_else(String::new, |text| text.to_string()))
            }
            _ => return None,
        })
    }

    fn set_by(&mut self, resource: &Written, path: Path) -> Option<SetBy> {
        match &resource.what {
            What::Block(block, scope) => self.eval.set_by(block, scope.module, path),
            What::Value(..) | What::Unknown(_) => None,
        }
    }

    fn among(&mut self, within: &Written, path: Path) -> Option<Arc<str>> {
        let What::Block(block, scope) = &within.what else {
            return None;
        };
        among::among(block, path, &self.eval.instances[scope.module].path)
    }

    fn is_among(address: &str, among: &str) -> bool {
        among::is_within(address, among)
    }

    fn directory(&self) -> Option<PathBuf> {
        Some(self.eval.instances.first()?.module.directory.clone())
    }

    fn archive(&mut self, within: &Written) -> Option<Written> {
        let What::Block(block, scope) = &within.what else {
            return None;
        };
        let (archive, scope) = self.archives.find(self.eval, block, scope)?;
        Some(Written::resource(archive, scope, within.assumed.clone()))
    }

    fn missing(name: &str) -> Reason {
        Cause::Invalid.because(format!("`{name}` is not set"))
    }
}

impl<'a, 'e> Terraform<'a, 'e> {
    pub(super) fn new(eval: &'e mut Evaluator<'a>, names: &'e mut Names) -> Self {
        let archives = Archives::default();
        Terraform { eval, names, archives }
    }
}

impl Terraform<'_, '_> {
    /// The value of an argument and the place of the argument.
    fn argument(&mut self, body: &Body, scope: &Scope, name: &str) -> Option<(Value, Span)> {
        let attribute = body.attribute(name)?;
        let value = self.eval.eval(&attribute.value, scope);
        let span = match value.span {
            Some(span) if self.eval.is_described(scope.module) => span,
            _ => attribute.span,
        };
        Some((value, span))
    }

    /// An argument as the user spells it: in a module that is known by a description, as its call does.
    fn spelled(&self, block: &Block, scope: &Scope, name: &'static str) -> Name {
        let described = self.eval.instances[scope.module].module.described.as_ref();
        let spelled = match (described, block.labels.as_slice()) {
            (Some(described), [kind, label]) => described.spelling.get(&(kind.clone(), label.clone(), name.into())),
            _ => None,
        };
        spelled.map_or_else(|| name.into(), |spelled| spelled.clone().into())
    }

    /// What lies at `path` in an object; null where it does not.
    fn at(&mut self, value: Value, path: Path) -> Value {
        let keys = path.split('.').filter(|key| !key.is_empty());
        keys.fold(value, |object, key| {
            self.eval
                .lift(vec![object], &mut |eval, objects| match objects.as_slice() {
                    [object] if object.is_null() => object.clone(),
                    [object] if object.entries().is_some() && object.get(key).is_none() => Value::null(),
                    [object] => eval.attribute(object, &key.into()),
                    _ => Value::null(),
                })
        })
    }

    /// What lies at `path`, which begins with a kind of block. Where several stand there the first one counts.
    fn in_blocks(&mut self, within: &Written, block: &Block, scope: &Scope, path: Path) -> Attribute<Option<Written>> {
        let (kind, rest) = split(path);
        let blocks = match self.eval.blocks(&block.body, scope, kind) {
            Ok(blocks) => blocks,
            Err(reason) => return Attribute::unresolved(last(path), reason, within.header),
        };
        let mut left = Condition::always();
        let mut cases = Vec::new();
        for nested in blocks {
            let written = within.nested(&nested);
            let inner = match rest {
                "" => Attribute::set(kind, Some(written), nested.span),
                _ => self.attribute(&written, rest),
            };
            cases.extend(inner.cases.under(&nested.when.and(&left)));
            left = left.and(&nested.when.not());
        }
        if left.is_possible() {
            let absent = Sourced::new(State::Default(None), within.header);
            cases.push(Case::new(left, absent));
        }
        Attribute {
            name: last(path).into(),
            cases: cases.into(),
        }
    }
}

/// Whether `value` holds a reference to the resource that `link` names.
fn refers_to(value: &Value, link: &Link) -> bool {
    match &value.kind {
        Kind::Reference(id, _) => {
            matches!(&link.target, Target::Resource(address) if !id.data && address == id.address())
        }
        Kind::Template(parts) => parts.iter().any(|part| refers_to(part, link)),
        _ => false,
    }
}

/// The first step of a path, and the others.
fn split(path: Path) -> (&'static str, Path) {
    path.split_once('.').unwrap_or((path, ""))
}

/// Whether a body has blocks of this kind, or may have: in the JSON spelling they are arguments, too.
fn has_block(body: &Body, kind: &str) -> bool {
    body.blocks.iter().any(|block| match &*block.kind {
        "dynamic" => block.labels.first().is_some_and(|label| &**label == kind),
        other => other == kind,
    })
}

/// The elements of `value` as a list; a single value counts as a list of it.
fn elements(list: &Value, span: Span, within: &Written) -> Vec<Element<Written>> {
    let mut all = Vec::new();
    for Case { when, then: list } in list.each_case() {
        let items = match &list.kind {
            Kind::Null => continue,
            Kind::List(items) | Kind::Set(items) => items.to_vec(),
            _ => vec![list.clone()],
        };
        for (at, item) in items.into_iter().enumerate() {
            let place = match &list.kind {
                Kind::Unknown(unknown) => Err(unknown.reason.clone()),
                _ => Ok(at),
            };
            for Case { when: case, then: item } in item.each_case() {
                let both = when.and(&case);
                if item.is_null() || !within.assumed.is_possible_with(&both) {
                    continue;
                }
                let span = item.span.unwrap_or(span);
                all.push(Element {
                    place: place.clone(),
                    span,
                    header: span,
                    written: Written::value(item, span, within.assumed.and(&both)),
                    when: both,
                });
            }
        }
    }
    all
}

/// A text.
pub(super) fn text(eval: &mut Evaluator, value: &Value) -> Result<String, Unresolved> {
    let plain = match &value.kind {
        Kind::Encoded(inner) | Kind::Rendered(inner) => json::encode(inner),
        _ => eval.plain(value.clone()),
    };
    let text = plain.to_text().map(|text| text.to_string());
    text.ok_or_else(|| pieced(&plain, refusal(value, "it is not a string")))
}

/// Why `value` is not a whole number, with the numbers that it may be.
fn bounded(value: &Value) -> Unresolved {
    let reason = match json::encode(value).to_text() {
        Some(shown) if value.is_plain() => Cause::WrongType.because(format!("`{shown}` is not a whole number")),
        _ => refusal(value, "it is not a whole number"),
    };
    match value.bounds() {
        bounds if bounds.is_bounded() => Unresolved::knowing(reason, Knowledge::Number(bounds)),
        _ => reason.into(),
    }
}

/// That `value` is unresolved because of `reason`, with its known pieces.
pub(super) fn pieced(value: &Value, reason: Reason) -> Unresolved {
    let Kind::Template(parts) = &value.kind else {
        return reason.into();
    };
    let pieces = parts.iter().map(Value::to_text).collect();
    Unresolved::knowing(reason, Knowledge::Text(pieces))
}

/// Why `value` is not what it ought to be: because it is not known, or `or`.
pub(super) fn refusal(value: &Value, or: &str) -> Reason {
    match &value.kind {
        Kind::Unknown(unknown) => unknown.reason.clone(),
        Kind::Reference(id, attribute) => {
            Cause::KnownAfterApply.because(format!("`{}.{attribute}` is known only after apply", id.address()))
        }
        Kind::Template(parts) => parts
            .iter()
            .find(|part| part.to_text().is_none())
            .map_or_else(|| Cause::Invalid.because(or), |part| refusal(part, or)),
        Kind::Cases(_) => Cause::Unsupported.because("it depends on conditions within a string"),
        _ => Cause::Invalid.because(or),
    }
}
