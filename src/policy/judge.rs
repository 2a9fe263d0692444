//! From what an expression comes to for an object to findings, and to notes of what could not be judged.

use super::context::{Context, Reading, Shown, Text};
use super::eval::{Budget, Evaluator};
use super::objects::Object;
use super::value::{Gap, Judged, State};
use super::{Demand, Policy, Target};
use crate::conditions::Condition;
use crate::graph::{Graph, Resource, UnitId};
use crate::rules::{Finding, Findings, fact};

/// Steps that a policy may take in a run, beside those for each object.
const STEPS: u64 = 1_000_000;
const STEPS_FOR_EACH: u64 = 500;
/// Labels that a finding shows.
const MOST_LABELS: usize = 8;

impl Policy {
    /// What it says of `graph`, which is that of `environment`, in the units that `applies` to.
    pub fn judge(
        &self,
        graph: &Graph,
        environment: Option<&str>,
        applies: &dyn Fn(UnitId) -> bool,
        findings: &mut Findings<'_>,
    ) {
        let context = Context::new(graph, environment);
        let objects = self.objects(&context);
        let count = u64::try_from(objects.len()).unwrap_or(u64::MAX);
        let budget = Budget::new(STEPS.saturating_add(count.saturating_mul(STEPS_FOR_EACH)));
        for (object, when) in objects {
            if let Some(resource) = object.resource().filter(|resource| applies(resource.unit)) {
                context.forget();
                let judging = Judging {
                    policy: self,
                    context: &context,
                    resource,
                };
                judging.judge(object, &when, &budget, findings);
            }
        }
    }

    /// What it is for, with the condition.
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
            .filter_map(|(object, when)| self.where_it_is(context, object, when))
            .collect()
    }

    /// The condition under which `object` is what the policy is for.
    fn where_it_is<'g>(
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

/// One object, under judgement.
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
            None => super::value::one(when, Judged::known(super::value::Value::Bool(true))),
        };
        for selected in selected {
            let gap = match (&selected.then.state, selected.then.truth()) {
                (_, Some(true)) => None,
                (State::Unknown(gap), _) => Some(gap.clone()),
                // What is not there is not selected.
                _ => continue,
            };
            for demanded in evaluator.eval(&self.policy.demands, &selected.when) {
                let judged = demanded.then.and(&selected.then.read);
                match (self.is_met(&judged), &gap, &judged.state) {
                    (Some(true), None, _) => self.met(&demanded.when, &judged, findings),
                    (Some(true), Some(_), _) => {}
                    (Some(false), None, _) => self.broken(&demanded.when, &judged, findings),
                    (None, None, State::Unknown(gap)) | (_, Some(gap), _) => {
                        self.not_known(&demanded.when, gap, findings);
                    }
                    (None, None, _) => {}
                }
            }
        }
    }

    /// Whether what the policy demands is met. What asks for something that is not there is not true.
    fn is_met(&self, judged: &Judged<'g>) -> Option<bool> {
        let truth = match judged.state {
            State::Missing => false,
            _ => judged.truth()?,
        };
        Some(match self.policy.definition.demand {
            Demand::Require(_) => truth,
            Demand::Forbid(_) => !truth,
        })
    }

    fn not_known(&self, when: &Condition, gap: &Gap, findings: &mut Findings<'_>) {
        let span = gap.span.unwrap_or(self.resource.header);
        findings.unsettled(when, self.resource, &gap.reason, span);
    }

    fn met(&self, when: &Condition, judged: &Judged<'g>, findings: &mut Findings<'_>) {
        let spans: Vec<_> = self.readings(judged).map(|reading| reading.span).collect();
        let said = || self.policy.definition.demand.expression().trim().to_owned();
        let met = spans.iter().fold(fact(true, said), |met, span| met.given(span));
        findings.satisfied(when, self.resource, met);
    }

    fn broken(&self, when: &Condition, judged: &Judged<'g>, findings: &mut Findings<'_>) {
        let definition = &self.policy.definition;
        let headline = format!("{}: {}", self.resource.shown(), definition.message);
        let mut labels = self.readings(judged).take(MOST_LABELS).peekable();
        let is_own = |reading: &Reading<'g>| !matches!(reading.shown, Shown::Resource(..));
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
        let said = || definition.demand.expression().trim().to_owned();
        let broken = spans.iter().fold(fact(false, said), |broken, span| broken.given(span));
        let help = definition.help.clone().unwrap_or_else(|| self.help());
        findings.require(when, self.resource, broken, || finding.help(help));
    }

    /// What to do, where the policy does not say it: what it demands.
    fn help(&self) -> String {
        let demand = &self.policy.definition.demand;
        let verb = match demand {
            Demand::Require(_) => "requires",
            Demand::Forbid(_) => "forbids",
        };
        let text: Vec<&str> = demand.expression().split_whitespace().collect();
        format!("the policy {verb} `{}`", text.join(" "))
    }

    fn readings(&self, judged: &Judged<'g>) -> impl Iterator<Item = Reading<'g>> {
        let places = judged.read.iter();
        places.filter_map(|place| self.context.reading(*place))
    }
}

/// What a place shows: an attribute and its value, or what a resource is here.
fn label(reading: &Reading<'_>) -> String {
    match &reading.shown {
        Shown::Resource(resource, what) => format!("{} {what}", resource.shown()),
        Shown::Words(words) => (*words).to_owned(),
        Shown::Value(name, text) => {
            let default = match text {
                Text::None | Text::Unknown => "",
                _ if reading.is_default => ", the default",
                _ => "",
            };
            match text {
                Text::Seconds(seconds) => format!("`{name}` is {}{default}", seconds.spoken()),
                Text::Number(number) => format!("`{name}` is {number}{default}"),
                Text::Flag(flag) => format!("`{name}` is {flag}{default}"),
                Text::Written(text) => format!("`{name}` is `{text}`{default}"),
                Text::Count(0) => format!("`{name}` is empty"),
                Text::Count(1) => format!("`{name}` has one entry"),
                Text::Count(count) => format!("`{name}` has {count} entries"),
                Text::None => format!("`{name}` is not set"),
                Text::Unknown => format!("`{name}` is unknown"),
            }
        }
    }
}
