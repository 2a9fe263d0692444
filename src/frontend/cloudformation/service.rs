//! Gives attributes of a service of the Serverless Framework the names that they have in `serverless.yml`, and records
//! what parts that were not read may do.

#[cfg(test)]
mod tests;

use crate::frontend::lower::properties::nearest;
use crate::frontend::lower::unread::expose_roles;
use crate::graph::{
    Attribute, Cause, EventSourceMapping, Form, Function, Invocation, Link, Origin, PropertyFault, Resource, Seconds,
    State, Target, UnitGraph, UnknownProperty, limits,
};
use cloudformation::serverless::{
    BATCH_SIZE, EVENT_KEYS, EventFault, EventFaultKind, MAXIMUM_CONCURRENCY, RESPONSE_TYPE, Service, Timeout, WINDOW,
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
    for fault in &service.event_faults {
        note_fault(graph, fault);
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

/// Adds a fault of an event to the graph. The attribute that an unknown key was meant to set is unresolved.
fn note_fault(graph: &mut UnitGraph, fault: &EventFault) {
    let (meant, kind) = match fault.kind {
        EventFaultKind::Unknown => (nearest(&fault.key, EVENT_KEYS.into_iter()), PropertyFault::Ignored),
        EventFaultKind::Misplaced => (None, PropertyFault::Misplaced),
        EventFaultKind::Empty => (None, PropertyFault::Empty),
        EventFaultKind::WithoutArn => (None, PropertyFault::Incomplete),
    };
    // A newer version of the framework may know it.
    if kind == PropertyFault::Ignored && meant.is_none() && !STREAM_KEYS.split(' ').any(|key| *key == *fault.key) {
        return;
    }
    let is_meant = |resource: &Resource| resource.address == fault.resource;
    let mapping = graph.mappings.iter_mut().find(|one| is_meant(&one.resource));
    let resource = if let Some(mapping) = mapping {
        unsettle(&mut mapping.batch_size, fault, meant);
        unsettle(&mut mapping.window, fault, meant);
        unsettle(&mut mapping.report_batch_item_failures, fault, meant);
        unsettle(&mut mapping.maximum_concurrency, fault, meant);
        unsettle(&mut mapping.enabled, fault, meant);
        unsettle(&mut mapping.filters, fault, meant);
        unsettle(&mut mapping.provisioned_pollers, fault, meant);
        Some(mapping.resource.clone())
    } else {
        let function = graph.functions.iter().find(|one| is_meant(&one.resource));
        function.map(|function| function.resource.clone())
    };
    let default = match meant {
        Some(BATCH_SIZE) => Some(limits::BATCH_SIZE_DEFAULT.to_string()),
        Some(WINDOW) => Some(limits::WINDOW_DEFAULT.to_string()),
        _ => None,
    };
    graph
        .unknown_properties
        .extend(resource.map(|resource| UnknownProperty {
            resource,
            name: fault.key.clone(),
            span: fault.span,
            meant,
            default,
            fault: kind,
        }));
}

/// Makes `attribute` unresolved if it is absent and called `meant`, the key that `fault` misspells.
fn unsettle<T>(attribute: &mut Attribute<T>, fault: &EventFault, meant: Option<&str>) {
    if meant != Some(&*attribute.name) {
        return;
    }
    for case in attribute.cases.iter_mut().filter(|case| case.is_default()) {
        let reason = Cause::Invalid.because(format!("`{}` is misspelled", fault.key));
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
    mapping.provisioned_pollers.name = "provisionedPollers".into();
    for case in &mut mapping.provisioned_pollers.cases {
        if let State::Set(Some(pollers)) = &mut case.state {
            pollers.minimum.name = "min".into();
            pollers.maximum.name = "max".into();
        }
    }
}
