//! Turns the results of a policy's expressions into findings and notes on unjudged resources.

use super::context::{Context, LabelText, Reading, ShownValue};
use super::eval::{Budget, Evaluator};
use super::objects::Object;
use super::value::{Evaluated, State, UnknownReason};
use super::{Demand, Policy, Target};
use crate::graph::{Plain, Resource, UnitId};
use crate::rules::{Finding, Findings, fact};
use conditions::Condition;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of steps that each policy has per object.
const STEPS_PER_OBJECT: u64 = 60;
/// Maximum number of labels of a finding.
const MOST_LABELS: usize = 8;

impl Policy {
    /// Number of steps that the policies of a run share, in addition to those that each has per object.
    pub const STEPS: u64 = 2_000_000;

    /// Checks the graph of `findings`, which is that of `environment`, in the units that `applies` accepts. `steps` are
    /// the remaining ones that the policies of the run share; those beyond the policy's own are taken from them.
    pub fn judge(
        &self,
        environment: Option<&str>,
        applies: &dyn Fn(UnitId) -> bool,
        steps: &AtomicU64,
        findings: &mut Findings<'_>,
    ) {
        let context = Context::new(findings.graph, environment);
        let objects = self.objects(&context);
        let count = u64::try_from(objects.len()).unwrap_or(u64::MAX);
        let shared = steps.load(Ordering::Relaxed);
        let budget = Budget::new(shared.saturating_add(count.saturating_mul(STEPS_PER_OBJECT)));
        for (object, when) in objects {
            if let Some(resource) = object.resource().filter(|resource| applies(resource.unit)) {
                context.forget_readings();
                let judging = Judging {
                    policy: self,
                    context: &context,
                    resource,
                };
                judging.judge(object, &when, &budget, findings);
            }
        }
        steps.store(shared.min(budget.left()), Ordering::Relaxed);
    }

    /// Returns the objects that the policy checks, with their conditions.
    fn objects<'g>(&self, context: &Context<'g>) -> Vec<(Object<'g>, Condition)> {
        let graph = context.graph;
        let all: Vec<Object<'g>> = match self.definition.target {
            Target::Queue => graph.queues().iter().map(Object::Queue).collect(),
            Target::DeadLetterQueue => {
                let all = graph.queues().iter();
                let taking = all.filter(|queue| graph.is_dead_letter_queue(queue));
                taking.map(Object::Queue).collect()
            }
            Target::Function => graph.functions().iter().map(Object::Function).collect(),
            Target::Mapping => graph.mappings().iter().map(Object::Mapping).collect(),
            Target::Alarm => graph.alarms().iter().map(Object::Alarm).collect(),
            Target::Topic => graph.deliveries().topics.iter().map(Object::Topic).collect(),
            Target::Pipe => graph.deliveries().pipes.iter().map(Object::Pipe).collect(),
        };
        let with = |object: Object<'g>| Some((object, object.resource()?.when.clone()));
        let known = all.into_iter().filter_map(with);
        known
            .filter_map(|(object, when)| self.conditioned(context, object, when))
            .collect()
    }

    /// Returns the condition under which `object` is of the policy's kind.
    fn conditioned<'g>(
        &self,
        context: &Context<'g>,
        object: Object<'g>,
        when: Condition,
    ) -> Option<(Object<'g>, Condition)> {
        let when = match (self.definition.target, object) {
            (Target::DeadLetterQueue, Object::Queue(queue)) => context.dead_letter_when(queue, &when),
            _ => when,
        };
        when.is_possible().then_some((object, when))
    }
}

/// Evaluation of one object.
struct Judging<'j, 'g> {
    policy: &'j Policy,
    context: &'j Context<'g>,
    resource: &'g Resource,
}

impl<'g> Judging<'_, 'g> {
    fn judge(&self, object: Object<'g>, when: &Condition, budget: &Budget, findings: &mut Findings<'_>) {
        let mut evaluator = Evaluator::new(self.context, object, self.resource.unit, budget);
        let selected = match &self.policy.selects {
            Some(code) => evaluator.eval(code, when),
            None => super::value::single_case(when, Evaluated::known(super::value::Value::Bool(true))),
        };
        for selected in selected {
            let gap = match (&selected.then.state, selected.then.truth()) {
                (_, Some(true)) => None,
                (State::Unknown(gap), _) => Some(gap.clone()),
                // A missing value does not select the object.
                _ => continue,
            };
            for demanded in evaluator.eval(&self.policy.demands, &selected.when) {
                let judged = demanded.then.and(&selected.then.read);
                match (self.is_fulfilled(&judged), &gap, &judged.state) {
                    (Some(true), None, _) => self.report_fulfilled(&demanded.when, &judged, findings),
                    (Some(true), Some(_), _) => {}
                    (Some(false), None, _) => self.report_violation(&demanded.when, &judged, findings),
                    (None, None, State::Unknown(gap)) | (_, Some(gap), _) => {
                        self.report_unknown(&demanded.when, gap, findings);
                    }
                    (None, None, _) => {}
                }
            }
        }
    }

    /// Returns `true` if the requirement is met. An expression that reads a missing value is not true.
    fn is_fulfilled(&self, judged: &Evaluated<'g>) -> Option<bool> {
        let truth = match judged.state {
            State::Missing => false,
            _ => judged.truth()?,
        };
        Some(match self.policy.definition.demand {
            Demand::Require(_) => truth,
            Demand::Forbid(_) => !truth,
        })
    }

    fn report_unknown(&self, when: &Condition, gap: &UnknownReason, findings: &mut Findings<'_>) {
        let span = gap.span.unwrap_or(self.resource.header);
        findings.note_unresolved(when, self.resource, &gap.reason, span);
    }

    fn report_fulfilled(&self, when: &Condition, judged: &Evaluated<'g>, findings: &mut Findings<'_>) {
        let spans: Vec<_> = self.readings(judged).map(|reading| reading.span).collect();
        let stated = || self.policy.definition.demand.expression().trim().to_owned();
        let fulfilled = spans
            .iter()
            .fold(fact(true, stated), |fulfilled, span| fulfilled.depending_on(span));
        findings.satisfied(when, self.resource, fulfilled);
    }

    fn report_violation(&self, when: &Condition, judged: &Evaluated<'g>, findings: &mut Findings<'_>) {
        let definition = &self.policy.definition;
        let headline = format!("{}: {}", self.resource.shown(), definition.message);
        let mut labels = self.readings(judged).take(MOST_LABELS).peekable();
        let is_own = |reading: &Reading<'g>| !matches!(reading.shown, LabelText::Resource(..));
        let mut finding = if let Some(first) = labels.next_if(is_own) {
            Finding::new("", headline, (first.span, first.origins), label(&first))
        } else {
            let this = format!("this {}", definition.target.object().name());
            Finding::new("", headline, self.resource.header, this)
        };
        for reading in labels {
            finding = finding.label((reading.span, reading.origins), label(&reading));
        }
        let spans: Vec<_> = self.readings(judged).map(|reading| reading.span).collect();
        let stated = || definition.demand.expression().trim().to_owned();
        let broken = spans
            .iter()
            .fold(fact(false, stated), |broken, span| broken.depending_on(span));
        let help = definition.help.clone().unwrap_or_else(|| self.help());
        findings.require(when, self.resource, broken, || finding.help(help));
    }

    /// Returns the help text for a policy without one: its requirement.
    fn help(&self) -> String {
        let demand = &self.policy.definition.demand;
        let verb = match demand {
            Demand::Require(_) => "requires",
            Demand::Forbid(_) => "forbids",
        };
        let text: Vec<&str> = demand.expression().split_whitespace().collect();
        format!("the policy {verb} `{}`", text.join(" "))
    }

    fn readings(&self, judged: &Evaluated<'g>) -> impl Iterator<Item = Reading<'g>> {
        let places = judged.read.iter();
        places.filter_map(|place| self.context.reading(*place))
    }
}

/// Returns the text of a label: an attribute and its value, or the role of a resource.
fn label(reading: &Reading<'_>) -> String {
    match &reading.shown {
        LabelText::Resource(resource, what) => format!("{resource} {what}"),
        LabelText::Words(words) => (*words).to_owned(),
        LabelText::Value(name, text) => {
            let default = match text {
                ShownValue::Plain(Plain::None) | ShownValue::Unknown => "",
                _ if reading.is_default => ", the default",
                _ => "",
            };
            match text {
                ShownValue::Plain(Plain::Seconds(seconds)) => format!("`{name}` is {}{default}", seconds.with_words()),
                ShownValue::Plain(Plain::Number(number)) => format!("`{name}` is {number}{default}"),
                ShownValue::Plain(Plain::Flag(flag)) => format!("`{name}` is {flag}{default}"),
                ShownValue::Plain(text @ (Plain::Text(_) | Plain::Link(_))) => format!("`{name}` is `{text}`{default}"),
                ShownValue::Count(0) => format!("`{name}` is empty"),
                ShownValue::Count(1) => format!("`{name}` has one entry"),
                ShownValue::Count(count) => format!("`{name}` has {count} entries"),
                ShownValue::Plain(Plain::None) => format!("`{name}` is not set"),
                ShownValue::Unknown => format!("`{name}` is unknown"),
            }
        }
    }
}
