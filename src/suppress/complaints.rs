//! Reports faults of suppressions as findings: those that hide nothing, have expired, name unknown rules, or lack a
//! reason.

use super::directive::{Directive, Name, Until};
use super::{Policy, Suppression, Suppressions, is_known, rules_of, suggest};
use crate::diagnostic::{Change, Diagnostic, Remedy, Severity, Subject};
use rustc_hash::FxHashMap;
use source::{Sources, Span};

/// Maximum number of different unknown names that get a suggestion, since each is compared with every rule.
const MOST_SUGGESTIONS: usize = 200;

/// Returns all faults, in the order of the files.
pub(super) fn all(suppressions: &Suppressions<'_>, sources: &Sources, policy: &dyn Policy) -> Vec<Diagnostic> {
    let mut complaints = FaultCollector {
        suppressions,
        sources,
        policy,
        suggestions: FxHashMap::default(),
        found: Vec::new(),
    };
    for one in &suppressions.all {
        complaints.about(one);
    }
    complaints.found
}

struct FaultCollector<'a> {
    suppressions: &'a Suppressions<'a>,
    sources: &'a Sources,
    policy: &'a dyn Policy,
    suggestions: FxHashMap<String, Option<&'a str>>,
    found: Vec<Diagnostic>,
}

impl<'a> FaultCollector<'a> {
    fn about(&mut self, one: &Suppression) {
        let file = one.written.span.file;
        let directive = match &one.directive {
            Ok(directive) => directive,
            Err(why) => {
                let headline = format!("this suppression has no effect: {why}");
                self.report(
                    "unused-suppression",
                    one.written.span,
                    headline,
                    why.clone(),
                    "correct it, or remove it",
                );
                return;
            }
        };
        if directive.whole_file && !one.written.leading {
            self.report(
                "unused-suppression",
                one.written.span,
                "this suppression has no effect: `ignore-file` only works in the leading comments of a file".into(),
                "there is code before it".into(),
                "move it to the top of the file, or write `ignore` before what it is about",
            );
            return;
        }
        if directive.reason.is_none() && self.policy.wants_reason(file) {
            self.report(
                "suppression-without-reason",
                one.written.span,
                "this suppression gives no reason".into(),
                "the reason is missing".into(),
                "add a reason after the brackets; `require-reason` is set",
            );
        }
        let ended = self.ended(one, directive);
        for (at, name) in directive.names.iter().enumerate() {
            let span = self.place(one, name);
            if !is_known(&name.text, self.suppressions.rules) {
                self.unknown(span, &name.text);
            } else if !ended {
                self.unused(one, at, span, name);
            }
        }
    }

    /// Returns `true` if the suppression has expired or its date is invalid.
    fn ended(&mut self, one: &Suppression, directive: &Directive) -> bool {
        match &directive.until {
            Until::Forever => false,
            Until::Malformed(text) => {
                self.report(
                    "expired-suppression",
                    one.written.span,
                    format!("`{text}` is not a date, so this suppression has no effect"),
                    "not a date".into(),
                    "write the last day on which it applies as `until=2027-03-31`",
                );
                true
            }
            Until::Day(day) if *day < self.suppressions.today => {
                let back = if one.used.contains(&true) {
                    "and what it suppressed is reported again"
                } else {
                    "and there is nothing left for it to suppress"
                };
                self.report(
                    "expired-suppression",
                    one.written.span,
                    format!("this suppression ended on {day}, {back}"),
                    format!("it applied until {day}"),
                    "fix what it suppressed and remove it, or set a new end",
                );
                true
            }
            Until::Day(_) => false,
        }
    }

    fn unknown(&mut self, span: Span, name: &str) {
        let is_set = matches!(name, "all" | "default" | "pedantic");
        let near = if is_set { None } else { self.suggestion(name) };
        let (label, help) = match near {
            Some(near) => (format!("did you mean `{near}`?"), format!("write `{near}`")),
            None if is_set => (
                "it is a set of rules".to_owned(),
                "name the rules, or a category".to_owned(),
            ),
            None => (
                "neither a rule nor a category".to_owned(),
                "`sqslint rules` lists the rules".to_owned(),
            ),
        };
        let headline = match near {
            Some(near) => format!("unknown rule `{name}` in a suppression; did you mean `{near}`?"),
            None if is_set => format!("`{name}` in a suppression is not a rule but a set of rules"),
            None => format!("unknown rule `{name}` in a suppression"),
        };
        self.report("unknown-rule-in-suppression", span, headline, label, &help);
    }

    fn suggestion(&mut self, name: &str) -> Option<&'a str> {
        if let Some(known) = self.suggestions.get(name) {
            return *known;
        }
        if self.suggestions.len() >= MOST_SUGGESTIONS {
            return None;
        }
        let near = suggest(name, self.suppressions.rules);
        self.suggestions.insert(name.to_owned(), near);
        near
    }

    fn unused(&mut self, one: &Suppression, at: usize, span: Span, written: &Name) {
        const RULE: &str = "unused-suppression";
        let is = |flags: &[bool]| flags.get(at) == Some(&true);
        let name = &written.text;
        if is(&one.used) {
            return;
        }
        if is(&one.forbidden) {
            let headline = format!("this suppression of `{name}` has no effect: the configuration does not allow it");
            self.report(
                RULE,
                span,
                headline,
                "`suppressible = false`".into(),
                "fix what it is about, and remove it",
            );
            self.may_go(one, written);
            return;
        }
        let known = self.suppressions.rules;
        let mut rules = rules_of(name, known).filter(|rule| !rule.is_raised()).peekable();
        if rules.peek().is_none() {
            let headline = format!("this suppression of `{name}` has no effect: it cannot be suppressed in a file");
            let help = format!("remove it; `--ignore {name}` and `ignore` in the configuration can");
            self.report(RULE, span, headline, "it is about sqslint itself".into(), &help);
            self.may_go(one, written);
            return;
        }
        let file = one.written.span.file;
        if !rules.all(|rule| self.policy.is_judged(&rule, file)) {
            return;
        }
        let headline = format!("this suppression of `{name}` has no effect");
        self.report(
            RULE,
            span,
            headline,
            format!("no finding of `{name}` here"),
            "remove it",
        );
        self.may_go(one, written);
    }

    /// Returns the span of `name`, if it is written literally, and that of the whole suppression otherwise.
    fn place(&self, one: &Suppression, name: &Name) -> Span {
        let whole = one.written.span;
        let Some(range) = &name.range else { return whole };
        let start = whole.start as usize;
        let span = Span::new(whole.file, start + range.start..start + range.end);
        if whole.contains(span) && self.sources.text(span) == name.text {
            span
        } else {
            whole
        }
    }

    fn report(&mut self, rule: &'static str, span: Span, headline: String, label: String, help: &str) {
        let subject = Subject::whole(self.policy.unit_of(span.file), self.sources.file(span.file).name());
        let found = Diagnostic::new(rule, Severity::Warning, subject, headline, span, label).help(help);
        self.found.push(found);
    }

    /// Adds a remedy to the last finding that removes the name, or the whole suppression if it has no other.
    fn may_go(&mut self, one: &Suppression, name: &Name) {
        let others = one.directive.as_ref().is_ok_and(|directive| directive.names.len() > 1);
        if let Some(last) = self.found.last_mut() {
            last.remedy = Some(Box::new(Remedy::safe(Change::Suppression {
                at: one.written.span,
                name: others.then(|| name.text.clone()),
            })));
        }
    }
}
