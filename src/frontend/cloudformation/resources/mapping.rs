//! `AWS::Lambda::EventSourceMapping`, also as SAM's events write it.

use super::{Lowering, Properties, integer, of_cases};
use crate::conditions::Condition;
use crate::frontend::cloudformation::sam;
use crate::frontend::cloudformation::value::{Evaluated, Outcomes, Part, Reference, always, literal, rendered, split};
use crate::frontend::tree::Node;
use crate::graph::{
    Attribute, EventSourceMapping, Form, Link, ProvisionedPollers, Resource, Sourced, State, StreamSetting, Target,
    limits,
};
use crate::source::Span;
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

/// Properties that tell of another source where `EventSourceArn` does not.
const OTHER_SOURCES: [&str; 6] = [
    "SelfManagedEventSource",
    "Topics",
    "Queues",
    "AmazonManagedKafkaEventSourceConfig",
    "SelfManagedKafkaEventSourceConfig",
    "DocumentDBEventSourceConfig",
];

/// Under which property a queue is named: by CloudFormation, by SAM's event `SQS`, by its `SqsSubscription`.
const QUEUE: [&str; 3] = ["EventSourceArn", "Queue", "QueueArn"];

impl<'t> Lowering<'_, 't> {
    pub(super) fn mapping(&mut self, resource: Resource, properties: &Properties<'t>, made: Option<&'t Node>) {
        let is_written = |key: &&&str| self.is_written(properties, key);
        let key = QUEUE.iter().find(is_written).unwrap_or(&QUEUE[0]);
        let queue = self.link(properties, &[key]);
        let tells_of_another = OTHER_SOURCES.iter().any(|key| is_written(&key));
        if sam::is_of_stream(made)
            || self.is_other_source(&queue)
            || (tells_of_another && !self.may_be_declared_queue(&queue))
        {
            return;
        }
        let batch_size = State::Default(limits::BATCH_SIZE_DEFAULT);
        let mapping = EventSourceMapping {
            queue,
            function: self.link(properties, &["FunctionName"]),
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
            qualifier: self.attribute(properties, &["FunctionName"], &State::Default(None), |value| {
                self.qualifier(value)
            }),
            ignored_disabling: sam::ignored_disabling(made),
            resource,
        };
        self.graph.mappings.push(mapping);
    }

    /// The alias or version in what names a function.
    fn qualifier(&self, value: &Evaluated<'t>) -> Result<Option<String>, Arc<str>> {
        let Evaluated::Text(parts) = value else {
            return value.text().map(|_| None);
        };
        if let [Part::Reference(reference)] = parts.as_slice() {
            return self.qualifier_of(reference);
        }
        let segments = split(parts, ":");
        let is_arn = segments.first().is_some_and(|first| rendered(first) == "arn");
        // `arn:…:function:NAME:QUALIFIER`, `NAME:QUALIFIER`, `ACCOUNT:function:NAME:QUALIFIER`
        let at = match segments.len() {
            _ if is_arn => 7,
            0..=2 => 1,
            _ => 3,
        };
        segments.get(at).map(|segment| literal(segment)).transpose()
    }

    fn qualifier_of(&self, reference: &Reference) -> Result<Option<String>, Arc<str>> {
        let kind = self
            .template
            .resource(&reference.id)
            .map(|declared| (&*declared.kind, declared));
        match kind {
            Some(("AWS::Lambda::Alias", alias)) => {
                let names = self
                    .template
                    .field(&self.template.properties_of(alias), "Name", &Condition::always());
                match &*names {
                    [only] => only.value.text().map(Some),
                    _ => Err(format!("the name of `{}` depends on a condition", reference.id).into()),
                }
            }
            Some(("AWS::Lambda::Function" | "AWS::Serverless::Function", _)) => Ok(None),
            _ => Err(format!("`{}` is known only when the stack is deployed", reference.shown()).into()),
        }
    }

    /// Whether a queue of this template is among the sources that it may have.
    fn may_be_declared_queue(&self, source: &Attribute<Link>) -> bool {
        let mut links = source.cases.iter().filter_map(|case| case.value());
        links.any(|link| self.is_queue(link))
    }

    fn filters(&self, properties: &Properties<'t>) -> Attribute<Vec<Attribute<String>>> {
        let path = ["FilterCriteria", "Filters"];
        self.listed(properties, &path, &Vec::new(), |items, when, span| {
            let lists = |item: &Evaluated<'t>| always(item.clone(), span).under(when);
            let patterns = items.iter().map(|item| self.pattern(&lists(item), span, properties));
            Ok(patterns.collect())
        })
    }

    /// An attribute that is a list, named by the first key of `path`: `absent` where nothing is written.
    fn listed<T: Clone>(
        &self,
        properties: &Properties<'t>,
        path: &[&'static str],
        absent: &T,
        convert: impl Fn(&[Evaluated<'t>], &Condition, Span) -> Result<T, Arc<str>>,
    ) -> Attribute<T> {
        let cases = self.get(properties, path).into_iter().flat_map(|outcome| {
            let is_absent = matches!(outcome.value, Evaluated::Absent);
            let lists = self.template.list(&outcome.into(), &properties.world);
            lists.map_cases(|when, listed| Sourced {
                state: match &listed.items {
                    _ if is_absent => State::Default(absent.clone()),
                    Err(reason) => State::Unresolved(reason.clone()),
                    Ok(items) => convert(items, when, listed.span).map_or_else(State::Unresolved, State::Set),
                },
                span: if is_absent { properties.header } else { listed.span },
                origins: listed.origins.into(),
            })
        });
        of_cases(
            path.first().copied().unwrap_or_default(),
            cases.collect(),
            properties.header,
        )
    }

    fn pattern(&self, filter: &Outcomes<'t>, span: Span, properties: &Properties<'t>) -> Attribute<String> {
        let pattern = self.template.field(filter, "Pattern", &properties.world);
        let absent = State::Unresolved("`Pattern` is missing".into());
        super::attribute("Pattern", pattern, span, &absent, Evaluated::text)
    }

    fn provisioned_pollers(&self, properties: &Properties<'t>) -> Attribute<Option<ProvisionedPollers>> {
        let name = "ProvisionedPollerConfig";
        let count = |key: &'static str| {
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
        self.listed(properties, &["FunctionResponseTypes"], &false, |items, _, _| {
            reports(items)
        })
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
