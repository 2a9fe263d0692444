//! `AWS::CloudWatch::Alarm`: one metric, or a list of metric queries.

use super::{Lowering, Properties, attribute};
use crate::conditions::Case;
use crate::frontend::cloudformation::value::{Evaluated, Outcome, Outcomes, always};
use crate::graph::{Alarm, AlarmMetric, Attribute, Link, Resource, State};

impl<'t> Lowering<'_, 't> {
    pub(super) fn alarm(&mut self, resource: Resource, properties: &Properties<'t>) {
        let mut alarm = Alarm {
            resource,
            metrics: Vec::new(),
            opaque: false,
        };
        let is_written = |outcomes: &Outcomes<'_>| outcomes.iter().any(|o| !matches!(o.value, Evaluated::Absent));
        if is_written(&self.get(properties, &["MetricName"])) {
            alarm.metrics.push(self.metric(&properties.own, properties));
        }
        let queries = self.get(properties, &["Metrics"]);
        for Case { when, then: listed } in self.template.list(&queries, &properties.world) {
            let Ok(items) = listed.items else {
                alarm.opaque = true;
                continue;
            };
            for item in items {
                let query = always(item, listed.span).under(&when);
                let metric = self.template.path(&query, &["MetricStat", "Metric"], &properties.world);
                let expression = self.template.field(&query, "Expression", &properties.world);
                if is_written(&metric) {
                    alarm.metrics.push(self.metric(&metric, properties));
                } else if expression.iter().any(|outcome| match outcome.value.text() {
                    Ok(text) => text.trim_start().to_ascii_uppercase().starts_with("SELECT"),
                    Err(_) => true,
                }) {
                    alarm.opaque = true;
                }
            }
        }
        self.graph.alarms.push(alarm);
    }

    fn metric(&self, object: &Outcomes<'t>, properties: &Properties<'t>) -> AlarmMetric {
        let world = &properties.world;
        let text = |key: &'static str| {
            let absent = State::Unresolved(format!("`{key}` is missing").into());
            let outcomes = self.template.field(object, key, world);
            attribute(key, outcomes, properties.header, &absent, Evaluated::text)
        };
        AlarmMetric {
            namespace: text("Namespace"),
            metric: text("MetricName"),
            queue: self.dimension(object, properties),
        }
    }

    /// The value of the dimension `QueueName`.
    fn dimension(&self, object: &Outcomes<'t>, properties: &Properties<'t>) -> Attribute<Link> {
        let world = &properties.world;
        let dimensions = self.template.field(object, "Dimensions", world);
        let found = self.template.list(&dimensions, world).into_iter().flat_map(|listed| {
            let keep = |value| {
                let outcome = Outcome {
                    value,
                    span: listed.span,
                    origins: listed.origins.clone(),
                };
                Outcomes::from(Case::new(listed.when.clone(), outcome))
            };
            let items = match &listed.items {
                Ok(items) => items,
                Err(reason) => return keep(Evaluated::Unresolved(reason.clone())),
            };
            let values = items.iter().find_map(|item| {
                let one = keep(item.clone());
                let names = self.template.field(&one, "Name", world);
                let is_queue = names.iter().any(|name| name.value.text().as_deref() == Ok("QueueName"));
                is_queue.then(|| self.template.field(&one, "Value", world))
            });
            let is_open = |item: &Evaluated<'t>| {
                let names = self.template.field(&keep(item.clone()), "Name", world);
                names.iter().any(|name| matches!(name.value, Evaluated::Unresolved(_)))
            };
            values.unwrap_or_else(|| {
                let open = items.iter().any(is_open);
                let unresolved = || Evaluated::Unresolved("the name of a dimension is not known".into());
                keep(if open { unresolved() } else { Evaluated::Absent })
            })
        });
        let absent = State::Default(Link::none());
        attribute("Dimensions", found.collect(), properties.header, &absent, |value| {
            self.template.link(value)
        })
    }
}
