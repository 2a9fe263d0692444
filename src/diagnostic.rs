//! Findings, independent of how they are shown. This module is plain data and does not know rules, dialects or formats.

mod coverage;
mod harm;
mod listed;
mod remedy;
mod rule_id;

pub use coverage::{Coverage, CoveredHandler, Declaration, Gap, ONLY_TYPE, Step};
pub use harm::Harm;
pub use listed::{few, grouped};
pub use remedy::{Change, Destination, Edit, Fix, MissingDeadLetterQueue, Place, REPORT_FAILURES, Remedy, Safety};
pub use rule_id::RuleId;

use source::Span;
use sqs_model::scenario::{Scenario, Timeline};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// Severity of a finding.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Advice; never fails a run by default.
    #[default]
    Info,
    /// Likely harm.
    Warning,
    /// AWS rejects it, or messages are lost or processed twice in ordinary operation.
    Error,
}

impl Severity {
    /// All severities, the highest first.
    pub const ALL: [Severity; 3] = [Severity::Error, Severity::Warning, Severity::Info];

    /// Returns the name that users write.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A span with a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// Span that it marks.
    pub span: Span,
    /// Text, without a final full stop.
    pub message: Arc<str>,
    /// `true` for the line that the user would edit. Exactly one label of a diagnostic is primary.
    pub primary: bool,
}

/// Rule of the findings about files that cannot be read.
pub const PARSE_ERROR: &str = "parse-error";

/// Rule of the findings about files that are read only in part.
pub const LIMIT_REACHED: &str = "limit-reached";

/// Name of the environment with defaults only, if there are named ones.
pub const DEFAULT_ENVIRONMENT: &str = "default";

/// Attribute of a subject that is an environment.
pub const ENVIRONMENT: &str = "environment";

/// The resource that a finding is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Subject {
    /// Unit, as the graph prints it.
    pub unit: String,
    /// Terraform address or CloudFormation logical id.
    pub address: String,
    /// Name of the attribute in the graph (`visibility_timeout`); empty for the whole resource.
    pub attribute: &'static str,
}

impl Subject {
    /// Creates the subject of a finding about a whole resource, or about a file.
    pub fn whole(unit: impl Into<String>, address: impl Into<String>) -> Self {
        Subject {
            unit: unit.into(),
            address: address.into(),
            attribute: "",
        }
    }
}

/// An instance of a block that several calls, roots or keys create.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instance {
    /// Unit, as the graph prints it.
    pub unit: String,
    /// Root module or template whose call creates it.
    pub root: String,
    /// Address, with those of the calls.
    pub address: String,
}

/// A finding. A project can have thousands, so large optional parts are boxed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Id of the rule.
    pub rule: RuleId,
    /// Severity.
    pub severity: Severity,
    /// Severity if its resource is new since an earlier commit; otherwise one such finding is reported per unit.
    pub if_new: Option<Severity>,
    /// Headline: one sentence that is complete without the labels and names the resources.
    pub headline: String,
    /// Labels, the primary one first.
    labels: Vec<Label>,
    /// Arithmetic, as `6 × 300 s + 0 s = 1800 s`.
    pub calculation: Option<Arc<str>>,
    /// Run of the model that shows what happens.
    pub scenario: Option<Box<Scenario>>,
    /// Harm that findings of its rule usually do.
    pub usual_harm: Option<Harm>,
    /// Advice, with names as the user writes them.
    pub help: Option<Arc<str>>,
    /// Condition under which the finding applies ("`IsProd`"), if not always.
    pub when: Option<String>,
    /// Resource that it is about.
    pub subject: Subject,
    /// Instances with the same finding, if there are several or a call creates the only one.
    pub calls: Vec<Instance>,
    /// Remark on the use of its unit, as "nothing in these files calls this module".
    pub remark: Option<&'static str>,
    /// `true` if it is reported only with pedantic rules, although its rule runs by default.
    pub is_pedantic: bool,
    /// `true` if several roots share its block and no label shows for which of them it is.
    pub names_root: bool,
    /// Headers of the calls that contain its subject, outermost first.
    pub through: Vec<Span>,
    /// Span that passes its value to the primary label, and to no other.
    pub written: Option<Span>,
    /// Span of a label on a line whose number changed since an earlier commit.
    pub changed: Option<Span>,
    /// Change that would resolve it, if the rule knows one.
    pub remedy: Option<Box<Remedy>>,
    /// Edits that make this change, if the files can be edited.
    pub fix: Option<Box<Fix>>,
}

impl Diagnostic {
    /// Creates a diagnostic with the primary label `message` at `span`.
    pub fn new(
        rule: impl Into<RuleId>,
        severity: Severity,
        subject: Subject,
        headline: impl Into<String>,
        span: Span,
        message: impl Into<Arc<str>>,
    ) -> Self {
        Diagnostic {
            rule: rule.into(),
            severity,
            if_new: None,
            headline: headline.into(),
            labels: vec![Label {
                span,
                message: message.into(),
                primary: true,
            }],
            calculation: None,
            scenario: None,
            usual_harm: None,
            help: None,
            when: None,
            subject,
            calls: Vec::new(),
            remark: None,
            is_pedantic: false,
            names_root: false,
            through: Vec::new(),
            written: None,
            changed: None,
            remedy: None,
            fix: None,
        }
    }

    /// Adds a label, unless it has an equal one.
    #[must_use]
    pub fn label(mut self, span: Span, message: impl Into<Arc<str>>) -> Self {
        let message = message.into();
        let known = |label: &Label| label.span == span && label.message == message;
        if !self.labels.iter().any(known) {
            self.add_label(span, message);
        }
        self
    }

    /// Adds a label without checking for an equal one.
    pub fn add_label(&mut self, span: Span, message: impl Into<Arc<str>>) {
        self.labels.push(Label {
            span,
            message: message.into(),
            primary: false,
        });
    }

    /// Adds the labels of another finding with the same subject, unless they differ from its own only in the origin of
    /// a value, which has a label as well: "`f` may run for 30 s (`timeout` in `dev.tfvars`)".
    pub fn add_labels(&mut self, others: &[Label]) {
        let value = |label: &Label| label.message.rsplit_once(" (").map(|(value, _)| value.to_owned());
        // A value that only some environments know.
        if let ([own, ..], [other, ..]) = (self.labels.as_mut_slice(), others)
            && own.message.is_empty()
            && own.span == other.span
        {
            own.message.clone_from(&other.message);
        }
        for label in others.iter().filter(|label| !label.message.is_empty()) {
            let is_known = |known: &Label| {
                known.span == label.span
                    && (known.message == label.message || value(label).is_some_and(|of| value(known) == Some(of)))
            };
            if !self.labels.iter().any(is_known) {
                self.labels.push(Label {
                    primary: false,
                    ..label.clone()
                });
            }
        }
    }

    /// Sets the arithmetic.
    #[must_use]
    pub fn calculation(mut self, text: impl Into<Arc<str>>) -> Self {
        self.calculation = Some(text.into());
        self
    }

    /// Sets the advice.
    #[must_use]
    pub fn help(mut self, text: impl Into<Arc<str>>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// Sets the change that would resolve it.
    #[must_use]
    pub fn remedy(mut self, remedy: impl Into<Option<Remedy>>) -> Self {
        self.remedy = remedy.into().map(Box::new);
        self
    }

    /// Drops the remedy unless it also resolves `other`, which is reported together with this finding: an edit in one
    /// place would not change the other.
    pub fn keep_remedy_of(&mut self, other: &Diagnostic) {
        if self.remedy != other.remedy {
            self.remedy = None;
        }
    }

    /// Returns the run that shows what happens, if it shows a harm.
    pub fn timeline(&self) -> Option<Timeline> {
        let timeline = self.scenario.as_ref()?.timeline();
        timeline.harm.is_some().then_some(timeline)
    }

    /// Returns what it does to messages: what its run shows, or else what findings of its rule usually do.
    pub fn harm(&self) -> Option<Harm> {
        let shown = self.timeline().and_then(|timeline| timeline.harm);
        shown.map(Harm::from).or(self.usual_harm)
    }

    /// Sets the condition under which it applies; `None` for always.
    #[must_use]
    pub fn when(mut self, text: Option<String>) -> Self {
        self.when = text;
        self
    }

    /// Sets the headers of the calls that contain its subject.
    #[must_use]
    pub fn through(mut self, calls: Vec<Span>) -> Self {
        self.through = calls;
        self
    }

    /// Restricts it to the environments `names`.
    #[must_use]
    pub fn in_environments(mut self, names: &[String]) -> Self {
        let declared = names.iter().filter(|name| *name != DEFAULT_ENVIRONMENT);
        let declared: Vec<&str> = declared.map(String::as_str).collect();
        let by_default = (declared.len() < names.len()).then(|| "it is deployed with the defaults".to_owned());
        let by_name = match declared.as_slice() {
            [] => None,
            [name] => Some(format!("the environment is `{name}`")),
            several => Some(format!(
                "the environment is one of {}",
                grouped(several, |name| format!("`{name}`"))
            )),
        };
        let environment = by_name.into_iter().chain(by_default).collect::<Vec<_>>().join(" or ");
        self.when = Some(match self.when {
            Some(when) => format!("{when} and {environment}"),
            None => environment,
        });
        self
    }

    /// Releases unused room of its headline and labels.
    pub fn shrink_to_fit(&mut self) {
        self.headline.shrink_to_fit();
        self.labels.shrink_to_fit();
    }

    /// Returns the primary label: the line that the user would edit.
    pub fn primary(&self) -> &Label {
        &self.labels[0]
    }

    /// Returns the span for an annotation: the changed line, or else the primary label.
    pub fn annotated(&self) -> Span {
        self.changed.unwrap_or(self.primary().span)
    }

    /// Makes the label at `span` the primary one.
    pub fn promote(&mut self, span: Span) {
        if let Some(at) = self.labels.iter().position(|label| label.span == span) {
            self.labels[0].primary = false;
            self.labels[..=at].rotate_right(1);
            self.labels[0].primary = true;
        }
    }

    /// Lists its instances, addresses and roots each by what differs; `shown` formats the names. Without an address if the
    /// headline contains the only one.
    pub fn instances_in_words(&self, shown: impl Fn(&str) -> String) -> String {
        let distinct = |of: fn(&Instance) -> &String| {
            let mut all: Vec<&str> = Vec::new();
            for name in self.calls.iter().map(|call| of(call).as_str()) {
                if !all.contains(&name) {
                    all.push(name);
                }
            }
            all
        };
        let (addresses, roots) = (distinct(|call| &call.address), distinct(|call| &call.root));
        if addresses.len() * roots.len() != self.calls.len() {
            return few(&self.instances(shown));
        }
        let is_known = matches!(addresses.as_slice(), [one] if self.headline.contains(one));
        let addresses = (!is_known || roots.len() == 1).then(|| grouped(&addresses, &shown));
        let roots = (roots.len() > 1).then(|| format!("in {}", grouped(&roots, &shown)));
        let parts: Vec<String> = addresses.into_iter().chain(roots).collect();
        parts.join(" ")
    }

    /// Returns the addresses of its instances, with their roots unless all have the same; `shown` formats both.
    pub fn instances(&self, shown: impl Fn(&str) -> String) -> Vec<String> {
        let first = self.calls.first().map(|instance| &instance.root);
        let is_of_one_root = self.calls.iter().all(|instance| Some(&instance.root) == first);
        let name = |Instance { root, address, .. }: &Instance| {
            let address = shown(address);
            if is_of_one_root {
                return address;
            }
            format!("{address} in {}", shown(root))
        };
        self.calls.iter().map(name).collect()
    }

    /// Returns its root, if the labels do not show it.
    pub fn root(&self) -> Option<&str> {
        self.names_root.then_some(&*self.subject.unit)
    }

    /// Returns all labels, the primary one first.
    pub fn labels(&self) -> &[Label] {
        &self.labels
    }

    /// Returns a stable hash of rule, unit, address and attribute. It does not depend on lines or wording.
    pub fn fingerprint(&self) -> String {
        let subject = &self.subject;
        fingerprint([&self.rule, &subject.unit, &subject.address, subject.attribute])
    }
}

/// Returns the fingerprint of a finding with this rule, unit, address and attribute.
pub(crate) fn fingerprint(parts: [&str; 4]) -> String {
    // FNV-1a, 64 bits: stable across versions and machines, unlike the standard hasher.
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in parts.into_iter().flat_map(|part| part.bytes().chain([0])) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    format!("{hash:016x}")
}

/// Ways in which a finding is suppressed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Silencer {
    /// A suppression at this span.
    Suppression(Span),
    /// The baseline in this file, which contains the finding.
    Baseline(PathBuf),
    /// The common ancestor of the branch and this commit or branch, which already had the finding.
    Since(String),
}

/// A suppressed finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suppressed {
    /// The finding.
    pub finding: Diagnostic,
    /// Reason of the suppression, if it gives one.
    pub reason: Option<String>,
    /// Suppression of the finding.
    pub by: Silencer,
}

/// A resource that some rule could not judge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotEvaluated {
    /// Rule that could not judge it.
    pub rule: RuleId,
    /// Resource.
    pub subject: Subject,
    /// Reason why a value is unresolved, as "`var.redrive_arn` has no value".
    pub reason: String,
    /// Kind of reason, as `input-without-value`.
    pub cause: &'static str,
    /// Span of the cause.
    pub span: Span,
}

impl NotEvaluated {
    /// Creates the entry of a part that was not read.
    pub(crate) fn unread(subject: Subject, reason: String, span: Span) -> Self {
        NotEvaluated {
            rule: PARSE_ERROR.into(),
            subject,
            reason,
            cause: "not-read",
            span,
        }
    }

    /// Returns `true` if it is a part of a unit that was not read, rather than a value that a rule lacks.
    pub fn is_unread(&self) -> bool {
        &*self.rule == PARSE_ERROR
    }
}
