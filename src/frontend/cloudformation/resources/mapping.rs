//! `AWS::Lambda::EventSourceMapping`, and what SAM's SQS event shares with it.

use super::{Lowering, Properties, integer};
use crate::frontend::cloudformation::eval::Listed;
use crate::frontend::cloudformation::value::{Evaluated, Outcome};
use crate::graph::{
    Attribute, Case, Condition, EventSourceMapping, Form, Link, ProvisionedPollers, Resource, Seconds, State,
    StreamSetting, Target, limits,
};
use std::sync::Arc;

/// Properties that only streams take.
const STREAM_SETTINGS: [&str; 6] = [
    "StartingPosition",
    "BisectBatchOnFunctionError",
    "MaximumRecordAgeInSeconds",
    "MaximumRetryAttempts",
    "ParallelizationFactor",
    "TumblingWindowInSeconds",
];

/// Properties that no mapping of a queue has.
const OTHER_SOURCES: [&str; 9] = [
    "StartingPosition",
    "SelfManagedEventSource",
    "Topics",
    "Queues",
    "AmazonManagedKafkaEventSourceConfig",
    "SelfManagedKafkaEventSourceConfig",
    "DocumentDBEventSourceConfig",
    "ParallelizationFactor",
    "TumblingWindowInSeconds",
];

impl<'t> Lowering<'_, 't> {
    pub(super) fn mapping(&mut self, resource: Resource, properties: &Properties<'t>) {
        let is_written = |key: &&str| {
            let mut outcomes = self.get(properties, &[key]).into_iter();
            outcomes.any(|outcome| !matches!(outcome.value, Evaluated::Absent))
        };
        let queue = self.link(properties, &["EventSourceArn"]);
        if OTHER_SOURCES.iter().any(is_written) || self.is_other_source(&queue) {
            return;
        }
        let function = self.link(properties, &["FunctionName"]);
        self.push_mapping(resource, properties, queue, function);
    }

    /// The mapping of `queue` and `function` with the settings in `properties`.
    pub(super) fn push_mapping(
        &mut self,
        resource: Resource,
        properties: &Properties<'t>,
        queue: Attribute<Link>,
        function: Attribute<Link>,
    ) {
        let batch_size = State::Default(limits::BATCH_SIZE_DEFAULT);
        let mapping = EventSourceMapping {
            queue,
            function,
            batch_size: self.attribute(properties, &["BatchSize"], &batch_size, integer),
            window: self.seconds(properties, &["MaximumBatchingWindowInSeconds"], limits::WINDOW_DEFAULT),
            report_batch_item_failures: self.reports_failures(properties),
            maximum_concurrency: self.attribute(
                properties,
                &["ScalingConfig", "MaximumConcurrency"],
                &State::Default(None),
                |value| integer(value).map(Some),
            ),
            enabled: self.flag(properties, &["Enabled"], true),
            filters: self.filters(properties),
            provisioned_pollers: self.provisioned_pollers(properties),
            failure_destination: self.optional_link(properties, &["DestinationConfig", "OnFailure", "Destination"]),
            stream_settings: self.stream_settings(properties),
            qualifier: Attribute::absent("FunctionName", None, resource.header),
            resource,
        };
        self.graph.mappings.push(mapping);
    }

    fn filters(&self, properties: &Properties<'t>) -> Attribute<Vec<Attribute<String>>> {
        let name = "FilterCriteria";
        let outcomes = self.get(properties, &[name, "Filters"]);
        let mut cases = Vec::new();
        for outcome in &outcomes {
            let is_absent = matches!(outcome.value, Evaluated::Absent);
            for listed in self.template.list(&vec![outcome.clone()], &properties.world) {
                let state = match &listed.items {
                    _ if is_absent => State::Default(Vec::new()),
                    Err(reason) => State::Unresolved(reason.clone()),
                    Ok(items) => State::Set(
                        items
                            .iter()
                            .map(|item| self.pattern(item, &listed, properties))
                            .collect(),
                    ),
                };
                cases.push(Case {
                    when: listed.when,
                    state,
                    span: if is_absent { properties.header } else { listed.span },
                    origins: listed.origins,
                });
            }
        }
        if cases.is_empty() {
            return Attribute::unresolved(name, "no combination of conditions gives a value", properties.header);
        }
        Attribute {
            name: name.into(),
            cases,
        }
    }

    fn pattern(&self, item: &Evaluated<'t>, listed: &Listed<'t>, properties: &Properties<'t>) -> Attribute<String> {
        let filter = vec![Outcome {
            when: listed.when.clone(),
            ..Outcome::always(item.clone(), listed.span)
        }];
        let pattern = self.template.field(&filter, "Pattern", &properties.world);
        let absent = State::Unresolved("`Pattern` is missing".into());
        super::attribute("Pattern", pattern, listed.span, &absent, Evaluated::text)
    }

    fn provisioned_pollers(&self, properties: &Properties<'t>) -> Attribute<Option<ProvisionedPollers>> {
        let name = "ProvisionedPollerConfig";
        let count = |key: &str| {
            self.attribute(properties, &[name, key], &State::Default(None), |value| {
                integer(value).map(Some)
            })
        };
        let (minimum, maximum) = (count("MinimumPollers"), count("MaximumPollers"));
        self.attribute(properties, &[name], &State::Default(None), |value| match value {
            Evaluated::Unresolved(reason) => Err(reason.clone()),
            _ => Ok(Some(ProvisionedPollers {
                minimum: minimum.clone(),
                maximum: maximum.clone(),
            })),
        })
    }

    /// Properties that only streams take, where they are written.
    fn stream_settings(&self, properties: &Properties<'t>) -> Vec<StreamSetting> {
        let setting = |name: &&str| {
            let written = self.get(properties, &[name]).into_iter();
            let written: Vec<_> = written
                .filter(|outcome| !matches!(outcome.value, Evaluated::Absent | Evaluated::Unresolved(_)))
                .collect();
            Some(StreamSetting {
                name: Arc::from(*name),
                span: written.first()?.span,
                when: written
                    .iter()
                    .fold(Condition::never(), |all, outcome| all.or(&outcome.when)),
            })
        };
        STREAM_SETTINGS.iter().filter_map(setting).collect()
    }

    fn reports_failures(&self, properties: &Properties<'t>) -> Attribute<bool> {
        let name = "FunctionResponseTypes";
        let outcomes = self.get(properties, &[name]);
        let mut cases = Vec::new();
        for outcome in &outcomes {
            let is_absent = matches!(outcome.value, Evaluated::Absent);
            for listed in self.template.list(&vec![outcome.clone()], &properties.world) {
                let state = match listed.items {
                    _ if is_absent => State::Default(false),
                    Err(reason) => State::Unresolved(reason),
                    Ok(items) => reports(&items).map_or_else(State::Unresolved, State::Set),
                };
                cases.push(Case {
                    when: listed.when,
                    state,
                    span: if is_absent { properties.header } else { listed.span },
                    origins: listed.origins,
                });
            }
        }
        if cases.is_empty() {
            return Attribute::unresolved(name, "no combination of conditions gives a value", properties.header);
        }
        Attribute {
            name: name.into(),
            cases,
        }
    }

    /// Whether every source that it may have is known, and none of them is a queue.
    fn is_other_source(&self, source: &Attribute<Link>) -> bool {
        let mut cases = source.cases.iter();
        cases.all(|case| case.value().is_some_and(|link| self.is_no_queue(link)))
    }

    fn is_no_queue(&self, link: &Link) -> bool {
        match &link.target {
            Target::Resource(id) => self
                .template
                .resource(id)
                .is_some_and(|r| &*r.kind != "AWS::SQS::Queue"),
            Target::Elsewhere { .. } => {
                let kind = self.template.kind_elsewhere(&link.target);
                kind.is_some_and(|kind| &*kind != "AWS::SQS::Queue")
            }
            Target::External(arn) => link.form == Form::Arn && is_of_other_service(arn),
            Target::Dangling(_) => false,
        }
    }
}

/// Whether an ARN names a service, and that is not SQS.
fn is_of_other_service(arn: &str) -> bool {
    let rest = arn.strip_prefix("arn:").unwrap_or_default();
    let behind_partition = match rest.strip_prefix("${") {
        Some(placeholder) => placeholder.split_once("}:"),
        None => rest.split_once(':'),
    };
    let service = behind_partition.and_then(|(_, rest)| rest.split(':').next());
    service.is_some_and(|service| !service.is_empty() && !service.starts_with("${") && service != "sqs")
}

fn reports(items: &[Evaluated<'_>]) -> Result<bool, Arc<str>> {
    let texts: Vec<_> = items.iter().map(Evaluated::text).collect();
    if texts.iter().flatten().any(|text| text == "ReportBatchItemFailures") {
        return Ok(true);
    }
    texts.into_iter().collect::<Result<Vec<_>, _>>().map(|_| false)
}

/// What the transform writes for a queue that it makes itself.
pub(super) fn made_mapping(resource: Resource, queue: Link, function: Link) -> EventSourceMapping {
    let header = resource.header;
    EventSourceMapping {
        queue: Attribute::set("Queue", queue, header),
        function: Attribute::set("FunctionName", function, header),
        batch_size: Attribute::absent("BatchSize", limits::BATCH_SIZE_DEFAULT, header),
        window: Attribute::absent("MaximumBatchingWindowInSeconds", Seconds(0), header),
        report_batch_item_failures: Attribute::absent("FunctionResponseTypes", false, header),
        maximum_concurrency: Attribute::absent("MaximumConcurrency", None, header),
        enabled: Attribute::absent("Enabled", true, header),
        filters: Attribute::absent("FilterCriteria", Vec::new(), header),
        provisioned_pollers: Attribute::absent("ProvisionedPollerConfig", None, header),
        failure_destination: Attribute::absent("Destination", None, header),
        stream_settings: Vec::new(),
        qualifier: Attribute::absent("FunctionName", None, header),
        resource,
    }
}
