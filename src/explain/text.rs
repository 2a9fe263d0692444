//! A place in words: at most 80 columns wide, and nothing in it is told by colour or position alone.

use super::{Concluded, Conclusion, Explained, Line, MOST, Told};
use crate::diagnostic::{Diagnostic, Silencer};
use crate::report::{printable, wrapped};
use crate::rules::{Judgement, Verdict};
use crate::source::Span;
use std::collections::BTreeMap;

/// The number of resources, and of conclusions of one rule, that are told one by one.
const MANY: usize = MOST;

/// Everything that is known of the place.
pub(super) fn render(explained: &Explained, subject: &str) -> String {
    let mut page = Page {
        explained,
        text: String::new(),
    };
    page.write(0, subject);
    let told = explained.told();
    if told.is_empty() {
        page.nothing();
    }
    for one in told.iter().take(MANY) {
        page.resource(one, told.iter().any(|other| other.unit != one.unit));
    }
    if let Some(more) = told.len().checked_sub(MANY).filter(|more| *more > 0) {
        page.text.push('\n');
        page.write(0, &format!("and {more} more resources like these"));
    }
    page.conclusions(&told);
    page.text
}

struct Page<'e> {
    explained: &'e Explained,
    text: String,
}

impl Page<'_> {
    /// Writes `text`, wrapped between words; its second line is indented further than its first.
    fn write(&mut self, indent: usize, text: &str) {
        wrapped::write(&mut self.text, &printable(text), (indent, indent + 2), wrapped::WIDTH);
    }

    /// `line 12`, or `modules/queue/main.tf:12` in another file.
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

    fn resource(&mut self, told: &Told, has_units: bool) {
        let mut title = name(told);
        if told.construct.is_some() || !told.address.contains(&told.kind) {
            title += &format!(", {}", told.kind);
        }
        title += &format!(", {}", self.at(told.header));
        if has_units {
            title += &format!(", in {}", told.unit);
        }
        for when in &told.when {
            title += &format!(", {when}");
        }
        self.text.push('\n');
        self.write(0, &title);
        for line in &told.lines {
            self.line(line);
        }
    }

    fn line(&mut self, line: &Line) {
        let mut text = line.text.clone();
        if let Some(span) = line.span {
            text += &format!(", {}", self.at(span));
        }
        text += &environments(&line.environments);
        self.write(2, &text);
        for (what, span) in &line.origins {
            let (file, position) = self.explained.position(*span);
            // A file is not named twice.
            let at = match file {
                Some(file) if !what.contains(file.shown()) => format!("{}:{}", file.shown(), position.line),
                _ => format!("line {}", position.line),
            };
            self.write(4, &format!("from {what}, {at}"));
        }
    }

    fn conclusions(&mut self, told: &[Told]) {
        let all = self.explained.conclusions();
        if all.is_empty() {
            return;
        }
        self.text.push_str("\njudged by\n");
        let (spoke, silent): (Vec<_>, Vec<_>) = all.iter().partition(|one| !one.all.is_empty());
        for concluded in spoke {
            self.concluded(concluded, told);
        }
        let silent: Vec<&str> = silent.iter().map(|one| one.rule.id).collect();
        if !silent.is_empty() {
            self.write(2, &format!("not applicable: {}", silent.join(", ")));
        }
    }

    fn concluded(&mut self, concluded: &Concluded<'_>, told: &[Told]) {
        let mut all: Vec<Said> = Vec::new();
        let mut known: BTreeMap<(String, Vec<String>), usize> = BTreeMap::new();
        for conclusion in &concluded.all {
            let said = self.said(concluded.rule.id, conclusion, told);
            // What is concluded alike of many instances is told once.
            let at = *known.entry((said.head.clone(), said.body.clone())).or_insert(all.len());
            match all.get_mut(at) {
                Some(same) => same.whose.extend(said.whose),
                None => all.push(said),
            }
        }
        let mut last = "";
        for said in all.iter().take(MANY) {
            // Of several conclusions of one kind the rule is named once.
            if said.head != last {
                self.write(2, &said.head);
            }
            last = &said.head;
            let whose = whose(&said.whose);
            for (at, text) in said.body.iter().enumerate() {
                let whose = if at == 0 { &*whose } else { "" };
                self.write(4, &format!("{whose}{text}"));
            }
        }
        if let Some(more) = all.len().checked_sub(MANY).filter(|more| *more > 0) {
            self.write(4, &format!("and {more} more"));
        }
    }

    fn said(&self, rule: &str, conclusion: &Conclusion<'_>, told: &[Told]) -> Said {
        match conclusion {
            Conclusion::Found(found) => Said {
                head: format!("{}[{rule}]", found.severity),
                whose: Vec::new(),
                body: found_in_words(found),
            },
            Conclusion::Silenced(silenced) => {
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
                Said {
                    head: format!("suppressed {}[{rule}]", silenced.finding.severity),
                    whose: Vec::new(),
                    body,
                }
            }
            Conclusion::Judged(judged) => self.judged(judged, told),
        }
    }

    fn judged(&self, judged: &Judgement, told: &[Told]) -> Said {
        let (verdict, mut body) = match &judged.verdict {
            Verdict::Holds(comparison) => ("ok", comparison.clone()),
            Verdict::Yields(other) => ("covered", format!("reported as {other} instead")),
            Verdict::Ignored { headline, reason } => {
                let reason = reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
                ("ignored", format!("{headline}; ignored by the configuration{reason}"))
            }
            Verdict::NotEvaluated { reason, span } => ("not evaluated", format!("{reason}, {}", self.at(*span))),
            // Both are told otherwise.
            Verdict::Found | Verdict::NotConcerned => ("not applicable", String::new()),
        };
        if let Some(when) = &judged.when {
            body += &format!(", when {when}");
        }
        if judged.environments.len() < self.explained.environments() {
            body += &environments(&judged.environments);
        }
        // Whose verdict it is goes without saying where it is that of the one resource there.
        let is_only = matches!(told, [one] if one.address == judged.subject.address);
        let is_named = is_only || matches!(judged.verdict, Verdict::Ignored { .. });
        Said {
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

/// A conclusion in words.
struct Said {
    /// `ok[rule-id]`.
    head: String,
    /// The resources, where that is to be told.
    whose: Vec<String>,
    body: Vec<String>,
}

fn found_in_words(found: &Diagnostic) -> Vec<String> {
    let mut body = vec![found.headline.clone()];
    if !found.calls.is_empty() {
        body.push(format!("for {}", found.calls.join(", ")));
    }
    body.extend(found.calculation.clone());
    body.extend(found.when.as_ref().map(|when| format!("when {when}")));
    body
}

/// The first few resources, to put before what is said of them.
fn whose(all: &[String]) -> String {
    const NAMED: usize = 3;
    match all {
        [] => String::new(),
        _ if all.len() <= NAMED => format!("{}: ", all.join(", ")),
        _ => {
            let named: Vec<&str> = all.iter().take(NAMED).map(String::as_str).collect();
            format!("{} and {} more: ", named.join(", "), all.len() - NAMED)
        }
    }
}

/// The construct that a user knows, and what was made of it.
fn name(told: &Told) -> String {
    match &told.construct {
        Some(construct) => format!("{construct} ({})", told.address),
        None => told.address.clone(),
    }
}

/// In which environments something is so.
fn environments(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => format!(", in environment {one}"),
        several => format!(", in environments {}", several.join(", ")),
    }
}
