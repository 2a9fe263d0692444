//! Resolves links: the resource that a text or a reference points to.

use super::sections::Declared;
use super::serverless;
use super::surroundings::UsedName;
use super::template::Template;
use super::value::{Evaluated, Link, Outcomes, Part, Reference, always, literal, rendered, split};
use crate::limits;
use conditions::Condition;
use knowledge::{Cause, Form, Reason, Target};
use std::sync::Arc;

/// Text in the ARN of an API's integration that precedes the account and the name of a queue.
const API_QUEUE: &str = ":sqs:path/";

/// Returns `true` if the values that resources of type `kind` return are known only after deployment.
fn is_opaque(kind: &str) -> bool {
    let opaque = [
        "AWS::CloudFormation::",
        "AWS::Serverless::Application",
        "AWS::SSM::Parameter",
        "AWS::ServiceCatalog::",
    ];
    !kind.starts_with("AWS::") || kind.ends_with("::MODULE") || opaque.iter().any(|prefix| kind.starts_with(prefix))
}

/// Returns `true` if the `Ref` of this type is an ARN.
fn gives_arn(kind: &str) -> bool {
    let types = [
        "AWS::SNS::Topic",
        "AWS::SNS::Subscription",
        "AWS::StepFunctions::StateMachine",
        "AWS::StepFunctions::StateMachineAlias",
        "AWS::Serverless::StateMachine",
        "AWS::IAM::ManagedPolicy",
        "AWS::SecretsManager::Secret",
    ];
    types.contains(&kind)
}

impl<'t> Template<'t> {
    /// Resolves the link of an evaluated value; a bare name is that of a queue.
    pub fn link(&self, value: &Evaluated<'_>) -> Result<Link, Reason> {
        self.link_to(value, true)
    }

    /// Resolves the link of an evaluated value; a bare name is that of a queue if `wants_queue`, else of a function.
    pub fn link_to(&self, value: &Evaluated<'_>, wants_queue: bool) -> Result<Link, Reason> {
        match value {
            Evaluated::Text(parts) => self.link_of(parts, wants_queue, 0),
            other => Err(other
                .text()
                .err()
                .unwrap_or_else(|| Cause::Invalid.because("nothing is written"))),
        }
    }

    fn link_of(&self, parts: &[Part], wants_queue: bool, hops: usize) -> Result<Link, Reason> {
        match parts {
            [] => Err(Cause::Invalid.because("it is empty")),
            [Part::Reference(reference)] => self.target(reference, hops),
            // A qualifier after a function's name or ARN.
            [Part::Reference(reference), Part::Text(text), ..] if text.starts_with(':') => self.target(reference, hops),
            _ => self.composed(parts, wants_queue, hops),
        }
    }

    /// Resolves a composed text: an ARN, a URL or a name.
    fn composed(&self, parts: &[Part], hint: bool, hops: usize) -> Result<Link, Reason> {
        let text = rendered(parts);
        let is_arn = text.starts_with("arn:");
        let form =
            if text.starts_with("https://") || text.starts_with("http://") || (is_arn && text.contains(API_QUEUE)) {
                Form::Url
            } else if is_arn {
                Form::Arn
            } else {
                Form::Name
            };
        let known = |parts: &[Part]| parts.iter().all(|part| matches!(part, Part::Text(_)));
        if known(parts) {
            let target = Target::External(text.into());
            return Ok(Link { target, form });
        }
        let segments = split(parts, ":");
        let wants_queue = if is_arn {
            segments.get(2).is_none_or(|service| rendered(service) != "lambda")
        } else {
            hint
        };
        let name = match form {
            Form::Url => split(parts, "/").pop(),
            Form::Arn => segments.into_iter().nth(if wants_queue { 5 } else { 6 }),
            Form::Name => segments.into_iter().next(),
        };
        let name = name.unwrap_or_default();
        if let [Part::Reference(reference)] = name.as_slice() {
            return self.target(reference, hops).map(|link| Link { form, ..link });
        }
        if let ([Part::Text(path), Part::Reference(reference)], true) = (name.as_slice(), is_arn)
            && path.starts_with("role/")
        {
            return self.target(reference, hops).map(|link| Link { form, ..link });
        }
        let named = self.names.borrow();
        if let Some(Some(id)) = named.get(&(wants_queue, rendered(&name))) {
            let target = Target::Resource(id.clone());
            return Ok(Link { target, form });
        }
        if !known(&name) || name.is_empty() {
            let reason = literal(&name).err().or_else(|| literal(parts).err());
            return Err(reason.unwrap_or_else(|| Cause::Derived.because("the name is not known")));
        }
        Ok(Link {
            target: Target::External(text.into()),
            form,
        })
    }

    /// Resolves `Ref` or `Fn::GetAtt` of a resource.
    fn target(&self, reference: &Reference, hops: usize) -> Result<Link, Reason> {
        if let Some(foreign) = &reference.elsewhere {
            let target = foreign.link.target.clone();
            self.foreign_kinds.borrow_mut().insert(target, foreign.kind.clone());
            return Ok(foreign.link.clone());
        }
        let attribute = reference.attribute.as_deref();
        let (unit, resource) = match (self.resource(&reference.id), self.sibling(&reference.id)) {
            (Some(own), _) => (None, own),
            (None, Some((unit, theirs))) => (Some(unit), theirs),
            (None, None) => return self.generated(reference),
        };
        let to = |form| {
            let address = reference.id.clone();
            let target = match unit {
                None => Target::Resource(address),
                Some(unit) => Target::OtherUnit {
                    unit: unit.clone(),
                    address,
                },
            };
            if unit.is_some() {
                let mut kinds = self.foreign_kinds.borrow_mut();
                kinds.insert(target.clone(), resource.kind.clone());
            }
            Ok(Link { target, form })
        };
        match (&*resource.kind, attribute) {
            ("AWS::SQS::Queue", None | Some("QueueUrl")) => to(Form::Url),
            ("AWS::SQS::Queue", Some("Arn")) => to(Form::Arn),
            ("AWS::SQS::Queue", Some("QueueName"))
            | ("AWS::Lambda::Function" | "AWS::Serverless::Function", None | Some("FunctionName")) => to(Form::Name),
            ("AWS::SQS::Queue", Some(other)) => {
                Err(Cause::Invalid.because(format!("queues have no attribute `{other}`")))
            }
            ("AWS::Lambda::Function" | "AWS::Serverless::Function", Some(_)) => to(Form::Arn),
            ("AWS::Lambda::Alias" | "AWS::Lambda::Version", _) => {
                let link = self.link_of_property(resource, "FunctionName", hops)?;
                let form = if attribute == Some("FunctionName") {
                    Form::Name
                } else {
                    Form::Arn
                };
                Ok(Link { form, ..link })
            }
            ("AWS::SSM::Parameter", Some("Value")) => self.link_of_property(resource, "Value", hops),
            (kind, _) if is_opaque(kind) => {
                Err(Cause::KnownAfterApply.because(format!("`{}` is known only at deployment", reference.shown())))
            }
            (_, Some(attribute)) if attribute.contains("Arn") => to(Form::Arn),
            (kind, None) if gives_arn(kind) => to(Form::Arn),
            _ => to(Form::Name),
        }
    }

    /// Resolves the link in the property `key`, at the end of a chain of `hops` properties.
    fn link_of_property(&self, resource: &Declared<'t>, key: &str, hops: usize) -> Result<Link, Reason> {
        let values = self.field(&self.properties_of(resource), key, &Condition::always());
        match &*values {
            [only] if hops < limits::MAX_ALIAS_HOPS => match &only.value {
                Evaluated::Text(parts) => self.link_of(parts, key == "Value", hops + 1),
                _ => Err(Cause::Derived.because(format!("`{key}` of `{}` is not known", resource.id))),
            },
            _ => Err(Cause::Derived.because(format!("`{key}` of `{}` is not known", resource.id))),
        }
    }

    /// Resolves a name that no resource has: it may be generated by the SAM transform; otherwise the link is dangling
    /// or unresolved.
    fn generated(&self, reference: &Reference) -> Result<Link, Reason> {
        if self.is_sam {
            if let Some(function) = self.function_of_generated(&reference.id) {
                let target = Target::Resource(function);
                return Ok(Link {
                    target,
                    form: Form::Arn,
                });
            }
            let made = |prefix: &str| reference.id.starts_with(prefix);
            let is_made = self.resources.iter().any(|resource| {
                resource.kind.starts_with("AWS::Serverless::") && made(&resource.id) && *resource.id != *reference.id
            });
            if is_made || made("Serverless") {
                let form = match reference.attribute.as_deref() {
                    None => Form::Url,
                    Some("QueueName") => Form::Name,
                    Some(_) => Form::Arn,
                };
                let target = Target::Resource(reference.id.clone());
                return Ok(Link { target, form });
            }
        }
        self.note_undeclared(UsedName::Value(reference.id.clone()));
        let functions = || self.resources.iter().map(|resource| &*resource.id);
        let may_generate = self.service.is_some() && serverless::may_generate(&reference.id, &mut functions());
        if self.is_closed && !may_generate {
            let target = Target::Dangling(reference.shown().into());
            return Ok(Link {
                target,
                form: Form::Name,
            });
        }
        Err(Cause::Elsewhere.because(format!("`{}` is not declared in this file", reference.id)))
    }

    /// Returns the function whose alias or version the SAM transform calls `id`.
    fn function_of_generated(&self, id: &str) -> Option<Arc<str>> {
        let functions = self
            .resources
            .iter()
            .filter(|resource| &*resource.kind == "AWS::Serverless::Function");
        let named = functions.filter(|function| {
            let rest = id.strip_prefix(&*function.id);
            rest.is_some_and(|rest| rest.starts_with("Alias") || rest.starts_with("Version"))
        });
        // The longest name wins: `Order` and `OrderAlias` may both be functions.
        named.map(|function| function.id.clone()).max_by_key(|id| id.len())
    }

    /// Collects the physical names of resources, which links need.
    pub(crate) fn learn_names(&self) {
        for declared in &self.resources {
            let (is_queue, key) = match &*declared.kind {
                "AWS::SQS::Queue" => (true, "QueueName"),
                "AWS::Lambda::Function" | "AWS::Serverless::Function" => (false, "FunctionName"),
                _ => continue,
            };
            let object = self.properties_of(declared);
            for outcome in self.field(&object, key, &Condition::always()) {
                let Evaluated::Text(parts) = &outcome.value else {
                    continue;
                };
                let mut names = self.names.borrow_mut();
                let known = names
                    .entry((is_queue, rendered(parts)))
                    .or_insert_with(|| Some(declared.id.clone()));
                if known.as_ref() != Some(&declared.id) {
                    *known = None;
                }
            }
        }
    }

    /// Returns the evaluated properties of a resource.
    pub fn properties_of(&self, resource: &Declared<'t>) -> Outcomes<'t> {
        match resource.properties {
            _ if resource.is_transformed => {
                let changed = Evaluated::Unresolved(Cause::Unsupported.because("`Fn::Transform` may change it"));
                always(changed, resource.header)
            }
            Some(node) => self.eval(node, resource.header, &Condition::always()),
            None => always(self.nothing("Properties", None), resource.header),
        }
    }
}
