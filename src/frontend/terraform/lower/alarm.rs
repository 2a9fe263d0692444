//! `CloudWatch` alarms and the queues they look at.

use super::super::eval::Scope;
use super::super::syntax::Body;
use super::super::value::Value;
use super::read::{link, text};
use super::{Lowering, Node};
use crate::graph::{Alarm, AlarmMetric, Attribute, Link};

impl Lowering<'_, '_> {
    pub(super) fn alarm(&mut self, node: &Node) {
        let mut metrics = Vec::new();
        let mut opaque = false;
        if node.block.body.attribute("metric_name").is_some() {
            metrics.push(self.metric(node, &node.block.body, &node.scope));
        }
        match self.blocks(&node.block.body, &node.scope, "metric_query") {
            Err(_) => opaque = true,
            Ok(queries) => {
                for query in queries {
                    if let Some((expression, _)) = self.argument(&query.block.body, &query.scope, "expression") {
                        let text = expression.to_text();
                        // Metrics Insights and searches name queues in a language of their own.
                        opaque |= text.is_none_or(|text| text.contains("SELECT") || text.contains("SEARCH"));
                    }
                    match self.blocks(&query.block.body, &query.scope, "metric") {
                        Err(_) => opaque = true,
                        Ok(blocks) => {
                            for block in blocks {
                                metrics.push(self.metric(node, &block.block.body, &block.scope));
                            }
                        }
                    }
                }
            }
        }
        self.graph.alarms.push(Alarm {
            resource: node.resource.clone(),
            metrics,
            opaque,
        });
    }

    fn metric(&mut self, node: &Node, body: &Body, scope: &Scope) -> AlarmMetric {
        let (header, world) = (node.resource.header, &node.resource.when);
        let dimensions = self.argument(body, scope, "dimensions");
        let queue = match dimensions {
            None => Attribute::absent("QueueName", Link::none(), header),
            Some((dimensions, span)) => {
                let name = self
                    .eval
                    .lift(vec![dimensions], &mut |eval, values| match values[0].entries() {
                        Some(known) if known.iter().all(|(key, _)| &**key != "QueueName") => Value::text(""),
                        _ => eval.attribute(&values[0], &"QueueName".into()),
                    });
                self.attribute("QueueName", Some((name, span)), header, world, None, link)
            }
        };
        let namespace = self.argument(body, scope, "namespace");
        let metric = self.argument(body, scope, "metric_name");
        AlarmMetric {
            namespace: self.attribute("namespace", namespace, header, world, None, text),
            metric: self.attribute("metric_name", metric, header, world, None, text),
            queue,
        }
    }
}
