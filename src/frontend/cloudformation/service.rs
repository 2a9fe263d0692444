//! Gives attributes of a service of the Serverless Framework the names that they have in `serverless.yml`, and records
//! what parts that were not read may do.

#[cfg(test)]
mod tests;

use crate::frontend::lower::properties::nearest;
use crate::frontend::lower::unread::expose_roles;
use crate::graph::{
    Attribute, Cause, EventSourceMapping, EventWithoutQueue, Form, Function, Invocation, Link, Origin, Seconds, State,
    Target, UnitGraph, UnknownProperty, limits,
};
use cloudformation::serverless::{
    BATCH_SIZE, EVENT_KEYS, EventWithoutArn, MAXIMUM_CONCURRENCY, RESPONSE_TYPE, Service, Timeout, UnknownKey, WINDOW,
};
use source::Span;

/// Timeout of a function if neither the function nor the provider sets one.
/// <https://github.com/serverless/serverless/blob/v3/lib/plugins/aws/package/compile/functions.js>
const FUNCTION_TIMEOUT_DEFAULT: Seconds = Seconds(6);

/// Keys of events of streams, which no event of a queue has.
const STREAM_KEYS: &str = "bisectBatchOnFunctionError consumer destinations maximumRecordAgeInSeconds \
    maximumRetryAttempts parallelizationFactor startingPosition startingPositionTimestamp tumblingWindowInSeconds";

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
        }
    }
    for unknown in &service.unknown_keys {
        note_unknown(graph, unknown);
    }
    for event in &service.events_without_arn {
        note_without_queue(graph, event);
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
            waits: false,
        });
    }
}

/// Adds an unknown key of an event to the graph. The attribute that it was meant to set is unresolved.
fn note_unknown(graph: &mut UnitGraph, unknown: &UnknownKey) {
    let meant = nearest(&unknown.key, EVENT_KEYS.into_iter());
    // A newer version of the framework may know it.
    if meant.is_none() && !STREAM_KEYS.split(' ').any(|key| *key == *unknown.key) {
        return;
    }
    let mut mappings = graph.mappings.iter_mut();
    let Some(mapping) = mappings.find(|one| one.resource.address == unknown.mapping) else {
        return;
    };
    unsettle(&mut mapping.batch_size, unknown, meant);
    unsettle(&mut mapping.window, unknown, meant);
    unsettle(&mut mapping.report_batch_item_failures, unknown, meant);
    unsettle(&mut mapping.maximum_concurrency, unknown, meant);
    unsettle(&mut mapping.enabled, unknown, meant);
    unsettle(&mut mapping.filters, unknown, meant);
    unsettle(&mut mapping.provisioned_pollers, unknown, meant);
    let default = match meant {
        Some(BATCH_SIZE) => Some(limits::BATCH_SIZE_DEFAULT.to_string()),
        Some(WINDOW) => Some(limits::WINDOW_DEFAULT.to_string()),
        _ => None,
    };
    graph.unknown_properties.push(UnknownProperty {
        resource: mapping.resource.clone(),
        name: unknown.key.clone(),
        span: unknown.span,
        meant,
        default,
        is_ignored: true,
    });
}

/// Adds an event that names no queue to the graph.
fn note_without_queue(graph: &mut UnitGraph, event: &EventWithoutArn) {
    let mut functions = graph.functions.iter();
    let function = functions.find(|one| one.resource.address == event.function);
    graph
        .events_without_queue
        .extend(function.map(|function| EventWithoutQueue {
            resource: function.resource.clone(),
            span: event.span,
            is_skipped: event.is_skipped,
            misplaced: event.misplaced.clone(),
        }));
}

/// Makes `attribute` unresolved if it is absent and called `meant`, the key that `unknown` misspells.
fn unsettle<T>(attribute: &mut Attribute<T>, unknown: &UnknownKey, meant: Option<&str>) {
    if meant != Some(&*attribute.name) {
        return;
    }
    for case in attribute.cases.iter_mut().filter(|case| case.is_default()) {
        let reason = Cause::Invalid.because(format!("`{}` is misspelled", unknown.key));
        case.state = State::Unresolved(reason.into());
    }
}

fn respell_function(function: &mut Function, header: Span, timeout: Timeout) {
    match timeout {
        Timeout::Own => function.timeout.name = "timeout".into(),
        Timeout::Provider(span) => {
            function.timeout.name = "timeout".into();
            for case in &mut function.timeout.cases {
                case.span = header;
                let origin = Origin::new(span, "`provider.timeout`");
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
    mapping.provisioned_pollers.name = "provisionedPollers".into();
    for case in &mut mapping.provisioned_pollers.cases {
        if let State::Set(Some(pollers)) = &mut case.state {
            pollers.minimum.name = "min".into();
            pollers.maximum.name = "max".into();
        }
    }
}
