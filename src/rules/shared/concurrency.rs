//! Combines the mappings of a function that may poll at the same time, to compare their concurrency with its own.

use super::findings::Findings;
use crate::graph::{Condition, EventSourceMapping, Function};

/// Maximum number of combinations of conditions for one function. Each mapping may double them, so functions with more
/// are not judged.
const MAX_WORLDS: usize = 64;

/// Combination of mappings that may poll together, with a value of each.
pub(crate) type Together<'g, T> = Vec<(&'g EventSourceMapping, T)>;

impl<'g> Findings<'g> {
    /// Returns the combinations of mappings of `function` that can poll together, each with its condition. `read` returns
    /// the values of a mapping with their conditions; a mapping without one is left out.
    ///
    /// Example: the mapping `m` has a maximum of 5 in `prod` only, and `n` always has 6. The result is `m` and `n` (11)
    /// for `prod`, and `n` (6) for other environments.
    pub(crate) fn polling_together<T: Clone>(
        &mut self,
        function: &'g Function,
        when: &Condition,
        read: impl Fn(&mut Self, &'g EventSourceMapping, &Condition) -> Vec<(Condition, T)>,
    ) -> Vec<(Condition, Together<'g, T>)> {
        let mappings = self.graph.mappings_of(function);
        // Of several mappings that may invoke any instance of a function, each may invoke another one.
        if mappings.len() > 1 && !function.resource.is_single() {
            return Vec::new();
        }
        let mut all: Vec<(Condition, Together<'g, T>)> = vec![(when.clone(), Vec::new())];
        for (assumed, mapping) in mappings {
            let mut next = Vec::new();
            for (when, others) in all {
                let mut left = when.clone();
                for (when, value) in read(self, mapping, &when.and(&assumed)) {
                    left = left.and(&when.not());
                    let mut more = others.clone();
                    more.push((mapping, value));
                    next.push((when, more));
                }
                if left.is_possible() {
                    next.push((left, others));
                }
            }
            if next.len() > MAX_WORLDS {
                return Vec::new();
            }
            all = next;
        }
        all
    }
}
