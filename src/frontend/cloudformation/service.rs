//! Gives attributes of a service of the Serverless Framework the names that they have in `serverless.yml`, and records
//! what parts that were not read may do.

#[cfg(test)]
mod tests;

use crate::frontend::lower::unread::expose_roles;
use crate::graph::{
    Attribute, Cause, EventSourceMapping, Form, Function, Invocation, Link, Origin, Seconds, Target, UnitGraph,
    UnknownKey,
};
use cloudformation::serverless::{BATCH_SIZE, MAXIMUM_CONCURRENCY, RESPONSE_TYPE, Service, Timeout, WINDOW};
use source::Span;

/// Timeout of a function if neither the function nor the provider sets one.
/// <https://github.com/serverless/serverless/blob/v3/lib/plugins/aws/package/compile/functions.js>
const FUNCTION_TIMEOUT_DEFAULT: Seconds = Seconds(6);

/// Renames the attributes of generated resources to their spelling in the service, and sets the framework's defaults.
/// `note` is the first part that was not read.
pub(super) fn respell(graph: &mut UnitGraph, service: &Service, note: Option<&String>) {
    for function in &mut graph.functions {
        let id = &function.resource.address;
        if let Some((header, timeout)) = service.timeout(id).filter(|_| service.is_generated(id)) {
            respell_function(function, header, timeout);
        }
    }
    for mapping in &mut graph.mappings {
        let id = mapping.resource.address.clone();
        if service.is_generated(&id) {
            respell_mapping(mapping);
            let unknown = service.unknown_keys(&id).iter().map(|unknown| UnknownKey {
                key: unknown.key.clone(),
                span: unknown.span,
                nearest: unknown.nearest,
            });
            mapping.unknown_keys = unknown.collect();
        }
    }
    if !service.is_whole {
        // An unread part may watch or poll any queue.
        let all = graph.queues.iter().map(|queue| Link {
            target: Target::Resource(queue.resource.address.clone()),
            form: Form::Arn,
        });
        graph.passed_to_missing_code.extend(all);
        expose_roles(graph);
    }
    if let Some(note) = note {
        // An unread part may also invoke the functions.
        graph.invocations.push(Invocation {
            resource: "resources".into(),
            span: service.span,
            function: Attribute::unresolved("function", Cause::NotRead.because(note.as_str()), service.span),
        });
    }
}

fn respell_function(function: &mut Function, header: Span, timeout: Timeout) {
    match timeout {
        Timeout::Own => function.timeout.name = "timeout".into(),
        Timeout::Provider(span) => {
            function.timeout.name = "timeout".into();
            for case in &mut function.timeout.cases {
                case.span = header;
                let origin = Origin {
                    span,
                    what: "`provider.timeout`".into(),
                    computes: false,
                    is_input_default: false,
                };
                let earlier = case.origins.iter().cloned();
                case.origins = std::iter::once(origin).chain(earlier).collect::<Vec<_>>().into();
            }
        }
        Timeout::Default => {
            function.timeout = Attribute::absent("timeout", FUNCTION_TIMEOUT_DEFAULT, header);
        }
    }
    function.name.name = "name".into();
    function.reserved_concurrency.name = "reservedConcurrency".into();
    for target in function.failure_targets.iter_mut().chain(&mut function.success_targets) {
        target.name = match &*target.name {
            "DeadLetterConfig" => "onError".into(),
            "OnFailure" => "destinations.onFailure".into(),
            "OnSuccess" => "destinations.onSuccess".into(),
            _ => continue,
        };
    }
}

fn respell_mapping(mapping: &mut EventSourceMapping) {
    mapping.queue.name = "arn".into();
    mapping.batch_size.name = BATCH_SIZE.into();
    mapping.window.name = WINDOW.into();
    mapping.report_batch_item_failures.name = RESPONSE_TYPE.into();
    mapping.maximum_concurrency.name = MAXIMUM_CONCURRENCY.into();
    mapping.enabled.name = "enabled".into();
}
