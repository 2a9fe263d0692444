//! Formats an explanation as text, at most 80 columns wide, without relying on colour or position.

use super::{Concluded, Conclusion, ExplainedLine, ExplainedResource, Explanation, MAX_WITH_LINKS};
use crate::diagnostic::{Diagnostic, Silencer};
use crate::report::{few, printable, wrapped};
use crate::rules::{Judgement, Verdict};
use source::Span;
use std::collections::BTreeMap;

/// Maximum number of resources, and of conclusions per rule, to list.
const MANY: usize = MAX_WITH_LINKS;

/// Formats everything known about the location; with `all`, also why rules have no finding.
pub(super) fn render(explained: &Explanation, subject: &str, all: bool) -> String {
    let mut page = Page {
        explained,
        all,
        text: String::new(),
    };
    page.write(0, subject);
    let reported = explained.resources();
    if reported.is_empty() && explained.conclusions().is_empty() {
        page.nothing();
    }
    for one in reported.iter().take(MANY) {
        page.resource(one, reported.iter().any(|other| other.unit != one.unit));
    }
    if let Some(more) = reported.len().checked_sub(MANY).filter(|more| *more > 0) {
        page.text.push('\n');
        page.write(0, &format!("and {more} more resources like these"));
    }
    page.conclusions(&reported);
    page.text
}

struct Page<'e> {
    explained: &'e Explanation,
    /// `true` to write the conclusions of rules without a finding.
    all: bool,
    text: String,
}

impl Page<'_> {
    /// Appends `text`, wrapped between words, with continuation lines indented further.
    fn write(&mut self, indent: usize, text: &str) {
        wrapped::write(&mut self.text, &printable(text), (indent, indent + 2), wrapped::WIDTH);
    }

    /// Returns `line 12`, or `modules/queue/main.tf:12` for another file.
    fn at(&self, span: Span) -> String {
        match self.explained.position(span) {
            (None, position) => format!("line {}", position.line),
            (Some(file), position) => format!("{}:{}", file.shown(), position.line),
        }
    }

    fn nothing(&mut self) {
        self.text.push('\n');
        self.write(0, "nothing here concerns a queue, a function or what connects them");
        let nearest = self.explained.nearest().iter();
        let nearest: Vec<String> = nearest
            .map(|(address, span)| format!("{address} ({})", self.at(*span)))
            .collect();
        if !nearest.is_empty() {
            self.write(0, &format!("nearest: {}", nearest.join(", ")));
        }
        for note in self.explained.notes() {
            self.write(0, &format!("note: {note}"));
        }
    }

    fn resource(&mut self, reported: &ExplainedResource, has_units: bool) {
        let mut title = name(reported);
        if reported.construct.is_some() || !reported.address.contains(&reported.kind) {
            title += &format!(", {}", reported.kind);
        }
        title += &format!(", {}", self.at(reported.header));
        if has_units {
            title += &format!(", in {}", reported.unit);
        }
        for when in &reported.when {
            title += &format!(", {when}");
        }
        self.text.push('\n');
        self.write(0, &title);
        for line in &reported.lines {
            self.line(line);
        }
    }

    fn line(&mut self, line: &ExplainedLine) {
        let mut text = line.text.clone();
        if let Some(span) = line.span {
            text += &format!(", {}", self.at(span));
        }
        text += &environments(&line.environments);
        self.write(2, &text);
        for (what, span) in &line.origins {
            let (file, position) = self.explained.position(*span);
            // A file that the text already names is not named again.
            let at = match file {
                Some(file) if !what.contains(file.shown()) => format!("{}:{}", file.shown(), position.line),
                _ => format!("line {}", position.line),
            };
            self.write(4, &format!("from {what}, {at}"));
        }
    }

    fn conclusions(&mut self, reported: &[ExplainedResource]) {
        let all = self.explained.conclusions();
        if all.is_empty() {
            return;
        }
        self.text.push_str("\njudged by\n");
        let (failing, others): (Vec<_>, Vec<_>) = all.iter().partition(|one| one.all.iter().any(is_found));
        for concluded in &failing {
            self.concluded(concluded, reported);
        }
        if !self.all {
            self.folded(&others, failing.is_empty());
            return;
        }
        let (spoke, silent): (Vec<&Concluded<'_>>, Vec<_>) = others.into_iter().partition(|one| !one.all.is_empty());
        for concluded in spoke {
            self.concluded(concluded, reported);
        }
        let silent: Vec<&str> = silent.iter().map(|one| one.rule.id).collect();
        if !silent.is_empty() {
            self.write(2, &format!("not applicable: {}", silent.join(", ")));
        }
    }

    /// Writes one line about the rules without a finding.
    fn folded(&mut self, others: &[&Concluded<'_>], is_only: bool) {
        if others.is_empty() {
            return;
        }
        let is_open = |one: &&&Concluded<'_>| one.all.iter().any(is_not_evaluated);
        let open: Vec<String> = others
            .iter()
            .filter(is_open)
            .map(|one| one.rule.id.to_owned())
            .collect();
        let lacking = if open.is_empty() {
            String::new()
        } else {
            format!("; not evaluated: {}", few(&open))
        };
        let whose = if is_only { "" } else { "of the other rules " };
        self.write(
            2,
            &format!("no finding {whose}(`sqslint explain --verbose` shows why){lacking}"),
        );
    }

    fn concluded(&mut self, concluded: &Concluded<'_>, reported: &[ExplainedResource]) {
        let mut all: Vec<ConclusionText> = Vec::new();
        let mut known: BTreeMap<(String, Vec<String>), usize> = BTreeMap::new();
        for conclusion in &concluded.all {
            let stated = self.stated(concluded.rule.id, conclusion, reported);
            // Identical conclusions on several instances are listed once.
            let at = *known
                .entry((stated.head.clone(), stated.body.clone()))
                .or_insert(all.len());
            match all.get_mut(at) {
                Some(same) => same.whose.extend(stated.whose),
                None => all.push(stated),
            }
        }
        let mut last = "";
        for stated in all.iter().take(MANY) {
            // The rule is named once for consecutive conclusions of one kind.
            if stated.head != last {
                self.write(2, &stated.head);
            }
            last = &stated.head;
            let whose = whose(&stated.whose);
            for (at, text) in stated.body.iter().enumerate() {
                let whose = if at == 0 { &*whose } else { "" };
                self.write(4, &format!("{whose}{text}"));
            }
        }
        if let Some(more) = all.len().checked_sub(MANY).filter(|more| *more > 0) {
            self.write(4, &format!("and {more} more"));
        }
    }

    fn stated(&self, rule: &str, conclusion: &Conclusion<'_>, reported: &[ExplainedResource]) -> ConclusionText {
        match conclusion {
            Conclusion::Found(found) => ConclusionText {
                head: format!("{}[{rule}]", found.severity),
                whose: Vec::new(),
                body: found_in_words(found),
            },
            Conclusion::Suppressed(silenced) => {
                let mut by = match &silenced.by {
                    Silencer::Suppression(span) => format!("suppressed at {}", self.at(*span)),
                    Silencer::Baseline(file) => {
                        let sources = &self.explained.outcome.sources;
                        format!("in the baseline {}", sources.shown_of(file))
                    }
                    Silencer::Since(name) => format!("not new since {name}"),
                };
                if let Some(reason) = &silenced.reason {
                    by += &format!(": {reason}");
                }
                let mut body = found_in_words(&silenced.finding);
                body.push(by);
                ConclusionText {
                    head: format!("suppressed {}[{rule}]", silenced.finding.severity),
                    whose: Vec::new(),
                    body,
                }
            }
            Conclusion::Judged(judged) => self.judged(judged, reported),
        }
    }

    fn judged(&self, judged: &Judgement, reported: &[ExplainedResource]) -> ConclusionText {
        let (verdict, mut body) = match &judged.verdict {
            Verdict::Holds(comparison) => ("ok", comparison.clone()),
            Verdict::Yields(other) => ("covered", format!("reported as {other} instead")),
            Verdict::Ignored { headline, reason } => {
                let reason = reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
                ("ignored", format!("{headline}; ignored by the configuration{reason}"))
            }
            Verdict::NotEvaluated { reason, span } => ("not evaluated", format!("{reason}, {}", self.at(*span))),
            // Findings and unconcerned rules are listed elsewhere.
            Verdict::Found | Verdict::NotConcerned => ("not applicable", String::new()),
        };
        if let Some(when) = &judged.when {
            body += &format!(", only if {when}");
        }
        if judged.environments.len() < self.explained.environments() {
            body += &environments(&judged.environments);
        }
        // The verdict names its resource unless there is only one.
        let is_only = matches!(reported, [one] if one.address == judged.subject.address);
        let is_named = is_only || matches!(judged.verdict, Verdict::Ignored { .. });
        ConclusionText {
            head: format!("{verdict}[{}]", judged.rule),
            whose: if is_named {
                Vec::new()
            } else {
                vec![judged.shown.clone()]
            },
            body: vec![body],
        }
    }
}

fn is_found(conclusion: &Conclusion<'_>) -> bool {
    match conclusion {
        Conclusion::Found(_) | Conclusion::Suppressed(_) => true,
        Conclusion::Judged(judged) => matches!(judged.verdict, Verdict::Ignored { .. }),
    }
}

fn is_not_evaluated(conclusion: &Conclusion<'_>) -> bool {
    matches!(conclusion, Conclusion::Judged(judged) if matches!(judged.verdict, Verdict::NotEvaluated { .. }))
}

/// Text of a conclusion.
struct ConclusionText {
    /// Verdict and rule, as in `ok[rule-id]`.
    head: String,
    /// Resources to name, if any.
    whose: Vec<String>,
    body: Vec<String>,
}

fn found_in_words(found: &Diagnostic) -> Vec<String> {
    let mut body = vec![found.headline.clone()];
    if !found.calls.is_empty() {
        body.push(format!("instances: {}", found.instances_in_words(str::to_owned)));
    }
    body.extend(found.calculation.as_deref().map(str::to_owned));
    body.extend(found.when.as_ref().map(|when| format!("only if {when}")));
    body
}

/// Returns the first few resources as a prefix for their conclusion.
fn whose(all: &[String]) -> String {
    if all.is_empty() { String::new() } else { few(all) + ": " }
}

/// Returns the name of the user's construct, followed by the resource generated from it.
fn name(reported: &ExplainedResource) -> String {
    match &reported.construct {
        Some(construct) => format!("{construct} ({})", reported.address),
        None => reported.address.clone(),
    }
}

/// Formats the environments that a statement applies to.
fn environments(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => format!(", in environment {one}"),
        several => format!(", in environments {}", few(several)),
    }
}
