//! Event source mappings whose source is, or may be, a queue.

use super::super::value::{Kind, Value};
use super::read::{boolean, integer, refusal, seconds};
use super::{Lowering, Node};
use crate::graph::{EventSourceMapping, limits};

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
        let maximum = self.read_nested(node, "scaling_config", "maximum_concurrency", None, |eval, value| {
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
        };
        self.graph.mappings.push(mapping);
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
        value.each_case().iter().all(|(_, value)| match service(value) {
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
