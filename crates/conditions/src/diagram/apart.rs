//! Finds out whether a condition can hold without a guess about variables that depend on each other.

use super::{ALWAYS, Diagram, NEVER, Place, Point, Variable, follow};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

/// Maximum number of sets of places that [`Apart`] visits.
const MAX_SETS: usize = 10_000;

/// Search for a way to [`ALWAYS`] that never tests two variables that are entangled with each other.
///
/// ```text
/// n > 0 and n + m > 9     both are about `n`, and no way avoids either of them: the finding is not made
/// n > 0 or n + m > 9      the way `n > 0` needs no value of `n + m > 9`: the finding is made
/// ```
pub(super) struct Apart<'d> {
    pub(super) of: &'d Diagram,
    /// Variables that are entangled with another variable of the diagram.
    pub(super) entangled: &'d BTreeSet<&'d Variable>,
    /// Entangled variables that have a value on the current way.
    pub(super) chosen: Vec<&'d Variable>,
    /// Sets of places from which the search failed, each with the variables that were chosen at that point.
    pub(super) failed: FxHashSet<(Vec<Place>, Vec<&'d Variable>)>,
}

impl Apart<'_> {
    /// Returns `true` if all of `places` reach [`ALWAYS`] with the same values of all variables, for every value of
    /// those that are entangled with a chosen one. Returns `false` after [`MAX_SETS`] sets.
    pub(super) fn holds(&mut self, mut places: Vec<Place>) -> bool {
        places.retain(|place| *place != ALWAYS);
        places.sort_unstable();
        places.dedup();
        let of = self.of;
        let nodes = || places.iter().filter_map(|place| of.node(*place));
        let Some(variable) = nodes().map(|node| &node.variable).min() else {
            return places.is_empty();
        };
        let key = (places.clone(), self.chosen.clone());
        if places.contains(&NEVER) || self.failed.len() > MAX_SETS || !self.failed.insert(key) {
            return false;
        }
        let asking = nodes().filter(|node| node.variable == *variable);
        let values: BTreeSet<&Point> = asking
            .flat_map(|node| node.arms.iter().map(|(value, _)| value))
            .collect();
        // Without a known domain the variable may also have a value before every arm.
        let others = variable.domain.is_none().then_some(None);
        let after = |value| places.iter().map(move |place| follow(of, *place, variable, value));
        let mut ways = values
            .into_iter()
            .map(Some)
            .chain(others)
            .map(|value| after(value).collect());
        if !self.entangled.contains(&**variable) {
            return ways.any(|way| self.holds(way));
        }
        let ways: Vec<Vec<Place>> = ways.collect();
        if !self.chosen.iter().any(|known| known.is_entangled_with(variable)) {
            self.chosen.push(variable);
            let holds = ways.iter().any(|way| self.holds(way.clone()));
            self.chosen.pop();
            if holds {
                return true;
            }
        }
        // Its value must not matter: all of its arms have to reach `ALWAYS`.
        self.holds(ways.concat())
    }
}
