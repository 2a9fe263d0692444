//! Terraform's view of its resources: arguments and nested blocks, with dynamic blocks expanded, evaluated for each
//! case.

use super::among;
use super::archive::Archives;
use super::composed::Names;
use super::link::{function_link, link, qualifier, service};
use super::names;
use crate::frontend::lower::{BareName, Element, Field, Path, Policy, View, last};
use crate::graph::Reason;
use crate::graph::{
    Attribute, Cause, Form, Knowledge, Link, Name, PolicyErrorKind, Published, SetBy, SourcedValue, State, Unresolved,
};
use conditions::{Case, Condition};
use source::Span;
use std::path::PathBuf;
use std::sync::Arc;
use terraform::eval::{Evaluator, Nested, Scope};
use terraform::json;
use terraform::syntax::{Block, Body};
use terraform::value::{Value, ValueKind};

/// The view of one unit.
pub(in crate::frontend::terraform) struct Terraform<'a, 'e> {
    pub(super) eval: &'e mut Evaluator<'a>,
    /// Names composed from unknown values.
    pub(super) names: &'e mut Names,
    /// Archives that the configuration builds.
    pub(super) archives: Archives,
}

/// A resource, block or value of the configuration.
#[derive(Clone)]
pub(in crate::frontend::terraform) struct ConfigurationPart {
    what: PartKind,
    /// Span to report for anything absent in it.
    header: Span,
    /// Condition under which it exists.
    assumed: Condition,
}

#[derive(Clone)]
enum PartKind {
    /// A resource or a nested block.
    Block(Arc<Block>, Arc<Scope>),
    /// A value with its span.
    Value(Value, Span),
    /// Unknown, for this reason.
    Unknown(Reason),
}

impl ConfigurationPart {
    pub(super) fn resource(block: Arc<Block>, scope: Arc<Scope>, assumed: Condition) -> Self {
        ConfigurationPart {
            header: block.header,
            what: PartKind::Block(block, scope),
            assumed,
        }
    }

    /// Returns a view of a value. Anything absent in it is reported at `span`.
    pub(super) fn value(value: Value, span: Span, assumed: Condition) -> Self {
        ConfigurationPart {
            header: span,
            what: PartKind::Value(value, span),
            assumed,
        }
    }

    fn nested(&self, nested: &Nested) -> Self {
        ConfigurationPart {
            header: nested.block.header,
            what: PartKind::Block(nested.block.clone(), Arc::new(nested.scope.clone())),
            assumed: self.assumed.and(&nested.when),
        }
    }

    /// Returns the value with its span; a reason if it is a block or unknown.
    /// Returns the spelling of the argument at `path`.
    fn spelled(&self, path: Path) -> Path {
        match &self.what {
            PartKind::Block(block, _) => block.labels.first().map_or(path, |kind| names::spelled(kind, path)),
            PartKind::Value(..) | PartKind::Unknown(_) => path,
        }
    }

    fn as_value(&self) -> Result<(&Value, Span), Reason> {
        match &self.what {
            PartKind::Value(value, span) => Ok((value, *span)),
            PartKind::Block(..) => Err(Cause::Invalid.because("it is a block")),
            PartKind::Unknown(reason) => Err(reason.clone()),
        }
    }
}

impl View for Terraform<'_, '_> {
    type Value = ConfigurationPart;

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

    const SENDS_NULL: bool = true;

    fn attribute(&mut self, within: &ConfigurationPart, path: Path) -> Attribute<Option<ConfigurationPart>> {
        let path = within.spelled(path);
        let (first, rest) = split(path);
        let (value, span, name) = match &within.what {
            PartKind::Unknown(reason) => return Attribute::unresolved(last(path), reason.clone(), within.header),
            PartKind::Block(block, _) if path.is_empty() => {
                return Attribute::set(path, Some(within.clone()), block.span);
            }
            PartKind::Block(block, scope) if has_block(&block.body, first) => {
                return self.in_blocks(within, block, scope, path);
            }
            PartKind::Block(block, scope) => {
                let name = match rest {
                    "" => self.spelled(block, scope, first),
                    _ => last(path).into(),
                };
                let Some((value, span)) = self.argument(&block.body, scope, first) else {
                    return Attribute::absent(name, None, within.header);
                };
                (self.at(value, rest), span, name)
            }
            PartKind::Value(value, span) => (self.at(value.clone(), path), *span, last(path).into()),
        };
        let cases = value.each_case().restrict(&within.assumed);
        if cases.is_empty() {
            return Attribute::unresolved(
                name,
                Cause::Derived.because("no combination of conditions reaches it"),
                span,
            );
        }
        let cases = cases.map_cases(|when, value| SourcedValue {
            span,
            origins: value.origins.list().into(),
            state: match &value.kind {
                ValueKind::Null => State::Default(None),
                ValueKind::Unknown(_) if !self.names.has(&value) && value.remote().is_none() => {
                    State::Unresolved(bounded(&value))
                }
                _ => State::Set(Some(ConfigurationPart {
                    header: within.header,
                    assumed: within.assumed.and(when),
                    what: PartKind::Value(value, span),
                })),
            },
        });
        Attribute { name, cases }
    }

    fn elements(&mut self, within: &ConfigurationPart, path: Path) -> Vec<Element<ConfigurationPart>> {
        let unknown = |reason: Reason| Element {
            place: Err(reason.clone()),
            when: Condition::always(),
            span: within.header,
            header: within.header,
            written: ConfigurationPart {
                what: PartKind::Unknown(reason),
                ..within.clone()
            },
        };
        let (first, rest) = split(within.spelled(path));
        match &within.what {
            PartKind::Unknown(reason) => vec![unknown(reason.clone())],
            PartKind::Value(value, span) => {
                let value = self.at(value.clone(), path);
                elements(&value, *span, within)
            }
            PartKind::Block(block, scope) if has_block(&block.body, first) => {
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
            PartKind::Block(block, scope) => match self.argument(&block.body, scope, first) {
                None => Vec::new(),
                Some((value, span)) => {
                    let value = self.at(value, rest);
                    elements(&value, span, within)
                }
            },
        }
    }

    fn unknown(&mut self, resource: &ConfigurationPart, is_known: impl Fn(&str) -> bool) -> Vec<(Arc<str>, Span)> {
        match &resource.what {
            // The arguments of the Cloud Control provider are not listed.
            PartKind::Block(block, _) if block.labels.first().is_some_and(|kind| kind.starts_with("awscc_")) => {
                Vec::new()
            }
            PartKind::Block(block, scope) if !self.eval.is_described(scope.module) => {
                let arguments = block.body.attributes.iter().map(|one| (&one.name, one.span));
                let blocks = block.body.blocks.iter().map(|block| (block_type(block), block.header));
                let unknown = arguments.chain(blocks).filter(|(name, _)| !is_known(name));
                unknown.map(|(name, span)| (name.clone(), span)).collect()
            }
            _ => Vec::new(),
        }
    }

    fn fields(&mut self, object: &ConfigurationPart) -> Result<Vec<Field<ConfigurationPart>>, Reason> {
        let (value, span) = object.as_value()?;
        let entries = value.entries().ok_or_else(|| refusal(value, "it is not an object"))?;
        let place = |value: &Value| value.span.unwrap_or(span);
        let fields = entries.iter().map(|(key, value)| Field {
            key: key.clone(),
            span: place(value),
            value: ConfigurationPart::value(value.clone(), place(value), object.assumed.clone()),
        });
        Ok(fields.collect())
    }

    fn policy(&mut self, written: &ConfigurationPart) -> Policy<ConfigurationPart> {
        let (value, span) = match written.as_value() {
            Ok(found) => found,
            Err(reason) => return Policy::Unresolved(reason),
        };
        let unknown = || Policy::Unresolved(refusal(value, "the policy is not known"));
        match &value.kind {
            ValueKind::Text(text) if text.trim().is_empty() => return Policy::Empty,
            ValueKind::Text(_) | ValueKind::Encoded(_) | ValueKind::Rendered(_) | ValueKind::Template(_) => {}
            // The provider accepts nothing but a string.
            ValueKind::List(_) | ValueKind::Set(_) | ValueKind::Map(_) | ValueKind::Bool(_) | ValueKind::Number(_) => {
                return Policy::Malformed(Cause::Invalid.because("the policy is not a string"));
            }
            _ => return unknown(),
        }
        match json::decode(value) {
            Err(_) if !json::is_malformed(value) => unknown(),
            Err(reason) => Policy::Malformed(Cause::Invalid.because(reason)),
            Ok(decoded) => match &decoded.kind {
                ValueKind::Map(entries) if entries.is_empty() => Policy::Empty,
                ValueKind::Map(_) => Policy::Object(ConfigurationPart::value(decoded, span, written.assumed.clone())),
                ValueKind::Cases(_) | ValueKind::Unknown(_) | ValueKind::Reference(..) => unknown(),
                _ => Policy::Malformed(Cause::Invalid.because("the policy is not an object")),
            },
        }
    }

    fn decoded(&mut self, written: &ConfigurationPart) -> Option<ConfigurationPart> {
        let (value, span) = written.as_value().ok()?;
        let decoded = json::decode(value).ok().or_else(|| json::decode_yaml(value))?;
        Some(ConfigurationPart::value(decoded, span, written.assumed.clone()))
    }

    fn inherited_tags(&mut self, resource: &ConfigurationPart) -> Attribute<Option<ConfigurationPart>> {
        let absent = || Attribute::absent("default_tags", None, resource.header);
        let PartKind::Block(block, scope) = &resource.what else {
            return absent();
        };
        let Some(kind) = block.labels.first() else {
            return absent();
        };
        match self.eval.default_tags(kind, &block.body, scope) {
            None => absent(),
            Some((value, span)) => self.attribute(&ConfigurationPart::value(value, span, resource.assumed.clone()), ""),
        }
    }

    fn has(&mut self, within: &ConfigurationPart, key: &str) -> bool {
        match &within.what {
            PartKind::Block(block, _) => {
                has_block(&block.body, key) || block.body.attributes.iter().any(|one| &*one.name == key)
            }
            PartKind::Value(value, _) => value.get(key).is_some(),
            PartKind::Unknown(_) => false,
        }
    }

    fn integer(&mut self, written: &ConfigurationPart) -> Result<i64, Unresolved> {
        let (value, _) = written.as_value()?;
        value.to_whole().ok_or_else(|| bounded(value))
    }

    fn boolean(&mut self, written: &ConfigurationPart) -> Result<bool, Unresolved> {
        let (value, _) = written.as_value()?;
        value
            .to_bool()
            .ok_or_else(|| refusal(value, "it is not a boolean").into())
    }

    fn text(&mut self, written: &ConfigurationPart) -> Result<String, Unresolved> {
        text(self.eval, written.as_value()?.0)
    }

    fn published_name(&mut self, written: &ConfigurationPart) -> Result<String, Unresolved> {
        let value = written.as_value()?.0;
        let name = self.eval.published_name(value).map(|name| name.to_string());
        name.ok_or_else(|| pieced(value, refusal(value, "it is not a name")))
    }

    fn link(&mut self, written: &ConfigurationPart, named: BareName) -> Result<Link, Unresolved> {
        let value = written.as_value()?.0;
        let link = match named {
            BareName::Function => function_link(self.eval, value),
            BareName::Queue | BareName::Parameter => link(self.eval, value),
        };
        link.or_else(|unresolved| self.composed(value, named).ok_or(unresolved))
    }

    fn qualifier(&mut self, written: &ConfigurationPart) -> Result<Option<String>, Unresolved> {
        qualifier(self.eval, written.as_value()?.0)
    }

    fn is_queue(&mut self, written: &ConfigurationPart) -> Option<bool> {
        Some(service(written.as_value().ok()?.0)? == "sqs")
    }

    fn kind_of(&mut self, written: &ConfigurationPart) -> Option<Arc<str>> {
        match &written.as_value().ok()?.0.kind {
            ValueKind::Reference(id, _) if !id.data => Some(id.kind.clone()),
            _ => None,
        }
    }

    fn count_fault(&mut self, written: &ConfigurationPart) -> Option<PolicyErrorKind> {
        let (value, _) = written.as_value().ok()?;
        Some(match &value.kind {
            ValueKind::Text(text) if text.trim().parse::<i64>().is_ok() => {
                let variables = self.eval.instances.iter().flat_map(|one| one.module.variables.values());
                let mut blocks = variables.map(|block| block.span);
                let comes_from_variable = value.span.is_some_and(|span| blocks.any(|block| block.contains(span)));
                if comes_from_variable || value.origins.list().iter().any(|origin| origin.what.contains("var.")) {
                    PolicyErrorKind::CountConverted(text.to_string())
                } else {
                    PolicyErrorKind::CountQuoted(text.to_string())
                }
            }
            ValueKind::Text(text) => PolicyErrorKind::CountNotInteger(text.to_string()),
            ValueKind::Number(number) if !number.is_whole() => PolicyErrorKind::CountNotInteger(number.to_string()),
            ValueKind::Bool(_) | ValueKind::List(_) | ValueKind::Map(_) => {
                let text = json::encode(value).to_text();
                PolicyErrorKind::CountNotInteger(text.map_or_else(String::new, |text| text.to_string()))
            }
            _ => return None,
        })
    }

    fn set_by(&mut self, resource: &ConfigurationPart, path: Path) -> Option<SetBy> {
        match &resource.what {
            PartKind::Block(block, scope) => self.eval.set_by(block, scope.module, path),
            PartKind::Value(..) | PartKind::Unknown(_) => None,
        }
    }

    fn among(&mut self, within: &ConfigurationPart, path: Path) -> Option<Arc<str>> {
        let PartKind::Block(block, scope) = &within.what else {
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

    fn archive(&mut self, within: &ConfigurationPart) -> Option<ConfigurationPart> {
        let PartKind::Block(block, scope) = &within.what else {
            return None;
        };
        let (archive, scope) = self.archives.find(self.eval, block, scope)?;
        Some(ConfigurationPart::resource(archive, scope, within.assumed.clone()))
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
    /// Returns the value of an argument with the span of the argument.
    fn argument(&mut self, body: &Body, scope: &Scope, name: &str) -> Option<(Value, Span)> {
        let attribute = body.attribute(name)?;
        let value = self.eval.eval(&attribute.value, scope);
        let span = match value.span {
            Some(span) if self.eval.is_described(scope.module) => span,
            _ => attribute.span,
        };
        Some((value, span))
    }

    /// Returns the name of an argument as the user wrote it: in a described module, that of the argument of the call.
    fn spelled(&self, block: &Block, scope: &Scope, name: &'static str) -> Name {
        let described = self.eval.instances[scope.module].module.described.as_ref();
        let spelled = match (described, block.labels.as_slice()) {
            (Some(described), [kind, label]) => described.get(&(kind.clone(), label.clone(), name.into())),
            _ => None,
        };
        spelled.map_or_else(|| name.into(), |spelled| spelled.clone().into())
    }

    /// Returns the value at `path` in an object; null if it does not exist.
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

    /// Returns the attribute at `path`, which begins with a block type. The first block of that type that exists
    /// counts.
    fn in_blocks(
        &mut self,
        within: &ConfigurationPart,
        block: &Block,
        scope: &Scope,
        path: Path,
    ) -> Attribute<Option<ConfigurationPart>> {
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
            let absent = SourcedValue::new(State::Default(None), within.header);
            cases.push(Case::new(left, absent));
        }
        Attribute {
            name: last(path).into(),
            cases: cases.into(),
        }
    }
}

/// Splits a path into its first step and the rest.
fn split(path: Path) -> (&'static str, Path) {
    path.split_once('.').unwrap_or((path, ""))
}

/// Returns `true` if a body has or may have blocks of this type. In JSON syntax, such blocks are also represented as
/// arguments.
fn has_block(body: &Body, kind: &str) -> bool {
    body.blocks.iter().any(|block| &**block_type(block) == kind)
}

/// Returns the type of a nested block, or of the blocks that a dynamic block generates.
fn block_type(block: &Block) -> &Arc<str> {
    match (&*block.kind, block.labels.first()) {
        ("dynamic", Some(label)) => label,
        _ => &block.kind,
    }
}

/// Returns the elements of a list. A single value counts as a list of one element.
fn elements(list: &Value, span: Span, within: &ConfigurationPart) -> Vec<Element<ConfigurationPart>> {
    let mut all = Vec::new();
    for Case { when, then: list } in list.each_case() {
        let items = match &list.kind {
            ValueKind::Null => continue,
            ValueKind::List(items) | ValueKind::Set(items) => items.to_vec(),
            _ => vec![list.clone()],
        };
        for (at, item) in items.into_iter().enumerate() {
            let place = match &list.kind {
                ValueKind::Unknown(unknown) => Err(unknown.reason.clone()),
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
                    written: ConfigurationPart::value(item, span, within.assumed.and(&both)),
                    when: both,
                });
            }
        }
    }
    all
}

/// Returns the value as a string.
pub(super) fn text(eval: &mut Evaluator, value: &Value) -> Result<String, Unresolved> {
    let plain = match &value.kind {
        ValueKind::Encoded(inner) | ValueKind::Rendered(inner) => json::encode(inner),
        _ => eval.plain(value.clone()),
    };
    let text = plain.to_text().map(|text| text.to_string());
    text.ok_or_else(|| pieced(&plain, refusal(value, "it is not a string")))
}

/// Explains why `value` is not an integer, with its bounds.
fn bounded(value: &Value) -> Unresolved {
    let reason = match json::encode(value).to_text() {
        Some(shown) if value.is_plain() => Cause::WrongType.because(format!("`{shown}` is not a whole number")),
        _ => refusal(value, "it is not a whole number"),
    };
    match value.bounds() {
        bounds if bounds.is_bounded() => Unresolved::with_knowledge(reason, Knowledge::Number(bounds)),
        _ => pieced(value, reason),
    }
}

/// Returns an unresolved value with `reason`, and its known pieces or the name under which another unit may publish it.
pub(super) fn pieced(value: &Value, reason: Reason) -> Unresolved {
    if let Some(published) = published(value) {
        return Unresolved::with_knowledge(reason, Knowledge::Published(published));
    }
    let ValueKind::Template(parts) = &value.kind else {
        return reason.into();
    };
    let pieces = parts.iter().map(Value::to_text).collect();
    Unresolved::with_knowledge(reason, Knowledge::Text(pieces))
}

/// Returns the published value that names the target of `value`: the whole, or the name at the end of an ARN or a URL.
fn published(value: &Value) -> Option<Arc<Published>> {
    let ValueKind::Template(parts) = &value.kind else {
        return value.published().cloned();
    };
    let (first, last) = (parts.first()?, parts.last()?);
    let Some(start) = first.to_text() else {
        let is_qualified = parts.len() == 2 && last.to_text()?.starts_with(':');
        return first.published().filter(|_| is_qualified).cloned();
    };
    let before = parts.get(parts.len().checked_sub(2)?)?.to_text()?;
    let within = Form::of_last(&start, &before)?;
    let whole = last.published()?;
    Some(Arc::new(Published {
        within: Some(within),
        ..Published::clone(whole)
    }))
}

/// Returns the reason why `value` is unknown, or the reason `or` if it is known but of the wrong type.
pub(super) fn refusal(value: &Value, or: &str) -> Reason {
    match &value.kind {
        ValueKind::Unknown(unknown) => unknown.reason.clone(),
        ValueKind::Reference(id, attribute) => {
            Cause::KnownAfterApply.because(format!("`{}.{attribute}` is known only after apply", id.address()))
        }
        ValueKind::Template(parts) => parts
            .iter()
            .find(|part| part.to_text().is_none())
            .map_or_else(|| Cause::Invalid.because(or), |part| refusal(part, or)),
        ValueKind::Cases(_) => Cause::Unsupported.because("it depends on conditions within a string"),
        _ => Cause::Invalid.because(or),
    }
}
