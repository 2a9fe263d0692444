//! Event source mappings whose source is, or may be, a queue.

use super::super::value::{Kind, Value};
use super::read::{boolean, integer, link, refusal, seconds, text};
use super::{Lowering, Node};
use crate::conditions::Condition;
use crate::graph::{Attribute, EventSourceMapping, ProvisionedPollers, StreamSetting, limits};

/// Arguments that only streams take.
const STREAM_SETTINGS: [&str; 6] = [
    "starting_position",
    "bisect_batch_on_function_error",
    "maximum_record_age_in_seconds",
    "maximum_retry_attempts",
    "parallelization_factor",
    "tumbling_window_in_seconds",
];

impl Lowering<'_, '_> {
    pub(super) fn mapping(&mut self, node: &Node) {
        self.failures(node);
        if self.reads_no_queue(node) {
            return;
        }
        let report = self.read(node, "function_response_types", false, |_, value| {
            let mut known = true;
            for item in value.items().ok_or_else(|| refusal(value, "it is not a list"))?.iter() {
                match item.to_text() {
                    Some(text) if &*text == "ReportBatchItemFailures" => return Ok(true),
                    Some(_) => {}
                    None => known = false,
                }
            }
            known
                .then_some(false)
                .ok_or_else(|| "a response type is not known".into())
        });
        let maximum = self.read_nested(node, &["scaling_config"], "maximum_concurrency", None, |eval, value| {
            integer(eval, value).map(Some)
        });
        let mapping = EventSourceMapping {
            resource: node.resource.clone(),
            queue: self.link(node, "event_source_arn"),
            function: self.link(node, "function_name"),
            batch_size: self.read(node, "batch_size", limits::BATCH_SIZE_DEFAULT, integer),
            window: self.read(
                node,
                "maximum_batching_window_in_seconds",
                limits::WINDOW_DEFAULT,
                seconds,
            ),
            report_batch_item_failures: report,
            maximum_concurrency: maximum,
            enabled: self.read(node, "enabled", true, boolean),
            filters: self.filters(node),
            provisioned_pollers: self.provisioned_pollers(node),
            failure_destination: self.read_nested(
                node,
                &["destination_config", "on_failure"],
                "destination_arn",
                None,
                |eval, value| link(eval, value).map(Some),
            ),
            stream_settings: self.stream_settings(node),
            qualifier: self.qualifier(node),
            ignored_disabling: None,
        };
        self.graph.mappings.push(mapping);
    }

    fn filters(&mut self, node: &Node) -> Attribute<Vec<Attribute<String>>> {
        let (name, header, world) = ("filter_criteria", node.resource.header, &node.resource.when);
        let mut filters = Vec::new();
        let criteria = match self.blocks(&node.block.body, &node.scope, name) {
            Ok(blocks) => blocks,
            Err(reason) => return Attribute::unresolved(name, reason, header),
        };
        let Some(first) = criteria.first().map(|nested| nested.span) else {
            return Attribute::absent(name, filters, header);
        };
        for nested in criteria {
            let blocks = match self.blocks(&nested.block.body, &nested.scope, "filter") {
                Ok(blocks) => blocks,
                Err(reason) => return Attribute::unresolved(name, reason, nested.span),
            };
            for filter in blocks {
                let pattern = self.argument(&filter.block.body, &filter.scope, "pattern");
                filters.push(self.attribute("pattern", pattern, filter.span, world, None, text));
            }
        }
        Attribute::set(name, filters, first)
    }

    fn provisioned_pollers(&mut self, node: &Node) -> Attribute<Option<ProvisionedPollers>> {
        let name = "provisioned_poller_config";
        let (header, world) = (node.resource.header, &node.resource.when);
        match self.blocks(&node.block.body, &node.scope, name) {
            Err(reason) => Attribute::unresolved(name, reason, header),
            Ok(blocks) => match blocks.first() {
                None => Attribute::absent(name, None, header),
                Some(nested) => {
                    let mut count = |argument: &'static str| {
                        let value = self.argument(&nested.block.body, &nested.scope, argument);
                        self.attribute(argument, value, nested.span, world, Some(None), |eval, value| {
                            integer(eval, value).map(Some)
                        })
                    };
                    let pollers = ProvisionedPollers {
                        minimum: count("minimum_pollers"),
                        maximum: count("maximum_pollers"),
                    };
                    Attribute::set(name, Some(pollers), nested.span)
                }
            },
        }
    }

    /// Arguments that only streams take, where they are set to something.
    fn stream_settings(&mut self, node: &Node) -> Vec<StreamSetting> {
        let mut settings = Vec::new();
        for name in STREAM_SETTINGS {
            let Some((value, span)) = self.argument(&node.block.body, &node.scope, name) else {
                continue;
            };
            let set = value
                .each_case()
                .into_iter()
                .filter(|value| value.is_plain() && !value.is_null());
            let when = set.fold(Condition::never(), |all, case| all.or(&case.when));
            if node.resource.when.is_possible_with(&when) {
                settings.push(StreamSetting {
                    name: name.into(),
                    span,
                    when,
                });
            }
        }
        settings
    }

    /// The alias or version that the function's argument names.
    fn qualifier(&mut self, node: &Node) -> Attribute<Option<String>> {
        self.read(node, "function_name", None, |eval, value| match &value.kind {
            Kind::Reference(id, _) if &*id.kind == "aws_lambda_alias" => Ok(Some(id.address().to_string())),
            Kind::Reference(id, attribute) if &**attribute == "qualified_arn" => {
                Ok(Some(format!("{}.{attribute}", id.address())))
            }
            Kind::Reference(..) => Ok(None),
            _ => {
                let written = text(eval, value)?;
                let mut parts = written.split(':');
                // `name:qualifier`, `…:function:name:qualifier`.
                let behind = if written.starts_with("arn:") {
                    parts.nth(7)
                } else {
                    parts.nth(1)
                };
                Ok(behind.map(str::to_owned))
            }
        })
    }

    /// Whether the source is known to be something other than a queue.
    fn reads_no_queue(&mut self, node: &Node) -> bool {
        let body = &node.block.body;
        let others = [
            "self_managed_event_source",
            "amazon_managed_kafka_event_source_config",
            "document_db_event_source_config",
        ];
        if body.blocks.iter().any(|block| others.contains(&&*block.kind)) {
            return true;
        }
        let streams = [
            "starting_position",
            "topics",
            "queues",
            "bisect_batch_on_function_error",
            "parallelization_factor",
        ];
        let Some((value, _)) = self.argument(body, &node.scope, "event_source_arn") else {
            return true;
        };
        // A module that serves queues and streams writes these arguments too, and leaves them null for queues.
        let stream = streams.iter().any(|name| {
            let value = self.argument(body, &node.scope, name);
            value.is_some_and(|(value, _)| !value.is_null() && value.is_plain())
        });
        value.each_case().iter().all(|value| match service(value) {
            Some(service) => service != "sqs",
            // A broker of one's own has no ARN.
            None => stream || value.is_null(),
        })
    }
}

/// The service of an ARN or of the resource behind a reference.
fn service(value: &Value) -> Option<&str> {
    match &value.kind {
        Kind::Reference(id, _) if &*id.kind == "aws_sqs_queue" => Some("sqs"),
        Kind::Reference(id, _) if id.kind.starts_with("aws_") => Some("other"),
        Kind::Text(text) => text.strip_prefix("arn:")?.split(':').nth(1),
        Kind::Template(parts) => match &parts.first()?.kind {
            Kind::Text(text) => text
                .strip_prefix("arn:")?
                .split(':')
                .nth(1)
                .filter(|service| !service.is_empty()),
            _ => None,
        },
        _ => None,
    }
}
