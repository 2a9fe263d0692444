//! Lowers resources into the graph: which type becomes which node, and how properties become attributes.

mod access;
mod alarm;
mod delivery;
mod document;
mod elements;
mod function;
mod mapping;
mod queue;
mod reference;

use super::sam;
use super::template::{Declared, Template};
use super::value::{Evaluated, Outcomes};
use crate::conditions::{Cases, Condition};
use crate::graph::{Attribute, Link, Name, Origin, Resource, Seconds, Sourced, State, UnitGraph, UnitId};
use crate::source::Span;
use std::sync::Arc;

/// Fills a graph from a template.
pub(super) struct Lowering<'a, 't> {
    /// The template.
    pub(super) template: &'a Template<'t>,
    /// What has been found.
    pub(super) graph: UnitGraph,
}

/// The properties of one resource, or of a part of it.
struct Properties<'t> {
    own: Outcomes<'t>,
    /// Where to point at something absent.
    header: Span,
    /// Where the resource exists.
    world: Condition,
}

impl<'t> Lowering<'_, 't> {
    /// Lowers every resource.
    pub(super) fn run(mut self) -> UnitGraph {
        self.template.settle_conditions();
        self.template.learn_names();
        let template = self.template;
        for declared in &template.resources {
            let resource = self.resource(declared);
            if !resource.when.is_possible() {
                continue;
            }
            let properties = self.properties(declared, &resource.when);
            self.lower(declared, resource, &properties);
        }
        for declared in &template.resources {
            if self.resource(declared).when.is_possible() {
                self.references(declared);
            }
            if &*declared.kind == "AWS::Lambda::EventInvokeConfig" {
                self.invoke_config(declared);
            }
        }
        self.exports();
        template.cross();
        self.graph
    }

    fn lower(&mut self, declared: &Declared<'t>, resource: Resource, properties: &Properties<'t>) {
        match &*declared.kind {
            "AWS::SQS::Queue" => self.queue(resource, properties, sam::implicit(declared.made)),
            "AWS::Lambda::Function" | "AWS::Serverless::Function" => self.function(resource, properties),
            "AWS::Lambda::EventSourceMapping" => self.mapping(resource, properties, declared.made),
            "AWS::Lambda::Permission" => self.permission(resource, properties),
            "AWS::CloudWatch::Alarm" => self.alarm(resource, properties),
            "AWS::Pipes::Pipe" => self.pipe(resource, properties),
            "AWS::SNS::Topic" => self.topic(resource, properties),
            "AWS::SNS::Subscription" => self.separate_subscription(resource, properties),
            "AWS::Events::Rule" => self.rule(resource, properties),
            "AWS::Scheduler::Schedule" => self.schedule(resource, properties),
            "AWS::S3::Bucket" => self.bucket(&resource, properties),
            "AWS::SQS::QueuePolicy" | "AWS::SQS::QueueInlinePolicy" => {
                self.queue_policy(&resource, properties, declared.made.is_some());
            }
            "AWS::IAM::Role" => self.role(resource, properties),
            "AWS::IAM::Policy" | "AWS::IAM::RolePolicy" => self.role_policy(&resource, properties),
            "AWS::IAM::ManagedPolicy" => self.managed_policy(resource, properties),
            "AWS::KMS::Key" | "AWS::KMS::ReplicaKey" => self.key(resource, properties),
            "AWS::KMS::Alias" => self.key_alias(resource, properties),
            _ => {}
        }
    }

    fn resource(&self, declared: &Declared<'t>) -> Resource {
        let (when, uncertain) = self.template.existence(declared);
        Resource {
            unit: UnitId(0),
            address: declared.id.clone(),
            construct: declared.construct.clone(),
            kind: declared.kind.clone(),
            header: declared.header,
            when: self.template.deployed(&when),
            uncertain,
            calls: Vec::new(),
            region: None,
        }
    }

    fn properties(&self, declared: &Declared<'t>, world: &Condition) -> Properties<'t> {
        Properties {
            own: self.template.properties_of(declared),
            header: declared.header,
            world: world.clone(),
        }
    }

    /// The value at `path`. What came from `Globals` is pointed at there, and at the resource.
    fn get(&self, properties: &Properties<'t>, path: &[&str]) -> Outcomes<'t> {
        let mut found = self.template.path(&properties.own, path, &properties.world);
        for outcome in &mut found {
            let is_inherited = self
                .template
                .globals
                .is_some_and(|globals| globals.contains(outcome.span));
            if is_inherited && !matches!(outcome.value, Evaluated::Absent) {
                let origin = Origin {
                    span: outcome.span,
                    what: "`Globals`".into(),
                };
                outcome.origins.insert(0, origin);
                outcome.span = properties.header;
            }
        }
        found
    }

    /// Whether the resource itself has `key`, in any world. An include or a macro may still add it.
    fn is_written(&self, properties: &Properties<'t>, key: &str) -> bool {
        let mut own = properties.own.iter();
        let has_key = own.any(|own| matches!(own.value, Evaluated::Tree(node) if node.entry(key).is_some()));
        let mut found = self.get(properties, &[key]).into_iter();
        has_key && found.any(|outcome| !matches!(outcome.value, Evaluated::Absent))
    }

    /// An attribute: `absent` where nothing is written, else what `convert` makes of the value.
    fn attribute<T: Clone>(
        &self,
        properties: &Properties<'t>,
        path: &[&'static str],
        absent: &State<T>,
        convert: impl Fn(&Evaluated<'t>) -> Result<T, Arc<str>>,
    ) -> Attribute<T> {
        let name = path.last().copied().unwrap_or_default();
        attribute(name, self.get(properties, path), properties.header, absent, convert)
    }

    fn seconds(&self, properties: &Properties<'t>, path: &[&'static str], default: Seconds) -> Attribute<Seconds> {
        self.attribute(properties, path, &State::Default(default), |value| {
            integer(value).map(Seconds)
        })
    }

    fn flag(&self, properties: &Properties<'t>, path: &[&'static str], default: bool) -> Attribute<bool> {
        self.attribute(properties, path, &State::Default(default), boolean)
    }

    fn name(&self, properties: &Properties<'t>, path: &[&'static str]) -> Attribute<Option<String>> {
        self.attribute(properties, path, &State::Default(None), |value| value.text().map(Some))
    }

    fn optional_link(&self, properties: &Properties<'t>, path: &[&'static str]) -> Attribute<Option<Link>> {
        self.attribute(properties, path, &State::Default(None), |value| {
            self.template.link(value).map(Some)
        })
    }

    fn link(&self, properties: &Properties<'t>, path: &[&'static str]) -> Attribute<Link> {
        let name = path.last().copied().unwrap_or_default();
        let wants_queue = !matches!(name, "FunctionName" | "Function");
        let absent = State::Unresolved(format!("`{name}` is missing").into());
        self.attribute(properties, path, &absent, |value| {
            self.template.link_to(value, wants_queue)
        })
    }
}

/// An attribute from what a property comes to.
fn attribute<'t, T: Clone>(
    name: impl Into<Name>,
    outcomes: Outcomes<'t>,
    header: Span,
    absent: &State<T>,
    convert: impl Fn(&Evaluated<'t>) -> Result<T, Arc<str>>,
) -> Attribute<T> {
    let cases = outcomes.map(|outcome| match &outcome.value {
        Evaluated::Absent => Sourced::new(absent.clone(), header),
        value => Sourced {
            state: convert(value).map_or_else(State::Unresolved, State::Set),
            span: outcome.span,
            origins: outcome.origins.into(),
        },
    });
    of_cases(name, cases, header)
}

/// An attribute of these cases; unresolved where there is none.
fn of_cases<T>(name: impl Into<Name>, cases: Cases<Sourced<T>>, header: Span) -> Attribute<T> {
    if cases.is_empty() {
        return Attribute::unresolved(name, "no combination of conditions gives a value", header);
    }
    Attribute {
        name: name.into(),
        cases,
    }
}

/// A whole number, from a number or a text that holds one.
fn integer(value: &Evaluated<'_>) -> Result<i64, Arc<str>> {
    let text = value.text()?;
    whole_number(&text).ok_or_else(|| format!("`{text}` is not a whole number").into())
}

fn whole_number(text: &str) -> Option<i64> {
    let text = text.trim();
    let text = match text.split_once('.') {
        Some((whole, zeros)) if !zeros.is_empty() && zeros.bytes().all(|byte| byte == b'0') => whole,
        _ => text,
    };
    text.parse().ok()
}

fn boolean(value: &Evaluated<'_>) -> Result<bool, Arc<str>> {
    let text = value.text()?;
    match text.to_ascii_lowercase().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(format!("`{text}` is neither `true` nor `false`").into()),
    }
}
