//! Queries about the source code of the functions that a mapping invokes.

use super::compare::fact;
use super::finding::Finding;
use super::findings::Findings;
use crate::diagnostic::{ONLY_TYPE, Severity};
use crate::graph::{
    Cause, Condition, Defect, EventSourceMapping, Fact, Function, Handler, QueueReference, Reason, Unread,
};
use source::Span;

/// Function that a mapping invokes, with the analysis of its source.
#[derive(Debug)]
pub(crate) struct InvokedHandler<'g> {
    pub(crate) function: &'g Function,
    pub(crate) handler: &'g Handler,
    /// Condition under which the mapping invokes the function.
    pub(crate) when: Condition,
}

impl InvokedHandler<'_> {
    /// Returns the sentence that the handler returns nothing that Lambda reads.
    pub(crate) fn no_response_label(&self) -> String {
        format!(
            "`{}` returns nothing that says which messages failed",
            self.handler.name
        )
    }
}

/// Returns the label that `mapping` invokes the function whose source a finding points into.
pub(crate) fn invokes(mapping: &EventSourceMapping) -> String {
    format!("{mapping} invokes it")
}

/// A defect of function bodies that a rule reports.
pub(crate) struct Reported {
    pub(crate) defect: Defect,
    pub(crate) severity: Severity,
    /// `true` if it needs a batch of several messages.
    pub(crate) needs_batch: bool,
    /// `true` if it needs `ReportBatchItemFailures`.
    pub(crate) needs_reports: bool,
    /// Fact if a body does not have it.
    pub(crate) met: &'static str,
    /// Returns the headline for a function and the name of a queue.
    pub(crate) headline: fn(&InvokedHandler<'_>, &str) -> String,
    pub(crate) help: &'static str,
}

impl<'g> Findings<'g> {
    /// Reports the code with a defect in each function body that a mapping invokes.
    pub(crate) fn report_defects(&mut self, reported: &Reported) {
        for mapping in self.graph.mappings() {
            for handled in self.handled_bodies(mapping) {
                let Some(found) = handled.handler.defect(reported.defect) else {
                    self.satisfied(&handled.when, mapping, fact(true, || reported.met.to_owned()));
                    continue;
                };
                let mut whens = vec![handled.when.clone()];
                if reported.needs_reports {
                    let reports = self.known(&handled.when, mapping, &mapping.report_batch_item_failures);
                    whens = reports
                        .iter()
                        .filter(|one| *one.value)
                        .map(|one| one.when.clone())
                        .collect();
                }
                for when in whens {
                    self.report_defect(&when, mapping, &handled, found, reported);
                }
            }
        }
    }

    /// Returns the references among `references` to the queue whose messages `mapping` passes to the function, each with its
    /// condition and the name of the queue.
    pub(crate) fn own_queues(
        &mut self,
        mapping: &EventSourceMapping,
        handled: &InvokedHandler<'_>,
        references: &[(QueueReference, Span)],
    ) -> Vec<(Condition, Span, String)> {
        let mut all = Vec::new();
        for source in self.polled_queues(mapping, &handled.when) {
            let Some(queue) = source.queue else { continue };
            for (reference, span) in references {
                let when = self
                    .graph
                    .refers_to(handled.function, reference, queue)
                    .and(&source.when);
                if when.is_possible() {
                    all.push((when, *span, source.shown.clone()));
                }
            }
        }
        all
    }

    fn report_defect(
        &mut self,
        when: &Condition,
        mapping: &EventSourceMapping,
        handled: &InvokedHandler<'_>,
        found: &Fact,
        reported: &Reported,
    ) {
        let finding = |shown: &str| {
            Finding::new(
                "records",
                (reported.headline)(handled, shown),
                found.span,
                &*found.words,
            )
            .severity_if_enabled(reported.severity, mapping)
            .label(mapping.resource.header, invokes(mapping))
            .help(reported.help)
        };
        if !reported.needs_batch {
            for source in self.polled_queues(mapping, when) {
                self.report(&source.when, mapping, finding(&source.shown));
            }
            return;
        }
        for batch in self.batch_sizes(when, mapping) {
            let size = format!("up to {}", batch.counted("messages per batch"));
            for source in self.polled_queues(mapping, &batch.when) {
                let is_single = fact(batch.value == 1, || "batches of 1 message".to_owned()).depending_on(&batch);
                self.require(&source.when, mapping, is_single, || {
                    finding(&source.shown).label(&batch, size.clone())
                });
            }
        }
    }

    /// Reports what `problem` finds in each function body that a mapping invokes; `met` is the fact if it finds nothing.
    pub(crate) fn report_bodies(
        &mut self,
        met: &str,
        problem: fn(&EventSourceMapping, &InvokedHandler<'_>) -> Option<Finding>,
    ) {
        for mapping in self.graph.mappings() {
            for handled in self.handled_bodies(mapping) {
                if let Some(finding) = problem(mapping, &handled) {
                    self.report(&handled.when, mapping, finding);
                } else {
                    self.satisfied(&handled.when, mapping, fact(true, || met.to_owned()));
                }
            }
        }
    }

    /// Returns the functions that `mapping` invokes, if their source is understood. An unreadable source is noted. A
    /// source that is missing, as most are, is only noted in a traced run.
    pub(crate) fn handled(&mut self, mapping: &EventSourceMapping, when: &Condition) -> Vec<InvokedHandler<'g>> {
        let mut read = Vec::new();
        for (function, when) in self.invoked(mapping, when) {
            match &function.handler {
                Ok(handler) => read.push(InvokedHandler {
                    function,
                    handler,
                    when,
                }),
                Err(Unread::Refused(words)) => self.not_parsed(function, &when, &Cause::Limit.because(words.clone())),
                Err(Unread::NotParsed(words)) => {
                    self.not_parsed(function, &when, &Cause::NotRead.because(words.clone()));
                }
                Err(unread) => {
                    if let Some(words) = unread.words() {
                        self.not_read(mapping, function, &when, words);
                    }
                }
            }
        }
        read
    }

    /// Returns the functions that `mapping` invokes with messages of a queue.
    pub(crate) fn invoked(&mut self, mapping: &EventSourceMapping, when: &Condition) -> Vec<(&'g Function, Condition)> {
        // A stream has no messages, even if only the other settings show that it is one.
        let when = when.and(&mapping.polls_a_queue_when);
        let links = self.without_notes(|findings| findings.known(&when, mapping, &mapping.function));
        let invoked = links
            .into_iter()
            .filter_map(|link| self.graph.invoked(mapping, link.value, &link.when));
        invoked.collect()
    }

    fn not_parsed(&mut self, function: &Function, when: &Condition, reason: &Reason) {
        let header = function.resource.header;
        self.unresolved(when, &function.resource, &header, reason, header);
    }

    /// Notes in a traced run the `reason` that nothing is known of a function that `mapping` invokes.
    pub(crate) fn not_read(
        &mut self,
        mapping: &EventSourceMapping,
        function: &Function,
        when: &Condition,
        reason: &str,
    ) {
        let (resource, read) = (&function.resource, &mapping.resource.header);
        self.not_covered(when, resource, &[read], reason, resource.header);
    }

    /// Returns the [handled](Self::handled) functions whose body was read.
    pub(crate) fn handled_bodies(&mut self, mapping: &EventSourceMapping) -> Vec<InvokedHandler<'g>> {
        let mut handled = self.handled(mapping, &mapping.resource.when);
        handled.retain(|one| {
            if !one.handler.has_body {
                self.not_read(mapping, one.function, &one.when, ONLY_TYPE);
            }
            one.handler.has_body
        });
        handled
    }
}
