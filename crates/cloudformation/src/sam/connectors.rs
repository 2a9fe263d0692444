//! Transforms `AWS::Serverless::Connector`, and `Connectors` embedded in a resource: generates the policies on queues
//! and the managed policies on roles that let one resource use another. Connections without a queue grant nothing
//! relevant here, except the permission to invoke a function.

use super::making::{At, Owner};
use super::{Transform, kind, referred};
use rustc_hash::FxHashMap;
use source::Span;
use trees::{Entry, Node};

/// Resources by id.
type Resources<'e> = FxHashMap<&'e str, &'e Entry>;

/// An end of a connector.
struct End<'e> {
    kind: &'e str,
    arn: Node,
    url: Option<Node>,
    /// The role that needs the permissions.
    role: Option<Node>,
    /// The function to invoke.
    id: Option<&'e str>,
}

impl Transform<'_> {
    /// Generates the resources of the connectors in `written`; `resources` are already transformed.
    pub(super) fn connectors(&mut self, written: &[Entry], resources: &[Entry]) {
        let resources: Resources<'_> = resources.iter().map(|entry| (&*entry.key, entry)).collect();
        for entry in written {
            if kind(entry) == "AWS::Serverless::Connector" {
                let source = entry
                    .value
                    .get("Properties")
                    .and_then(|properties| properties.get("Source"));
                self.connector(&entry.key, entry, source, &resources);
            }
            let embedded = entry.value.get("Connectors").and_then(Node::entries);
            for connector in embedded.unwrap_or_default() {
                let at = At(connector.key_span);
                let source = at.object(vec![at.entry("Id", at.text(&*entry.key))]);
                let id = format!("{}{}", entry.key, connector.key);
                self.connector(&id, connector, Some(&source), &resources);
            }
        }
    }

    fn connector(&mut self, id: &str, entry: &Entry, source: Option<&Node>, resources: &Resources<'_>) {
        let owner = Owner::of(entry);
        let properties = entry.value.get("Properties");
        let property = |key: &str| properties.and_then(|properties| properties.get(key));
        let Some((source, destination)) = source.zip(property("Destination")) else {
            return;
        };
        let permissions = property("Permissions").and_then(Node::items).unwrap_or_default();
        let permissions: Vec<&str> = permissions.iter().filter_map(Node::as_str).collect();
        let several = destination.items();
        for (index, destination) in several.unwrap_or(std::slice::from_ref(destination)).iter().enumerate() {
            let suffix = several.map_or_else(String::new, |_| format!("Destination{index}"));
            let ends = end(source, resources, owner.at.0).zip(end(destination, resources, owner.at.0));
            if let Some((source, destination)) = ends {
                self.connect(&owner, (id, &suffix), &source, &destination, &permissions);
            }
        }
    }

    fn connect(&mut self, owner: &Owner, (id, suffix): (&str, &str), from: &End, to: &End, permissions: &[&str]) {
        let at = owner.at;
        let policy = format!("{id}Policy{suffix}");
        let writes = permissions.contains(&"Write");
        match (from.kind, to.kind) {
            ("AWS::Events::Rule" | "AWS::SNS::Topic", "AWS::SQS::Queue") => {
                let service = if from.kind == "AWS::SNS::Topic" {
                    "sns"
                } else {
                    "events"
                };
                let service = at.text(format!("{service}.amazonaws.com"));
                let principal = at.object(vec![at.entry("Service", service)]);
                if let Some(url) = to.url.clone().filter(|_| writes) {
                    let id = format!("{id}QueuePolicy{suffix}");
                    self.queue_policy(owner, at, &id, principal, (to.arn.clone(), url), from.arn.clone());
                }
            }
            ("AWS::Lambda::Function", "AWS::SQS::Queue") => {
                let write = [
                    "sqs:DeleteMessage",
                    "sqs:SendMessage",
                    "sqs:ChangeMessageVisibility",
                    "sqs:PurgeQueue",
                ];
                self.attach(owner, &policy, from.role.as_ref(), &to.arn, permissions, &write);
            }
            ("AWS::StepFunctions::StateMachine", "AWS::SQS::Queue") => {
                self.attach(
                    owner,
                    &policy,
                    from.role.as_ref(),
                    &to.arn,
                    &["Write"],
                    &["sqs:SendMessage"],
                );
            }
            ("AWS::SQS::Queue", "AWS::Lambda::Function") => {
                self.attach(
                    owner,
                    &policy,
                    to.role.as_ref(),
                    &from.arn,
                    permissions,
                    &["sqs:DeleteMessage"],
                );
            }
            ("AWS::DynamoDB::Table" | "AWS::Lambda::Function" | "AWS::StepFunctions::StateMachine", _) => {}
            (_, "AWS::Lambda::Function") => {
                if let Some(function) = to.id {
                    let function = at.entry("FunctionName", at.attribute(function, "Arn"));
                    let id = format!("{id}WriteLambdaPermission{suffix}");
                    self.make(at, &id, "AWS::Lambda::Permission", owner, vec![function]);
                }
            }
            _ => {}
        }
    }

    /// Attaches a managed policy that lets a role read or write a queue, according to `permissions`.
    fn attach(
        &mut self,
        owner: &Owner,
        id: &str,
        role: Option<&Node>,
        queue: &Node,
        permissions: &[&str],
        write: &[&str],
    ) {
        let at = owner.at;
        let read: &[&str] = &["sqs:ReceiveMessage", "sqs:GetQueueAttributes"];
        let statements = [("Read", read), ("Write", write)].into_iter();
        let statements = statements
            .filter(|(permission, _)| permissions.contains(permission))
            .map(|(_, actions)| at.object(at.allow(actions, queue.clone())));
        let document = at.object(vec![at.entry("Statement", at.list(statements.collect()))]);
        let Some(role) = role else {
            return;
        };
        let properties = vec![
            at.entry("PolicyDocument", document),
            at.entry("Roles", at.list(vec![role.clone()])),
        ];
        self.make(at, id, "AWS::IAM::ManagedPolicy", owner, properties);
    }
}

/// Returns the resource of `Source` or `Destination`: one of the template, or one described by its properties.
fn end<'e>(node: &'e Node, resources: &Resources<'e>, span: Span) -> Option<End<'e>> {
    let at = At(span);
    let Some(id) = node.get("Id").and_then(Node::as_str) else {
        return Some(End {
            kind: deployed(node.get("Type")?.as_str()?),
            arn: node.get("Arn")?.clone(),
            url: node.get("QueueUrl").cloned(),
            role: node.get("RoleName").cloned(),
            id: None,
        });
    };
    let found = *resources.get(id)?;
    let kind = deployed(kind(found));
    let role = found
        .value
        .get("Properties")
        .and_then(|properties| properties.get("Role").or(properties.get("RoleArn")));
    Some(End {
        kind,
        arn: match kind {
            "AWS::SNS::Topic" | "AWS::StepFunctions::StateMachine" => at.reference(id),
            _ => at.attribute(id, "Arn"),
        },
        url: (kind == "AWS::SQS::Queue").then(|| at.reference(id)),
        role: role.and_then(referred).map(|role| at.reference(role)),
        id: Some(&found.key),
    })
}

/// Returns the CloudFormation type of a SAM resource.
fn deployed(kind: &str) -> &str {
    match kind {
        "AWS::Serverless::Function" => "AWS::Lambda::Function",
        "AWS::Serverless::StateMachine" => "AWS::StepFunctions::StateMachine",
        "AWS::Serverless::SimpleTable" => "AWS::DynamoDB::Table",
        "AWS::Serverless::Api" => "AWS::ApiGateway::RestApi",
        "AWS::Serverless::HttpApi" => "AWS::ApiGatewayV2::Api",
        other => other,
    }
}
