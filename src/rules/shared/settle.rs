//! Turns the statements of a rule into its findings. Statements that another rule replaces are dropped, and of several
//! statements about one attribute the worst is kept.
//!
//! Example: `visibility-timeout-too-short` states a warning on `orders` for `prod` and `dev`, and
//! `visibility-timeout-zero` states an error on `orders` for `dev`. The table in `rules.rs` gives precedence to the
//! latter, so the warning is reduced to `prod`. The table is all that this module knows of the rules.

mod groups;

use super::findings::Findings;
use super::settings::Settings;
use super::trace::{JudgedResource, Judgement, ReadValue, Trace, Verdict};
use crate::diagnostic::{Diagnostic, NotEvaluated, RuleId, Severity, Subject};
use crate::graph::{Attribute, Cause, Condition, Graph, LastUsed, Reason, Resource, ResourceKey, UnitId};
use crate::rules::{Rule, rules_with_precedence};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use source::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Maximum number of conditional statements about one resource: each is compared with all others, and no report needs
/// more.
const MAX_CONDITIONAL: usize = 128;
/// Number of queues and mappings below which other threads cost more time than they save.
const MIN_SHARED_OUT: usize = 16;
const TOO_MANY_CONDITIONS: &str = "its conditions are too complex to tell apart";

/// Rule together with the function that applies it to a graph: the check of a built-in rule, or the expressions of a
/// policy.
#[derive(Clone)]
pub struct Judge<'r> {
    /// The rule.
    pub rule: Rule<'r>,
    /// Id of the rule in the form that findings store.
    pub(super) id: RuleId,
    pub(super) check: Option<&'r Check<'r>>,
}

/// Function that applies a rule to a graph.
type Check<'r> = dyn Fn(&mut Findings<'_>) + Sync + 'r;

impl<'r> Judge<'r> {
    /// Creates the judge of a built-in rule.
    pub fn of(rule: &'static Rule<'static>) -> Self {
        Judge {
            rule: *rule,
            id: rule.id.into(),
            check: rule.check.as_ref().map(|check| check as &Check<'_>),
        }
    }

    /// Creates the judge of a policy.
    pub fn new(rule: Rule<'r>, check: &'r Check<'r>) -> Self {
        Judge {
            id: rule.shared_id(),
            rule,
            check: Some(check),
        }
    }
}

/// Results of one rule for a graph, not yet compared with those of other rules.
pub(super) struct RuleResults<'r> {
    pub(super) judge: &'r Judge<'r>,
    statements: Vec<Statement>,
    /// Number of conditional statements about each resource.
    conditional: FxHashMap<ResourceKey, usize>,
    notes: Notes,
    /// Texts that several statements may contain.
    pub(super) texts: LastUsed<str>,
    /// Verdicts without a finding, in a traced run.
    trace: Option<Trace>,
}

/// Finding that another rule may still replace.
#[derive(Debug)]
struct Statement {
    unit: UnitId,
    about: JudgedResource,
    when: Condition,
    /// `true` if it applies whenever its resource exists.
    is_guard_only: bool,
    diagnostic: Diagnostic,
    weight: i64,
    read: BTreeSet<Span>,
}

/// Values that could not be judged, without duplicates.
#[derive(Debug, Default)]
struct Notes {
    all: Vec<NotEvaluated>,
    known: FxHashSet<(Subject, String, Span)>,
}

/// Final results of one rule.
#[derive(Debug)]
pub struct RuleOutcome {
    /// Findings of the rule.
    pub findings: Vec<Diagnostic>,
    /// Resources that the rule could not judge.
    pub not_evaluated: Vec<NotEvaluated>,
    /// Verdicts without a finding, in a traced run.
    pub judgements: Vec<Judgement>,
}

/// Returns the results of each of `judges` for each of `graphs`, in their order. A traced run also records verdicts
/// without a finding. Each rule judges all graphs in succession, which keeps its code in the caches of the processor.
pub fn run(judges: &[Judge<'_>], graphs: &[(&Graph, &Settings)], is_traced: bool) -> Vec<Vec<RuleOutcome>> {
    let before: BTreeMap<&str, &Rule<'static>> = (judges.iter())
        .flat_map(|judge| rules_with_precedence(&judge.rule))
        .map(|before| (before.id, before))
        .collect();
    let mut asked = judges.to_vec();
    let own: FxHashSet<&str> = judges.iter().map(|judge| judge.rule.id).collect();
    let others = before.values().filter(|before| !own.contains(before.id));
    asked.extend(others.map(|before| Judge::of(before)));
    let is_small = |(graph, _): &(&Graph, &Settings)| graph.queues().len() + graph.mappings().len() < MIN_SHARED_OUT;
    // Some rules take much longer than others, so that threads must not receive them in few portions.
    let portion = if graphs.iter().all(is_small) { asked.len() } else { 1 };
    let mut preceding: Vec<FxHashMap<&str, PrecedingStatements>> = Vec::new();
    preceding.resize_with(graphs.len(), FxHashMap::default);
    let mut outcomes = FxHashMap::default();
    let mut asked: Vec<&Judge<'_>> = asked.iter().collect();
    // The statements of a rule are settled at once, because those of all rules together take more memory than the
    // findings that remain. A rule therefore runs after those with precedence over it.
    while !asked.is_empty() {
        let waiting: FxHashSet<&str> = asked.iter().map(|judge| judge.rule.id).collect();
        let waits = |judge: &&Judge<'_>| rules_with_precedence(&judge.rule).any(|before| waiting.contains(before.id));
        let (later, next): (Vec<_>, Vec<_>) = asked.into_iter().partition(waits);
        asked = later;
        let round = next.into_par_iter().with_min_len(portion).with_max_len(1).map(|judge| {
            let graphs = graphs.iter().zip(&preceding);
            let settled = graphs.map(|((graph, settings), preceding)| {
                let results = Findings::of(judge, graph, settings, is_traced);
                let is_needed = !results.statements.is_empty() && before.contains_key(judge.rule.id);
                let statements = is_needed.then(|| PrecedingStatements::of(&results));
                (statements, results.settle(preceding))
            });
            (judge.rule.id, settled.collect::<(Vec<_>, Vec<_>)>())
        });
        for (id, (statements, settled)) in round.collect::<Vec<_>>() {
            for (statements, preceding) in statements.into_iter().zip(&mut preceding) {
                preceding.extend(statements.map(|statements| (id, statements)));
            }
            outcomes.insert(id, settled);
        }
    }
    let of_judges = judges.iter().filter_map(|judge| outcomes.remove(judge.rule.id));
    of_judges.collect()
}

impl Statement {
    /// Returns the note and the verdict that replace the statement if its conditions are too complex.
    fn too_complex(&self, rule: &RuleId) -> (NotEvaluated, Verdict) {
        self.not_made(rule, TOO_MANY_CONDITIONS.to_owned(), Cause::Limit)
    }

    /// Returns the note and the verdict that replace the statement if it needs both of two entangled variables.
    fn entangled(&self, rule: &RuleId, questions: &[Arc<str>; 2]) -> (NotEvaluated, Verdict) {
        let [one, other] = questions;
        let reason = if one == other {
            format!("it depends on several conditions on `{one}`, which may exclude each other")
        } else {
            format!("it depends on both `{one}` and `{other}`, which may exclude each other")
        };
        self.not_made(rule, reason, Cause::Unsupported)
    }

    fn not_made(&self, rule: &RuleId, reason: String, cause: Cause) -> (NotEvaluated, Verdict) {
        let span = self.diagnostic.primary().span;
        let verdict = Verdict::NotEvaluated {
            reason: reason.clone(),
            span,
        };
        let subject = Subject {
            attribute: "",
            ..self.diagnostic.subject.clone()
        };
        let note = NotEvaluated {
            rule: rule.clone(),
            subject,
            reason,
            cause: cause.name(),
            span,
        };
        (note, verdict)
    }
}

impl Notes {
    fn add(&mut self, note: NotEvaluated) {
        let key = (note.subject.clone(), note.reason.clone(), note.span);
        if self.known.insert(key) {
            self.all.push(note);
        }
    }
}

impl<'r> RuleResults<'r> {
    pub(super) fn new(judge: &'r Judge<'r>, is_traced: bool) -> Self {
        RuleResults {
            judge,
            statements: Vec::new(),
            conditional: FxHashMap::default(),
            notes: Notes::default(),
            texts: LastUsed::default(),
            trace: is_traced.then(Trace::default),
        }
    }

    pub(super) fn is_traced(&self) -> bool {
        self.trace.is_some()
    }

    pub(super) fn set_judged_attribute<T>(&mut self, attribute: &Attribute<T>) {
        if let Some(trace) = &mut self.trace {
            trace.set_judged_attribute(attribute);
        }
    }

    /// Records a verdict on `resource` in a traced run.
    pub(super) fn judged<'d>(
        &mut self,
        when: &Condition,
        resource: &Resource,
        subject: Subject,
        read: impl IntoIterator<Item = &'d dyn ReadValue>,
        verdict: Verdict,
    ) {
        if let Some(trace) = &mut self.trace {
            let about = JudgedResource::new(resource, true);
            trace.keep(&self.judge.id, &subject, &about, when, verdict, spans_of(read));
        }
    }

    /// Notes that `subject` could not be judged, because of the cause at `span`.
    pub(super) fn not_evaluated(&mut self, subject: Subject, reason: &Reason, span: Span) {
        let rule = self.judge.id.clone();
        self.notes.add(NotEvaluated {
            rule,
            subject,
            reason: reason.to_string(),
            cause: reason.cause().name(),
            span,
        });
    }

    /// Adds the statement `diagnostic` of `resource` under the condition `when`. It depends on `read`, whether its
    /// labels show that or not. After [`MAX_CONDITIONAL`] statements, only notes that there are more.
    pub(super) fn state<'d>(
        &mut self,
        when: &Condition,
        resource: &Resource,
        diagnostic: Diagnostic,
        weight: i64,
        read: impl IntoIterator<Item = &'d dyn ReadValue>,
    ) {
        let read = if self.is_traced() {
            spans_of(read)
        } else {
            BTreeSet::new()
        };
        let statement = Statement {
            unit: resource.unit,
            about: JudgedResource::new(resource, self.is_traced()),
            when: when.clone(),
            is_guard_only: resource.when.implies(when),
            diagnostic,
            weight,
            read,
        };
        if self.has_room(when, resource) {
            self.statements.push(statement);
        } else {
            let (note, verdict) = statement.too_complex(&self.judge.id);
            if let Some(trace) = &mut self.trace {
                let subject = &statement.diagnostic.subject;
                trace.keep(&self.judge.id, subject, &statement.about, when, verdict, statement.read);
            }
            self.notes.add(note);
        }
    }

    fn has_room(&mut self, when: &Condition, resource: &Resource) -> bool {
        if when.is_always() {
            return true;
        }
        let key = resource.key();
        let conditional = self.conditional.entry(key).or_default();
        *conditional += 1;
        *conditional <= MAX_CONDITIONAL
    }

    /// Returns the final results, without the statements that rules with precedence replace according to `preceding`.
    fn settle(self, preceding: &FxHashMap<&str, PrecedingStatements>) -> RuleOutcome {
        let RuleResults {
            judge,
            statements,
            mut notes,
            mut trace,
            ..
        } = self;
        // Most rules state nothing about most graphs.
        if statements.is_empty() {
            return RuleOutcome {
                findings: Vec::new(),
                not_evaluated: notes.all,
                judgements: trace.map(Trace::into_judgements).unwrap_or_default(),
            };
        }
        let mut keep = |statement: &Statement, when: &Condition, verdict: Verdict| {
            if let Some(trace) = &mut trace {
                let (subject, read) = (&statement.diagnostic.subject, statement.read.clone());
                trace.keep(&judge.id, subject, &statement.about, when, verdict, read);
            }
        };
        let before: Vec<&PrecedingStatements> = rules_with_precedence(&judge.rule)
            .filter_map(|rule| preceding.get(rule.id))
            .collect();
        let mut kept = Vec::with_capacity(statements.len());
        for (at, statement) in statements.iter().enumerate() {
            let mut when = statement.when.clone();
            for preceding in &before {
                let (taken, left) = preceding.split(&when, statement);
                keep(statement, &taken, Verdict::Yields(preceding.rule.clone()));
                when = left;
            }
            if when.is_too_complex() {
                let (note, verdict) = statement.too_complex(&judge.id);
                keep(statement, &when, verdict);
                notes.add(note);
            } else if when.is_possible() {
                kept.push((at, when));
            }
        }
        let entangled = groups::entangled(&statements, &kept);
        kept.retain(|(at, when)| {
            let Some(statement) = statements.get(*at) else {
                return false;
            };
            let Some(questions) = entangled.get(at) else {
                keep(statement, when, Verdict::Found);
                return true;
            };
            let (note, verdict) = statement.entangled(&judge.id, questions);
            keep(statement, when, verdict);
            notes.add(note);
            false
        });
        RuleOutcome {
            findings: groups::findings(statements, kept),
            not_evaluated: notes.all,
            judgements: trace.map(Trace::into_judgements).unwrap_or_default(),
        }
    }
}

fn spans_of<'r>(read: impl IntoIterator<Item = &'r dyn ReadValue>) -> BTreeSet<Span> {
    let mut spans = BTreeSet::new();
    read.into_iter().for_each(|read| read.spans(&mut spans));
    spans
}

/// Conditions and severities of a rule's statements, by unit and address.
struct PrecedingStatements {
    rule: RuleId,
    of: FxHashMap<(UnitId, String), Vec<(Condition, Severity)>>,
}

impl PrecedingStatements {
    fn of(results: &RuleResults<'_>) -> Self {
        let mut of: FxHashMap<_, Vec<_>> = FxHashMap::default();
        let all: Vec<_> = (results.statements.iter().enumerate())
            .map(|(at, statement)| (at, statement.when.clone()))
            .collect();
        let entangled = groups::entangled(&results.statements, &all);
        for (at, statement) in results.statements.iter().enumerate() {
            let Statement {
                unit, when, diagnostic, ..
            } = statement;
            if entangled.contains_key(&at) {
                continue;
            }
            let address = diagnostic.subject.address.clone();
            let results: &mut Vec<_> = of.entry((*unit, address)).or_default();
            results.push((when.clone(), diagnostic.severity));
        }
        PrecedingStatements {
            rule: results.judge.id.clone(),
            of,
        }
    }

    /// Splits `when` into the part under which this rule states something at least as severe as `statement` about its
    /// resource, and the rest.
    fn split(&self, when: &Condition, statement: &Statement) -> (Condition, Condition) {
        let key = (statement.unit, statement.diagnostic.subject.address.clone());
        let results = self.of.get(&key).into_iter().flatten();
        let worse = results.filter(|(_, severity)| *severity >= statement.diagnostic.severity);
        let (mut taken, mut left) = (Condition::never(), when.clone());
        for (other, _) in worse.filter(|(other, _)| when.is_possible_with(other)) {
            taken = taken.or(&when.and(other));
            left = left.and(&other.not());
            if !left.is_possible() {
                break;
            }
        }
        (taken, left)
    }
}
