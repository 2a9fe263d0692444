//! The view of a template's resources for the lowering: properties, evaluated case by case on demand.

use super::json_text::{self, Json};
use super::target;
use crate::frontend::lower::{BareName, Build, Element, Field, Path, Policy, View, last};
use crate::graph::{
    Attribute, Cause, Knowledge, Link, Origin, PolicyErrorKind, Reason, SetBy, SourcedValue, State, Unresolved,
};
use cloudformation::document::scalar;
use cloudformation::parameters::Parameter;
use cloudformation::template::Template;
use cloudformation::value::{Evaluated, Outcome, Outcomes, Part, always};
use conditions::{Case, Cases, Condition};
use source::Span;
use std::path::PathBuf;
use std::sync::Arc;
use trees::{Entry, Node, Value};

/// Properties used by rules that SAM's `Globals` may set.
const GLOBAL_SETTINGS: [&str; 7] = [
    "Timeout",
    "ReservedConcurrentExecutions",
    "Runtime",
    "MemorySize",
    "Architectures",
    "Layers",
    "Environment.Variables",
];

/// The resources of one template.
pub(in crate::frontend::cloudformation) struct CloudFormation<'a, 't> {
    pub(super) template: &'a Template<'t>,
}

/// A value in a template.
#[derive(Clone)]
pub(in crate::frontend::cloudformation) struct TemplateValue<'t> {
    what: ValueKind<'t>,
    /// The span for absent attributes.
    header: Span,
    /// The condition under which the value exists.
    assumed: Condition,
    /// `true` if `Globals` in an unread file may add to it.
    may_have_globals: bool,
    /// Settings of the tool that packs its code.
    build: Option<BuildSettings<'t>>,
}

/// Settings of tools that pack the code of a resource.
#[derive(Clone, Copy)]
pub(super) struct BuildSettings<'t> {
    /// `Metadata`.
    pub(super) metadata: Option<&'t Node>,
    /// `true` for a function of SAM.
    pub(super) is_sam: bool,
}

#[derive(Clone)]
enum ValueKind<'t> {
    /// Several values, each with its condition.
    Outcomes(Outcomes<'t>),
    /// A single value and its span.
    Value(Evaluated<'t>, Span),
    /// A value in a JSON text, with the span of the text.
    Json(Json, Span),
}

impl<'t> TemplateValue<'t> {
    /// Creates the properties of a resource.
    pub(super) fn resource(own: Outcomes<'t>, header: Span, assumed: Condition, may_have_globals: bool) -> Self {
        TemplateValue {
            what: ValueKind::Outcomes(own),
            header,
            assumed,
            may_have_globals,
            build: None,
        }
    }

    /// Sets how a tool packs the code of the resource.
    pub(super) fn with_build(self, build: BuildSettings<'t>) -> Self {
        TemplateValue {
            build: Some(build),
            ..self
        }
    }

    /// Creates a value inside this one, which exists under `when`.
    fn inner(&self, what: ValueKind<'t>, header: Span, when: &Condition) -> Self {
        TemplateValue {
            what,
            header,
            assumed: self.assumed.and(when),
            may_have_globals: false,
            build: None,
        }
    }

    /// Returns the value, if it is a single one.
    fn value(&self) -> Result<&Evaluated<'t>, Reason> {
        match &self.what {
            ValueKind::Value(value, _) | ValueKind::Json(Json::Value(value), _) => Ok(value),
            ValueKind::Outcomes(outcomes) => match &**outcomes {
                [only] => Ok(&only.value),
                _ => Err(Cause::Unsupported.because("it depends on a condition")),
            },
            ValueKind::Json(..) => Err(Cause::Invalid.because("a single value is expected here")),
        }
    }
}

impl<'t> View for CloudFormation<'_, 't> {
    type Value = TemplateValue<'t>;

    const NO_SOURCES: &'static [&'static str] = &[
        "AWS::Events::EventBus",
        "AWS::Events::Rule",
        "AWS::Lambda::Alias",
        "AWS::Lambda::Function",
        "AWS::Logs::LogGroup",
        "AWS::S3::Bucket",
        "AWS::SNS::Topic",
        "AWS::Serverless::Function",
        "AWS::StepFunctions::StateMachine",
    ];

    fn attribute(&mut self, within: &TemplateValue<'t>, path: Path) -> Attribute<Option<TemplateValue<'t>>> {
        let name = last(path);
        let absent = || SourcedValue::new(State::Default(None), within.header);
        let is_global = within.may_have_globals && GLOBAL_SETTINGS.contains(&path);
        let cases = match &within.what {
            ValueKind::Json(json, span) => Cases::one(match json.at(path) {
                Json::Value(Evaluated::Absent) => absent(),
                found => {
                    let what = ValueKind::Json(found.clone(), *span);
                    let value = within.inner(what, within.header, &Condition::always());
                    SourcedValue::new(State::Set(Some(value)), *span)
                }
            }),
            _ => self
                .outcomes(within, path)
                .map_cases(|when, outcome| match outcome.value {
                    Evaluated::Absent if is_global => {
                        let reason =
                            Cause::NotRead.because(format!("`Globals` in a file that was not read may set `{name}`"));
                        SourcedValue::new(State::Unresolved(reason.into()), within.header)
                    }
                    Evaluated::Absent => absent(),
                    value => SourcedValue {
                        state: match value {
                            Evaluated::Unresolved(reason) => State::Unresolved(reason.into()),
                            value => {
                                let what = ValueKind::Value(value, outcome.span);
                                State::Set(Some(within.inner(what, within.header, when)))
                            }
                        },
                        span: outcome.span,
                        origins: outcome.origins.into(),
                    },
                }),
        };
        if cases.is_empty() {
            return Attribute::unresolved(
                name,
                Cause::Derived.because("no combination of conditions gives a value"),
                within.header,
            );
        }
        let name = name.into();
        Attribute { name, cases }
    }

    fn elements(&mut self, within: &TemplateValue<'t>, path: Path) -> Vec<Element<TemplateValue<'t>>> {
        let mut all = Vec::new();
        let element = |place, when: Condition, span, what: ValueKind<'t>| {
            let header = first_key(&what).unwrap_or(within.header);
            Element {
                place,
                span,
                header,
                written: within.inner(what, header, &when),
                when,
            }
        };
        if let ValueKind::Json(json, span) = &within.what {
            let items = json.at(path).items().iter().enumerate();
            let present = items.filter(|(_, item)| !matches!(item, Json::Value(Evaluated::Absent)));
            return present
                .map(|(at, item)| element(Ok(at), Condition::always(), *span, ValueKind::Json(item.clone(), *span)))
                .collect();
        }
        for outcome in self.outcomes(within, path) {
            let Case {
                when,
                then: Outcome { value, span, .. },
            } = outcome;
            match &value {
                Evaluated::Absent => {}
                Evaluated::Items(items) => {
                    let texts = items.iter().cloned().map(Evaluated::Text).enumerate();
                    all.extend(
                        texts.map(|(at, text)| element(Ok(at), when.clone(), span, ValueKind::Value(text, span))),
                    );
                }
                Evaluated::Tree(node) if node.items().is_some() => {
                    let assumed = within.assumed.and(&when);
                    for (at, item) in node.items().unwrap_or_default().iter().enumerate() {
                        for found in self.template.argument(item, item.span, &assumed) {
                            if !matches!(found.value, Evaluated::Absent) {
                                let (span, when) = (found.span, when.and(&found.when));
                                all.push(element(Ok(at), when, span, ValueKind::Value(found.then.value, span)));
                            }
                        }
                    }
                }
                _ => {
                    let place = match &value {
                        Evaluated::Unresolved(reason) => Err(reason.clone()),
                        Evaluated::Text(parts) => match parts.as_slice() {
                            [Part::Unresolved { reason, .. }] => Err(reason.clone()),
                            _ => Ok(0),
                        },
                        _ => Ok(0),
                    };
                    all.push(element(place, when, span, ValueKind::Value(value, span)));
                }
            }
        }
        all
    }

    fn unknown(&mut self, resource: &TemplateValue<'t>, is_known: impl Fn(&str) -> bool) -> Vec<(Arc<str>, Span)> {
        let Ok(Evaluated::Tree(properties)) = resource.value() else {
            return Vec::new();
        };
        let entries = properties.entries().unwrap_or_default().iter();
        // `AWS::NoValue` removes a property.
        let is_written = |entry: &&Entry| {
            let outcomes = self.template.eval(&entry.value, entry.span(), &resource.assumed);
            !outcomes
                .iter()
                .all(|outcome| matches!(outcome.value, Evaluated::Absent))
        };
        let unknown = entries.filter(|entry| !is_known(&entry.key)).filter(is_written);
        unknown.map(|entry| (entry.key.clone(), entry.key_span)).collect()
    }

    fn fields(&mut self, object: &TemplateValue<'t>) -> Result<Vec<Field<TemplateValue<'t>>>, Reason> {
        let always = Condition::always();
        if let ValueKind::Json(Json::Object(entries), span) = &object.what {
            let fields = entries.iter().map(|(key, value)| Field {
                key: key.clone(),
                span: *span,
                value: object.inner(ValueKind::Json(value.clone(), *span), *span, &always),
            });
            return Ok(fields.collect());
        }
        let value = object.value()?;
        let Evaluated::Tree(node) = value else {
            return Err(value
                .text()
                .err()
                .unwrap_or_else(|| Cause::Invalid.because("an object is expected here")));
        };
        let entries = node
            .entries()
            .ok_or_else(|| Cause::Invalid.because("an object is expected here"))?;
        if entries.iter().any(|entry| entry.key.starts_with("Fn::")) {
            return Err(Cause::Unsupported.because("a macro fills it in"));
        }
        let fields = entries.iter().map(|entry| {
            let outcomes = self.template.eval(&entry.value, entry.span(), &object.assumed);
            Field {
                key: entry.key.clone(),
                span: entry.key_span,
                value: object.inner(ValueKind::Outcomes(outcomes), object.header, &always),
            }
        });
        Ok(fields.collect())
    }

    fn policy(&mut self, written: &TemplateValue<'t>) -> Policy<TemplateValue<'t>> {
        let (value, span) = match &written.what {
            ValueKind::Value(value, span) => (value, *span),
            _ => return Policy::Malformed(Cause::Invalid.because("a policy is an object")),
        };
        match value {
            Evaluated::Absent => Policy::Empty,
            Evaluated::Unresolved(reason) => Policy::Unresolved(reason.clone()),
            Evaluated::Items(_) => Policy::Malformed(Cause::Invalid.because("a policy is an object")),
            Evaluated::Tree(node) => match node.entries() {
                None => Policy::Malformed(Cause::Invalid.because("a policy is an object")),
                Some([]) => Policy::Empty,
                Some(entries) if entries.iter().any(|entry| entry.key.starts_with("Fn::")) => {
                    Policy::Unresolved(Cause::Unsupported.because("a macro fills it in"))
                }
                Some(_) => Policy::Object(written.clone()),
            },
            Evaluated::Text(parts) => match json_text::policy(parts, span) {
                Policy::Empty => Policy::Empty,
                Policy::Malformed(reason) => Policy::Malformed(reason),
                Policy::Unresolved(reason) => Policy::Unresolved(reason),
                Policy::Object(json) => {
                    Policy::Object(written.inner(ValueKind::Json(json, span), span, &Condition::always()))
                }
            },
        }
    }

    /// Returns `true` for any null: CloudFormation accepts none.
    fn is_refused_null(&self, within: &TemplateValue<'t>, path: &str) -> bool {
        let is_null = |value: &Evaluated<'_>| {
            let Evaluated::Tree(node) = value else { return false };
            let written = path.split('.').try_fold(*node, |node, key| node.get(key));
            written.is_some_and(|written| written.value == Value::Null)
        };
        match &within.what {
            ValueKind::Outcomes(own) => own.iter().any(|outcome| is_null(&outcome.value)),
            ValueKind::Value(value, _) => is_null(value),
            ValueKind::Json(..) => false,
        }
    }

    /// Returns the tags of `Globals` if their file is not read. Those of the stack are set at deployment.
    fn inherited_tags(&mut self, resource: &TemplateValue<'t>) -> Attribute<Option<TemplateValue<'t>>> {
        if resource.may_have_globals {
            let reason = Cause::NotRead.because("`Globals` in a file that was not read may add tags");
            return Attribute::unresolved("Tags", reason, resource.header);
        }
        Attribute::absent("Tags", None, resource.header)
    }

    fn has(&mut self, within: &TemplateValue<'t>, key: &str) -> bool {
        let in_tree = |value: &Evaluated<'_>| matches!(value, Evaluated::Tree(node) if node.entry(key).is_some());
        let is_there = match &within.what {
            ValueKind::Outcomes(own) => own.iter().any(|outcome| in_tree(&outcome.value)),
            ValueKind::Value(value, _) => in_tree(value),
            ValueKind::Json(..) => false,
        };
        is_there
            && self
                .outcomes(within, key)
                .iter()
                .any(|outcome| !matches!(outcome.value, Evaluated::Absent))
    }

    fn integer(&mut self, value: &TemplateValue<'t>) -> Result<i64, Unresolved> {
        let value = value.value()?;
        if value.is_several() {
            return Err(Cause::WrongType
                .because("a list or an object is not a whole number")
                .into());
        }
        let text = value.text().map_err(|reason| self.bounded(value, reason))?;
        whole_number(&text).ok_or_else(|| {
            // A required parameter has an empty default.
            let cause = if text.trim().is_empty() {
                Cause::Invalid
            } else {
                Cause::WrongType
            };
            cause.because(format!("`{text}` is not a whole number")).into()
        })
    }

    fn boolean(&mut self, value: &TemplateValue<'t>) -> Result<bool, Unresolved> {
        let text = value.value()?.text()?;
        match text.to_ascii_lowercase().as_str() {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(Cause::Invalid
                .because(format!("`{text}` is neither `true` nor `false`"))
                .into()),
        }
    }

    fn text(&mut self, value: &TemplateValue<'t>) -> Result<String, Unresolved> {
        let value = value.value()?;
        value.text().map_err(|reason| pieced(value, reason))
    }

    fn link(&mut self, value: &TemplateValue<'t>, named: BareName) -> Result<Link, Unresolved> {
        let value = value.value()?;
        if named == BareName::Parameter
            && let Some(link) = target::parameter(self.template, value)
        {
            return Ok(link.into());
        }
        let link = self.template.link_to(value, named != BareName::Function);
        link.map(Link::from).map_err(|reason| pieced(value, reason))
    }

    fn qualifier(&mut self, value: &TemplateValue<'t>) -> Result<Option<String>, Unresolved> {
        Ok(target::qualifier(self.template, value.value()?)?)
    }

    fn is_queue(&mut self, value: &TemplateValue<'t>) -> Option<bool> {
        let value = value.value().ok()?;
        match self.template.link(value) {
            Ok(link) => target::is_queue(self.template, &link),
            // The service of an ARN may be known even if the rest is unresolved.
            Err(_) => target::is_of_another(value).then_some(false),
        }
    }

    fn kind_of(&mut self, value: &TemplateValue<'t>) -> Option<Arc<str>> {
        let link = self.template.link(value.value().ok()?).ok()?;
        target::kind(self.template, &link)
    }

    fn count_fault(&mut self, value: &TemplateValue<'t>) -> Option<PolicyErrorKind> {
        let text = match &value.what {
            ValueKind::Json(Json::List(_), _) => "[…]".to_owned(),
            ValueKind::Json(Json::Object(_), _) => "{…}".to_owned(),
            _ => match value.value().ok()? {
                Evaluated::Items(_) => "[…]".to_owned(),
                Evaluated::Tree(node) => if node.items().is_some() { "[…]" } else { "{…}" }.to_owned(),
                value => value.text().ok().filter(|text| whole_number(text).is_none())?,
            },
        };
        Some(PolicyErrorKind::CountNotInteger(text))
    }

    fn directory(&self) -> Option<PathBuf> {
        self.template.directory.clone()
    }

    fn build(&self, within: &TemplateValue<'t>) -> Build {
        let Some(settings) = within.build else {
            return Build::default();
        };
        let text = |name: &str| settings.metadata?.get(name)?.as_str().map(str::to_owned);
        let properties = settings.metadata.and_then(|metadata| metadata.get("BuildProperties"));
        let entry_points = properties.and_then(|properties| properties.get("EntryPoints")?.items());
        let entry_points = entry_points.unwrap_or_default().iter().filter_map(Node::as_str);
        Build {
            // CDK records what it uploads.
            asset: text("aws:asset:path"),
            image: text("DockerContext"),
            entry_points: entry_points.map(str::to_owned).collect(),
            packs_directory: settings.is_sam,
        }
    }

    fn set_by(&mut self, resource: &TemplateValue<'t>, path: Path) -> Option<SetBy> {
        let written = match resource.value().ok()? {
            Evaluated::Absent => None,
            Evaluated::Tree(node) if !node.entries()?.iter().any(|entry| entry.key.starts_with("Fn::")) => {
                node.get(path)
            }
            _ => return None,
        };
        match written {
            None => (!resource.may_have_globals).then_some(SetBy::Itself),
            Some(value) if scalar(value).is_some() => Some(SetBy::Itself),
            Some(value) => match value.entries()? {
                [reference] if &*reference.key == "Ref" => self.template.input(reference.value.as_str()?),
                _ => None,
            },
        }
    }

    fn missing(name: &str) -> Reason {
        Cause::Invalid.because(format!("`{name}` is missing"))
    }
}

impl<'t> CloudFormation<'_, 't> {
    /// Evaluates `path`. A value from `Globals` gets the span of the resource, and `Globals` as its origin.
    fn outcomes(&self, within: &TemplateValue<'t>, path: &str) -> Outcomes<'t> {
        let mut found = match &within.what {
            ValueKind::Outcomes(own) => self.template.path(own, path, &within.assumed),
            ValueKind::Value(value, span) => {
                let own = always(value.clone(), *span);
                self.template.path(&own, path, &within.assumed)
            }
            ValueKind::Json(..) => Outcomes::from(Vec::new()),
        };
        for outcome in &mut found {
            let globals = self.template.globals;
            let is_inherited = globals.is_some_and(|globals| globals.contains(outcome.span));
            if is_inherited && !matches!(outcome.value, Evaluated::Absent) {
                let origin = Origin::new(outcome.span, "`Globals`");
                outcome.origins.reserve_exact(1);
                outcome.origins.insert(0, origin);
                outcome.span = within.header;
            }
        }
        found
    }

    /// Creates an unresolved value with `reason` and the bounds of its parameter.
    fn bounded(&self, value: &Evaluated<'_>, reason: Reason) -> Unresolved {
        let parameter = match value {
            Evaluated::Text(parts) => match parts.as_slice() {
                [Part::Unresolved { text, .. }] => text.strip_prefix("${").and_then(|text| text.strip_suffix('}')),
                _ => None,
            },
            _ => None,
        };
        let parameter = parameter.and_then(|name| self.template.parameter(name));
        match parameter.map(Parameter::bounds) {
            Some(bounds) if bounds.is_bounded() => Unresolved::with_knowledge(reason, Knowledge::Number(bounds)),
            _ => reason.into(),
        }
    }
}

/// Creates an unresolved value with `reason`, and its known pieces or the name under which another unit may publish it.
fn pieced(value: &Evaluated<'_>, reason: Reason) -> Unresolved {
    if let Some(published) = value.published() {
        return Unresolved::with_knowledge(reason, Knowledge::Published(published));
    }
    let Evaluated::Text(parts) = value else {
        return reason.into();
    };
    let pieces = parts.iter().map(|part| match part {
        Part::Text(text) => Some(Arc::from(text.as_str())),
        Part::Reference(_) | Part::Unresolved { .. } => None,
    });
    Unresolved::with_knowledge(reason, Knowledge::Text(pieces.collect()))
}

/// Returns the span of the first key of an object.
fn first_key(what: &ValueKind<'_>) -> Option<Span> {
    match what {
        ValueKind::Value(Evaluated::Tree(node), _) => Some(node.entries()?.first()?.key_span),
        _ => None,
    }
}

/// Parses a whole number, with or without zeros after a point.
fn whole_number(text: &str) -> Option<i64> {
    let text = text.trim();
    let text = match text.split_once('.') {
        Some((whole, zeros)) if !zeros.is_empty() && zeros.bytes().all(|byte| byte == b'0') => whole,
        _ => text,
    };
    text.parse().ok()
}
