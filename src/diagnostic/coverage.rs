//! Coverage: which queues and mappings are judged.

use super::{Diagnostic, Subject};
use source::Span;
use std::collections::BTreeSet;

/// Numbers of queues and mappings, and those that are not judged.
#[derive(Debug, Clone, Default)]
pub struct Coverage {
    /// Number of queues.
    pub queues: usize,
    /// Number of mappings that may poll a queue.
    pub mappings: usize,
    /// Queues and mappings that are not judged, each once.
    pub gaps: Vec<Gap>,
    /// Queues without a known consumer that are not dead-letter queues.
    pub unconsumed: Vec<Declaration>,
    /// Handlers of the functions that a queue invokes.
    pub handlers: Vec<CoveredHandler>,
}

/// A declared resource. The address may contain the name of the environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declaration {
    /// Key of the unit: the call for which it is evaluated, or else its name.
    pub unit: String,
    /// Address of the resource.
    pub address: String,
    /// Span of its header.
    pub header: Span,
}

/// Reason for which only some rules judge a handler.
pub const ONLY_TYPE: &str = "only the type of a handler in Java, C# or Go is read";

/// The handler of a function that a queue invokes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoveredHandler {
    /// The function.
    pub function: Subject,
    /// Span of the function's header.
    pub span: Span,
    /// Name and span of the handler, or the reason why it was not read.
    pub read: Result<(String, Span), String>,
    /// The reason in brief for which rules cannot judge it, or not all of them.
    pub gap: Option<&'static str>,
}

/// A queue or mapping that is not judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// The queue or mapping.
    pub subject: Subject,
    /// Call for which its unit is evaluated, if another unit calls it.
    pub call: Option<String>,
    /// Span of its header.
    pub header: Span,
    /// `true` for a mapping.
    pub is_mapping: bool,
    /// Reason why the first missing value is not known, as "`var.redrive_arn` has no value".
    pub reason: String,
    /// Kind of reason, as `input-without-value`.
    pub cause: &'static str,
    /// Change after which the value may be known, if the user can make one.
    pub step: Option<Step>,
    /// Span of the reason.
    pub span: Span,
}

/// Changes after which a value may be known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// Setting an input.
    SetInput,
    /// Checking a plan instead of the configuration.
    CheckPlan,
    /// Fetching remote modules.
    FetchModules,
    /// Checking the files that declare the other resource, too.
    AddFiles,
    /// Correcting a file.
    CorrectFile,
}

impl Gap {
    /// Returns the key of the resource.
    pub fn resource(&self) -> (&str, Option<&str>, &str) {
        (&self.subject.unit, self.call.as_deref(), &self.subject.address)
    }
}

impl Coverage {
    /// Coverage of a run without queues and mappings.
    pub const EMPTY: &Coverage = &Coverage {
        queues: 0,
        mappings: 0,
        gaps: Vec::new(),
        unconsumed: Vec::new(),
        handlers: Vec::new(),
    };

    /// Returns the number of queues that are judged.
    pub fn judged_queues(&self) -> usize {
        self.queues - self.gaps.iter().filter(|gap| !gap.is_mapping).count()
    }

    /// Splits the gaps into resources judged in part, which have a finding of a rule that needs less, and the others.
    pub fn in_part<'c>(&'c self, findings: &[Diagnostic]) -> (Vec<&'c Gap>, Vec<&'c Gap>) {
        let found = findings.iter().flat_map(|found| {
            let first = (&*found.subject.unit, &*found.subject.address);
            let others = found.calls.iter().map(|one| (&*one.unit, &*one.address));
            std::iter::once(first).chain(others)
        });
        let found: BTreeSet<(&str, &str)> = found.collect();
        let is_found = |gap: &&Gap| found.contains(&(&*gap.subject.unit, &*gap.subject.address));
        self.gaps.iter().partition(is_found)
    }

    /// Returns the number of handlers whose source was read, in a language that all rules know.
    pub fn read_handlers(&self) -> usize {
        self.handlers.iter().filter(|handler| handler.gap.is_none()).count()
    }

    /// Returns the number of mappings that are judged.
    pub fn judged_mappings(&self) -> usize {
        self.mappings - self.gaps.iter().filter(|gap| gap.is_mapping).count()
    }
}
