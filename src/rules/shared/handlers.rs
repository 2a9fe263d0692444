//! Queries about the source code of the functions that a mapping invokes.

use super::compare::fact;
use super::finding::Finding;
use super::findings::Findings;
use crate::diagnostic::ONLY_TYPE;
use crate::graph::{Cause, Condition, EventSourceMapping, Function, Handler, Reason, Unread};

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

impl<'g> Findings<'g> {
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
        // A stream has no messages, even if only the other settings show that it is one.
        let when = when.and(&mapping.polls_a_queue_when);
        let links = self.without_notes(|findings| findings.known(&when, mapping, &mapping.function));
        let invoked = links
            .into_iter()
            .filter_map(|link| self.graph.invoked(mapping, link.value, &link.when));
        let mut read = Vec::new();
        for (function, when) in invoked {
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
