//! The source behind a mapping: what rules ask of the function that it invokes.

use super::findings::Findings;
use crate::graph::{Condition, EventSourceMapping, Function, Graph, Handler};

/// A function that a mapping invokes, and what its source says.
#[derive(Debug)]
pub(crate) struct Handled<'g> {
    pub(crate) function: &'g Function,
    pub(crate) handler: &'g Handler,
    /// The condition under which the mapping invokes it.
    pub(crate) when: Condition,
}

impl Handled<'_> {
    /// That it returns nothing that Lambda reads.
    pub(crate) fn says_nothing(&self) -> String {
        format!(
            "`{}` returns nothing that says which messages failed",
            self.handler.name
        )
    }
}

/// That `mapping` invokes the function whose source a finding points into.
pub(crate) fn invokes(mapping: &EventSourceMapping) -> String {
    format!("{} invokes it", mapping.resource.shown())
}

impl Findings<'_> {
    /// The functions that `mapping` invokes, where their source is here and understood. Where it is not, as mostly, there
    /// is nothing to say.
    pub(crate) fn handled<'g>(
        &mut self,
        graph: &'g Graph,
        mapping: &'g EventSourceMapping,
        when: &Condition,
    ) -> Vec<Handled<'g>> {
        let links = self.quietly(|findings| findings.known(when, mapping, &mapping.function));
        let invoked = links
            .into_iter()
            .filter_map(|link| graph.invoked(mapping, link.value, &link.when));
        let handled = invoked.filter_map(|(function, when)| {
            let handler = function.handler.as_deref()?;
            Some(Handled {
                function,
                handler,
                when,
            })
        });
        handled.collect()
    }
}
