//! References to queues and functions in any resource, or in the call of a module that is not available: failure
//! destinations, invoked functions, and queues passed as arguments.

use super::link::link;
use super::names;
use super::view::{ConfigurationPart, Terraform};
use super::{Declared, is_queue_type};
use crate::frontend::lower::{Lowering, NodeKind, SYNCHRONOUS_PRINCIPALS};
use crate::graph::{Attribute, DeadLetterUse, Invocation, Link, Name, Owner};
use conditions::Condition;
use source::Span;
use std::sync::Arc;
use terraform::eval::{Member, Scope};
use terraform::module::{Call, Module, Modules, Source, reached};
use terraform::syntax::{Block, Body};
use terraform::value::{Value, ValueKind};

/// Prefixes of the resource types that wait for the response of the functions they invoke.
const SYNCHRONOUS: [&str; 5] = [
    "aws_alb_target_group",
    "aws_api_gateway_",
    "aws_apigatewayv2_",
    "aws_lb_target_group",
    "aws_lambda_function_url",
];

/// Maximum depth to which values and blocks are searched.
const MAX_DEPTH: usize = 24;

impl Lowering<Terraform<'_, '_>> {
    /// Records the references in a resource that its own lowering does not read.
    pub(super) fn uses(&mut self, declared: &Declared) {
        match &*declared.resource.kind {
            "aws_sqs_queue"
            | "aws_sqs_queue_redrive_policy"
            | "aws_sqs_queue_redrive_allow_policy"
            | "aws_cloudwatch_metric_alarm" => {}
            // The lowering of these two reads their failure destinations itself.
            "aws_lambda_function" => self.invocations(declared, |name| name == "environment", false),
            "aws_lambda_function_event_invoke_config" => {
                self.invocations(declared, |name| name == "destination_config", false);
            }
            "aws_lambda_event_source_mapping" => self.failures(declared),
            kind => {
                self.failures(declared);
                if invokes(kind) {
                    let waits = self.is_synchronous_invoker(kind, declared);
                    self.invocations(declared, |_| true, waits);
                }
            }
        }
    }

    /// Returns `true` if a resource waits for the response of the functions it invokes, so that it receives their
    /// errors itself.
    fn is_synchronous_invoker(&mut self, kind: &str, declared: &Declared) -> bool {
        let is_synchronous = match kind {
            "aws_lambda_permission" => {
                let principal = declared.block.body.attribute("principal").cloned();
                let principal = principal.and_then(|it| self.view.eval.eval(&it.value, &declared.scope).to_text());
                principal.is_some_and(|name| SYNCHRONOUS_PRINCIPALS.contains(&&*name))
            }
            kind => SYNCHRONOUS.iter().any(|prefix| kind.starts_with(prefix)),
        };
        if !is_synchronous {
            return false;
        }
        let file = declared.block.header.file;
        let sources = self.view.eval.sources;
        let beside = sources.in_directory_of(file);
        // With this header, an API invokes a function asynchronously.
        !beside.iter().any(|(_, file)| file.text().contains("Invocation-Type"))
    }

    /// Records the references in failure arguments of a resource.
    fn failures(&mut self, node: &Declared) {
        let mut found = Vec::new();
        self.search(
            &node.block.body,
            &node.scope,
            takes_failures,
            0,
            &mut |name, value, span| {
                found.push((name.clone(), value, span));
            },
        );
        for (name, value, span) in found {
            let by = (
                &node.resource.address,
                NodeKind::owner(names::kind(&node.resource.kind)),
            );
            self.dead_letter_use(by, &node.resource.when, &name, &value, span);
        }
    }

    fn dead_letter_use(
        &mut self,
        (by, owner): (&Arc<str>, Owner),
        assumed: &Condition,
        name: &Arc<str>,
        value: &Value,
        span: Span,
    ) {
        let mut links = Vec::new();
        collect(value, &Condition::always(), &mut links, 0);
        for (when, value) in links {
            let when = assumed.and(&when);
            if !(is_queue(&value) && when.is_possible()) {
                continue;
            }
            let target = self.used(name.clone(), value, span, &when);
            self.graph.dead_letter_uses.push(DeadLetterUse {
                resource: by.clone(),
                owner,
                span,
                target,
                when,
            });
        }
    }

    /// Returns the link that `value`, an argument called `name`, represents.
    fn used(&mut self, name: impl Into<Name>, value: Value, span: Span, assumed: &Condition) -> Attribute<Link> {
        let value = ConfigurationPart::value(value, span, assumed.clone());
        self.link_of(name, &value)
    }

    /// Calls `visit` for every argument of a body whose name, or that of a block around it, `is_wanted` accepts, with its
    /// name, value and span. No other argument is evaluated.
    fn search(
        &mut self,
        body: &Body,
        scope: &Scope,
        is_wanted: fn(&str) -> bool,
        depth: usize,
        visit: &mut dyn FnMut(&Arc<str>, Value, Span),
    ) {
        if depth > MAX_DEPTH {
            return;
        }
        for attribute in &body.attributes {
            let meta = matches!(
                &*attribute.name,
                "depends_on" | "provider" | "providers" | "count" | "for_each" | "source" | "version"
            );
            // In JSON syntax, a possible block is represented as an argument as well.
            let block = body.blocks.iter().any(|block| block.kind == attribute.name);
            if !meta && !block && is_wanted(&attribute.name) {
                let value = self.view.eval.eval(&attribute.value, scope);
                visit(&attribute.name, value, attribute.span);
            }
        }
        let mut seen: Vec<&str> = Vec::new();
        for block in &body.blocks {
            let name = match &*block.kind {
                "lifecycle" | "provisioner" | "connection" => continue,
                "dynamic" => block.labels.first().map_or("", |label| &**label),
                kind => kind,
            };
            if seen.contains(&name) {
                continue;
            }
            seen.push(name);
            let is_wanted = if is_wanted(name) { |_: &str| true } else { is_wanted };
            for nested in self.view.eval.blocks(body, scope, name).unwrap_or_default() {
                self.search(&nested.block.body, &nested.scope, is_wanted, depth + 1, visit);
            }
        }
    }

    /// Records the functions that the arguments and blocks accepted by `is_wanted` refer to.
    fn invocations(&mut self, node: &Declared, is_wanted: fn(&str) -> bool, waits: bool) {
        let (mut found, mut queues): (Vec<(Value, Span)>, Vec<Value>) = Default::default();
        let permission = &*node.resource.kind == "aws_lambda_permission";
        self.search(&node.block.body, &node.scope, is_wanted, 0, &mut |name, value, span| {
            let mut links = Vec::new();
            collect(&value, &Condition::always(), &mut links, 0);
            queues.extend(
                links
                    .iter()
                    .filter(|(_, value)| is_queue(value))
                    .map(|(_, value)| value.clone()),
            );
            let functions = links.into_iter().map(|(_, value)| value).filter(is_function);
            let before = found.len();
            found.extend(functions.map(|value| (value, span)));
            if permission && &**name == "function_name" && found.len() == before {
                found.push((value, span));
            }
        });
        let judged = [
            "aws_cloudwatch_event_target",
            "aws_lambda_function_event_invoke_config",
            "aws_sns_topic_subscription",
        ];
        if !judged.contains(&&*node.resource.kind) {
            let links = queues.iter().filter_map(|value| link(self.view.eval, value).ok());
            self.graph.mentioned.extend(links.collect::<Vec<_>>());
        }
        for (value, span) in found {
            let function = self.used("function", value, span, &node.resource.when);
            self.graph.invocations.push(Invocation {
                resource: node.resource.address.clone(),
                span,
                function,
                waits,
            });
        }
    }

    /// Records the queues, roles and functions that are passed to a module that is not available.
    /// Returns `true` if one of them is a queue.
    pub(super) fn record_passed_links(&mut self, name: &Arc<str>, block: &Block, at: usize, member: &Member) -> bool {
        let mut passes_queue = false;
        let instance = &self.view.eval.instances[at];
        let by = instance
            .path
            .address(format_args!("module.{name}{}", member.key.shown()));
        let assumed = instance.when.and(&member.when);
        let mut found = Vec::new();
        self.search(&block.body, &member.scope, |_| true, 0, &mut |name, value, span| {
            found.push((name.clone(), value, span));
        });
        for (name, value, span) in found {
            let mut links = Vec::new();
            collect(&value, &Condition::always(), &mut links, 0);
            for (_, reference) in links {
                passes_queue |= is_queue(&reference);
                if passes_queue_or_role(&name, &reference)
                    && let Ok(link) = link(self.view.eval, &reference)
                {
                    self.graph.passed_to_missing_code.push(link);
                }
                if is_function(&reference) {
                    let function = self.used(name.clone(), reference, span, &assumed);
                    self.graph.invocations.push(Invocation {
                        resource: by.clone(),
                        span,
                        function,
                        waits: false,
                    });
                }
            }
            let mut dead = Vec::new();
            named_dead_letters(&name, &value, &mut dead, 0);
            for value in dead {
                self.dead_letter_use((&by, Owner::Other), &assumed, &name, &value, span);
            }
        }
        passes_queue
    }
}

impl Lowering<Terraform<'_, '_>> {
    /// Returns `true` if the code of a called module, and of every module that it calls, is known to declare no alarm.
    fn is_without_alarms(&self, call: &Call) -> bool {
        let modules = self.view.eval.modules;
        let all = modules_of(call, modules);
        let is_local = |call: &Arc<Call>| matches!(&call.source, Source::Here(path) if modules.contains_key(path));
        let is_known = |module: &&Module| declares_no_alarm(module) && module.calls.values().all(is_local);
        !all.is_empty() && all.iter().all(is_known)
    }

    /// Records what the outputs of the root module refer to: a queue, to which their reader may send, and a role, to
    /// which a caller outside of the project may attach policies.
    pub(super) fn expose_outputs(&mut self) {
        let Some(root) = self.view.eval.instances.first() else {
            return;
        };
        if self.graph.queues.is_empty() && self.graph.access.roles.is_empty() {
            return;
        }
        // A module that configures providers is a root, not called by others.
        let is_called = root.module.providers.is_empty();
        let names: Vec<Arc<str>> = root.module.outputs.keys().cloned().collect();
        for name in names {
            let value = self.view.eval.output(0, &name);
            let mut links = Vec::new();
            collect(&value, &Condition::always(), &mut links, 0);
            for (_, reference) in links {
                let Ok(link) = link(self.view.eval, &reference) else {
                    continue;
                };
                if is_queue(&reference) {
                    self.graph.mentioned.push(link);
                } else if is_called && is_role(&reference) {
                    self.graph.passed_to_missing_code.push(link);
                }
            }
        }
    }

    /// Records the queues that are passed to a module with a `count` of zero.
    pub(super) fn record_disabled_call(&mut self, call: &Call, at: usize) {
        if let Some(variable) = self.view.eval.switch(&call.block, at) {
            let resources = modules_of(call, self.view.eval.modules)
                .into_iter()
                .flat_map(|module| module.resources.keys());
            let queues = resources.filter(|(kind, _)| is_queue_type(kind)).count();
            self.note_switched_off(variable, queues);
        }
        if self.is_without_alarms(call) {
            return;
        }
        let block = &call.block;
        let scope = self.view.eval.scope(at);
        let mut found = Vec::new();
        self.search(&block.body, &scope, |_| true, 0, &mut |_, value, _| {
            collect(&value, &Condition::always(), &mut found, 0);
        });
        let queues = found.into_iter().map(|(_, value)| value).filter(is_queue);
        for value in queues.collect::<Vec<_>>() {
            if let Ok(link) = link(self.view.eval, &value) {
                self.graph.uninstantiated_calls.push((link, block.header));
            }
        }
    }
}

/// Returns the module that `call` calls, if it is in the project, and those that it calls itself.
fn modules_of<'m>(call: &Call, modules: &'m Modules) -> Vec<&'m Module> {
    let Source::Here(path) = &call.source else {
        return Vec::new();
    };
    let module = modules.get(path);
    module.map(|module| reached(module, modules)).unwrap_or_default()
}

/// Returns `true` if no resource of a module can be an alarm: all are of AWS, and of other types.
fn declares_no_alarm(module: &Module) -> bool {
    let is_other = |kind: &str| kind.starts_with("aws_") && !kind.contains("alarm");
    module.unread.is_none() && !module.has_templates && module.resources.keys().all(|(kind, _)| is_other(kind))
}

/// Returns `true` if an argument or block with this name sets a failure destination.
fn takes_failures(name: &str) -> bool {
    matches!(name, "on_failure" | "redrive_policy") || is_dead_letter_name(name)
}

fn is_dead_letter_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["dead_letter", "deadletter", "dead-letter", "dlq"]
        .iter()
        .any(|part| name.contains(part))
}

/// Collects the values under names that suggest a dead-letter queue.
fn named_dead_letters(name: &str, value: &Value, found: &mut Vec<Value>, depth: usize) {
    if takes_failures(name) {
        found.push(value.clone());
    } else if let Some(entries) = value.entries()
        && depth < MAX_DEPTH
    {
        for (key, value) in entries.iter() {
            named_dead_letters(key, value, found, depth + 1);
        }
    }
}

/// Returns `true` if a resource of this type may invoke the functions it refers to.
fn invokes(kind: &str) -> bool {
    let prefixes = [
        "aws_iam_",
        "aws_appautoscaling_",
        "aws_cloudwatch_dashboard",
        "aws_cloudwatch_log_group",
    ];
    let others = [
        "aws_lambda_alias",
        "aws_lambda_function_recursion_config",
        "aws_lambda_provisioned_concurrency_config",
        "aws_lambda_runtime_management_config",
        "aws_secretsmanager_secret",
        "aws_sqs_queue_policy",
        "null_resource",
        "terraform_data",
    ];
    !others.contains(&kind) && !prefixes.iter().any(|prefix| kind.starts_with(prefix))
}

/// Returns `true` if an argument called `name` passes a queue or a role to a module.
fn passes_queue_or_role(name: &str, value: &Value) -> bool {
    match &value.kind {
        ValueKind::Reference(..) => is_queue(value) || is_role(value),
        ValueKind::Text(_) => name.contains("role"),
        _ => false,
    }
}

fn is_role(value: &Value) -> bool {
    matches!(&value.kind, ValueKind::Reference(id, _) if &*id.kind == "aws_iam_role")
}

/// Returns `true` for a reference to a queue, and for an ARN or URL of one, whose account may be unresolved.
fn is_queue(value: &Value) -> bool {
    let is_of_sqs = |text: &str| text.contains(":sqs:") || text.starts_with("https://sqs.");
    match &value.kind {
        ValueKind::Reference(id, _) => matches!(&*id.kind, "aws_sqs_queue" | "awscc_sqs_queue"),
        ValueKind::Text(text) => (text.starts_with("arn:") || text.starts_with("https:")) && is_of_sqs(text),
        ValueKind::Template(parts) => {
            let texts = || parts.iter().filter_map(Value::to_text);
            texts()
                .next()
                .is_some_and(|start| start.starts_with("arn:") || start.starts_with("https:"))
                && texts().any(|text| is_of_sqs(&text))
        }
        _ => false,
    }
}

fn is_function(value: &Value) -> bool {
    match &value.kind {
        ValueKind::Reference(id, _) => matches!(&*id.kind, "aws_lambda_function" | "aws_lambda_alias"),
        ValueKind::Text(text) => text.starts_with("arn:") && text.contains(":lambda:"),
        _ => false,
    }
}

/// Collects the references and strings in a value, with the condition of each.
fn collect(value: &Value, when: &Condition, found: &mut Vec<(Condition, Value)>, depth: usize) {
    if depth > MAX_DEPTH {
        return;
    }
    match &value.kind {
        ValueKind::Reference(..) | ValueKind::Text(_) => found.push((when.clone(), value.clone())),
        ValueKind::Template(items) | ValueKind::List(items) | ValueKind::Set(items) => {
            if matches!(value.kind, ValueKind::Template(_)) {
                found.push((when.clone(), value.clone()));
            }
            for item in items.iter() {
                collect(item, when, found, depth + 1);
            }
        }
        ValueKind::Map(entries) => {
            for (_, value) in entries.iter() {
                collect(value, when, found, depth + 1);
            }
        }
        ValueKind::Encoded(inner) | ValueKind::Rendered(inner) => collect(inner, when, found, depth + 1),
        ValueKind::Cases(cases) => {
            for case in cases.iter() {
                let both = when.and(&case.when);
                if both.is_possible() {
                    collect(case, &both, found, depth + 1);
                }
            }
        }
        _ => {}
    }
}
