//! Decision diagrams for conditions. A node tests one variable; every diagram tests its variables in the same order.
//!
//! ```text
//! Conditions:
//!   IsProd: !Equals [!Ref Env, prod]      # Env may have any value
//!   Large: !Equals [!Ref Size, l]         # Size is s, m or l
//! …
//! VisibilityTimeout: !If [IsProd, !If [Large, 900, 300], 30]
//! ```
//!
//! The 900 applies under `IsProd and Large`, which is this diagram; the 300 under the same with the arms of `Size`
//! swapped:
//!
//! ```text
//! Env ── prod ───────► Size ── l ────► always
//!  └──── otherwise ─► never └─ m, s ─► never
//! ```
//!
//! An operation visits both diagrams in parallel. [`Pairs`] builds the diagram above from those of `IsProd` and
//! `Large`:
//!
//! ```text
//! visit(IsProd, Large)               tests Env, which is first in the order
//!   Env = prod:  visit(ALWAYS, Large)  tests Size; the left side is a terminal
//!     Size = l:  (ALWAYS, ALWAYS)        settled: ALWAYS
//!     Size = m:  (ALWAYS, NEVER)         settled: NEVER
//!     Size = s:  (ALWAYS, NEVER)         settled: NEVER
//!     node at place 2: Size { l: ALWAYS, m: NEVER, s: NEVER }
//!   otherwise:   (NEVER, Large)        settled: NEVER, without a look at Large
//!   node at place 3: Env { prod: 2, otherwise: NEVER }, the root
//! ```
//!
//! A node whose arms all lead to one place is never created, and equal nodes are created once ([`Builder`]). So two
//! diagrams are equal exactly if they hold for the same values, and a formula that never or always holds has no nodes:
//! `IsProd and Large` without `IsProd` is [`NEVER`]. A diagram can grow with every operation; beyond a bound the result
//! is [`TooComplex`] and never a guess.

mod apart;

use super::{Point, Variable};
use apart::Apart;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Maximum number of arms in one diagram.
const MAX_ARMS: usize = 8_192;
/// Maximum number of pairs of nodes that one operation visits.
const MAX_STEPS: usize = 100_000;

/// Error: the diagram or the operation exceeds a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooComplex;

/// Target of an arm: [`NEVER`], [`ALWAYS`], or the node at index `place - 2`.
type Place = u32;
const NEVER: Place = 0;
const ALWAYS: Place = 1;

/// A test of one variable.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Node {
    variable: Arc<Variable>,
    /// Targets, sorted: of every value if the domain is known, else of the values from each point to the next one.
    arms: Vec<(Point, Place)>,
    /// Target of the values before the first point; [`NEVER`] if the domain is known.
    otherwise: Place,
}

impl Node {
    fn follow(&self, value: &Point) -> Place {
        let following = self.arms.partition_point(|(known, _)| known <= value);
        let arm = following.checked_sub(1).and_then(|at| self.arms.get(at));
        arm.map_or(self.otherwise, |(_, place)| *place)
    }

    /// Returns the ranges of values with their targets, in order.
    fn ranges(&self) -> impl Iterator<Item = (Range, Place)> {
        let starts = std::iter::once((None, self.otherwise)).chain(self.arms.iter().map(|(at, to)| (Some(at), *to)));
        let ends = self.arms.iter().map(|(at, _)| Some(at)).chain([None]);
        let is_listed = self.variable.domain.is_some();
        starts
            .zip(ends)
            .skip(usize::from(is_listed))
            .map(move |((from, place), to)| {
                let to = if is_listed { from.map(Point::next) } else { to.cloned() };
                (
                    Range {
                        from: from.cloned(),
                        to,
                    },
                    place,
                )
            })
    }
}

/// A condition. Nodes come after the nodes that they lead to, so the last one is the root. Without nodes the diagram is
/// `terminal`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Diagram {
    nodes: Vec<Node>,
    terminal: Place,
}

/// Values of one variable that lead to the same place, for descriptions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Literal {
    /// The variable.
    pub(super) variable: Arc<Variable>,
    /// Values that the variable has, or those that it does not have, in order.
    pub(super) ranges: Vec<Range>,
    /// `true` if it has one of `ranges`, `false` if it has none of them.
    pub(super) is: bool,
}

/// The values from one point up to, but not including, another. `None` is the first or the last of all values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) from: Option<Point>,
    pub(super) to: Option<Point>,
}

impl Range {
    /// Returns the single value that it contains, if it has a name; the first one stands for "empty".
    pub(super) fn single(&self) -> Option<&Point> {
        let from = self.from.as_ref().or(self
            .to
            .as_ref()
            .filter(|to| **to == Point::Null.next())
            .map(|_| &Point::Null))?;
        (self.to.as_ref() == Some(&from.next())).then_some(from)
    }
}

impl Diagram {
    /// Returns the diagram that always holds.
    pub(super) const fn always() -> Self {
        Diagram {
            nodes: Vec::new(),
            terminal: ALWAYS,
        }
    }

    /// Returns the diagram that holds if the value of `variable` is at least `from` and less than `to`; if its domain is
    /// known, if the value is `from`.
    pub(super) fn within_range(variable: Variable, from: Option<Point>, to: Option<Point>) -> Result<Self, TooComplex> {
        let (arms, otherwise) = match &variable.domain {
            None => {
                let otherwise = if from.is_none() { ALWAYS } else { NEVER };
                let arms = from
                    .map(|from| (from, ALWAYS))
                    .into_iter()
                    .chain(to.map(|to| (to, NEVER)));
                (arms.collect(), otherwise)
            }
            Some(domain) => {
                let arm = |known: &Arc<str>| {
                    let value = Point::text(known.clone());
                    let place = if Some(&value) == from.as_ref() { ALWAYS } else { NEVER };
                    (value, place)
                };
                let mut arms: Vec<_> = domain.iter().map(arm).collect();
                arms.sort();
                arms.dedup();
                (arms, NEVER)
            }
        };
        let mut builder = Builder::default();
        let root = builder.node(&Arc::new(variable), arms, otherwise)?;
        Ok(builder.finish(root))
    }

    pub(super) fn is_always(&self) -> bool {
        self.nodes.is_empty() && self.terminal == ALWAYS
    }

    pub(super) fn is_never(&self) -> bool {
        self.nodes.is_empty() && self.terminal == NEVER
    }

    fn root(&self) -> Place {
        match u32::try_from(self.nodes.len()) {
            Ok(count) if count > 0 => count + 1,
            _ => self.terminal,
        }
    }

    fn node(&self, place: Place) -> Option<&Node> {
        self.nodes.get(usize::try_from(place).ok()?.checked_sub(2)?)
    }

    /// Returns the diagram that holds if both do.
    pub(super) fn and(&self, other: &Diagram) -> Result<Diagram, TooComplex> {
        Pairs::run(self, other, |a, b| match (a, b) {
            (NEVER, _) | (_, NEVER) => Some(NEVER),
            (ALWAYS, ALWAYS) => Some(ALWAYS),
            _ => None,
        })
    }

    /// Returns the diagram that holds if at least one does.
    pub(super) fn or(&self, other: &Diagram) -> Result<Diagram, TooComplex> {
        Pairs::run(self, other, |a, b| match (a, b) {
            (ALWAYS, _) | (_, ALWAYS) => Some(ALWAYS),
            (NEVER, NEVER) => Some(NEVER),
            _ => None,
        })
    }

    /// Returns the diagram that holds if `self` does and `other` does not.
    pub(super) fn without(&self, other: &Diagram) -> Result<Diagram, TooComplex> {
        Pairs::run(self, other, |a, b| match (a, b) {
            (NEVER, _) | (_, ALWAYS) => Some(NEVER),
            (ALWAYS, NEVER) => Some(ALWAYS),
            _ => None,
        })
    }

    /// Returns `true` if both can hold at once.
    pub(super) fn meets(&self, other: &Diagram) -> Result<bool, TooComplex> {
        // In a reduced diagram every place other than `NEVER` leads to `ALWAYS` on some path.
        Search::run(self, other, |a, b| match (a, b) {
            (NEVER, _) | (_, NEVER) => Some(false),
            (ALWAYS, _) | (_, ALWAYS) => Some(true),
            _ => None,
        })
    }

    /// Returns `true` if `other` holds in every case in which `self` holds.
    pub(super) fn implies(&self, other: &Diagram) -> Result<bool, TooComplex> {
        let has_exception = Search::run(self, other, |a, b| match (a, b) {
            (NEVER, _) | (_, ALWAYS) => Some(false),
            (ALWAYS, _) | (_, NEVER) => Some(true),
            _ => None,
        });
        has_exception.map(|has_exception| !has_exception)
    }

    /// Returns a simpler diagram that agrees with `self` in every case in which `care` holds.
    pub(super) fn within(&self, care: &Diagram) -> Result<Diagram, TooComplex> {
        let mut pairs = Pairs::new(self, care, |_, _| None);
        let root = pairs.restrict(self.root(), care.root())?;
        Ok(pairs.builder.finish(root))
    }

    /// Returns whether it holds when variables have the values that `value_of` returns, or `None` if an unknown value
    /// matters.
    pub(super) fn holds_where(&self, value_of: impl Fn(&Variable) -> Option<Arc<str>>) -> Option<bool> {
        let mut known: Vec<Option<bool>> = Vec::with_capacity(self.nodes.len());
        let at = |known: &[Option<bool>], place: Place| match place {
            NEVER => Some(false),
            ALWAYS => Some(true),
            _ => usize::try_from(place - 2).ok().and_then(|at| *known.get(at)?),
        };
        // Nodes come after the nodes that they lead to, so one pass from the first to the root evaluates all of them.
        for node in &self.nodes {
            // A value outside the domain is treated as unknown.
            let in_domain = |value: &Arc<str>| node.variable.domain.as_ref().is_none_or(|all| all.contains(value));
            let answer = if let Some(value) = value_of(&node.variable).filter(in_domain) {
                at(&known, node.follow(&Point::text(value)))
            } else {
                // The value is unknown: the node has a result only if all its arms agree.
                let is_open = node.variable.domain.is_none();
                let rest = is_open.then(|| at(&known, node.otherwise));
                let mut answers = node.arms.iter().map(|(_, place)| at(&known, *place)).chain(rest);
                let first = answers.next().flatten();
                first.filter(|_| answers.all(|answer| answer == first))
            };
            known.push(answer);
        }
        at(&known, self.root())
    }

    /// Returns the names of the first two entangled variables if every way to [`ALWAYS`] needs the values of two
    /// variables that are entangled with each other.
    pub(super) fn entangled(&self) -> Option<[Arc<str>; 2]> {
        let variables: BTreeSet<&Variable> = self.nodes.iter().map(|node| &*node.variable).collect();
        let others = |one: &'_ &Variable| variables.iter().find(|other| one.is_entangled_with(other)).copied();
        let entangled: BTreeSet<&Variable> = variables.iter().filter(|one| others(one).is_some()).copied().collect();
        let one = *entangled.first()?;
        let mut apart = Apart {
            of: self,
            entangled: &entangled,
            chosen: Vec::new(),
            failed: FxHashSet::default(),
        };
        if apart.holds(vec![self.root()]) {
            return None;
        }
        Some([one.name.clone(), others(&one)?.name.clone()])
    }

    /// Returns up to `most` paths to [`ALWAYS`], and `true` if there are more.
    pub(super) fn ways(&self, most: usize) -> (Vec<Vec<Literal>>, bool) {
        let mut all = Vec::new();
        let more = self.walk(self.root(), &mut Vec::new(), most, &mut all);
        (all, more)
    }

    fn walk(&self, place: Place, way: &mut Vec<Literal>, most: usize, all: &mut Vec<Vec<Literal>>) -> bool {
        let Some(node) = self.node(place) else {
            let has_room = all.len() < most;
            if place == ALWAYS && has_room {
                all.push(way.clone());
            }
            return place == ALWAYS && !has_room;
        };
        // Values with the same target become one literal: `Size = m or s`.
        let mut by_place: Vec<(Place, Vec<Range>)> = Vec::new();
        for (range, place) in node.ranges() {
            match by_place.iter_mut().find(|(known, _)| *known == place) {
                Some((_, ranges)) => ranges.push(range),
                None => by_place.push((place, vec![range])),
            }
        }
        let are_named = |ranges: &[Range]| ranges.iter().all(|range| range.single().is_some());
        let literals: Vec<(Place, Literal)> = (by_place.iter().filter(|(place, _)| *place != NEVER))
            .map(|(to, ranges)| {
                let others: Vec<Range> = node
                    .ranges()
                    .filter(|(_, place)| place != to)
                    .map(|(range, _)| range)
                    .collect();
                // Describe the values or their complement, whichever is shorter: `Size != l`.
                let is_most = are_named(&others) && (!are_named(ranges) || others.len() < ranges.len());
                let variable = node.variable.clone();
                let ranges = if is_most { others } else { ranges.clone() };
                (
                    *to,
                    Literal {
                        variable,
                        ranges,
                        is: !is_most,
                    },
                )
            })
            .collect();
        for (to, literal) in literals {
            way.push(literal);
            let more = self.walk(to, way, most, all);
            way.pop();
            if more {
                return true;
            }
        }
        false
    }
}

/// Nodes of a diagram under construction, without duplicates.
#[derive(Default)]
struct Builder {
    nodes: Vec<Node>,
    known: FxHashMap<Node, Place>,
    arms: usize,
}

impl Builder {
    /// Returns the place of the node, which is created if it is new. A node whose arms all lead to one place is not
    /// created: that place is returned.
    fn node(
        &mut self,
        variable: &Arc<Variable>,
        mut arms: Vec<(Point, Place)>,
        otherwise: Place,
    ) -> Result<Place, TooComplex> {
        // Drop arms that make no difference, and the whole node if none is left.
        if variable.domain.is_none() {
            let mut before = otherwise;
            arms.retain(|(_, place)| std::mem::replace(&mut before, *place) != *place);
            if arms.is_empty() {
                return Ok(otherwise);
            }
        } else {
            match arms.first() {
                None => return Ok(NEVER),
                Some(&(_, first)) if arms.iter().all(|(_, place)| *place == first) => return Ok(first),
                Some(_) => {}
            }
        }
        let node = Node {
            variable: variable.clone(),
            arms,
            otherwise,
        };
        // An equal node exists already: share it.
        if let Some(place) = self.known.get(&node) {
            return Ok(*place);
        }
        self.arms += node.arms.len() + 1;
        if self.arms > MAX_ARMS {
            return Err(TooComplex);
        }
        let place = u32::try_from(self.nodes.len() + 2).map_err(|_| TooComplex)?;
        self.nodes.push(node.clone());
        self.known.insert(node, place);
        Ok(place)
    }

    /// Returns the diagram with the root `root`. Its nodes are renumbered depth-first, so that equal diagrams have
    /// equal lists of nodes, however they were built.
    fn finish(self, root: Place) -> Diagram {
        let mut renumbered = Renumbered {
            places: vec![NEVER; self.nodes.len()],
            nodes: Vec::with_capacity(self.nodes.len()),
            from: self.nodes.into_iter().map(Some).collect(),
        };
        let terminal = renumbered.visit(root);
        let nodes = renumbered.nodes;
        let terminal = if nodes.is_empty() { terminal } else { NEVER };
        Diagram { nodes, terminal }
    }
}

struct Renumbered {
    /// Nodes that are not yet visited.
    from: Vec<Option<Node>>,
    /// New places of the others.
    places: Vec<Place>,
    nodes: Vec<Node>,
}

impl Renumbered {
    fn visit(&mut self, place: Place) -> Place {
        let at = usize::try_from(place).ok().and_then(|place| place.checked_sub(2));
        let Some((at, node)) = at.and_then(|at| Some((at, self.from.get_mut(at)?))) else {
            return place;
        };
        let Some(mut node) = node.take() else {
            return self.places[at];
        };
        for (_, to) in &mut node.arms {
            *to = self.visit(*to);
        }
        node.otherwise = self.visit(node.otherwise);
        // Pushed after its children, so that the root comes last.
        self.nodes.push(node);
        // The index is `len - 1`, and places are two above indexes.
        self.places[at] = u32::try_from(self.nodes.len() + 1).unwrap_or(NEVER);
        self.places[at]
    }
}

/// An operation on two diagrams that builds a third.
struct Pairs<'d> {
    left: &'d Diagram,
    right: &'d Diagram,
    /// Returns the result for a pair of places if no further test can change it.
    settle: fn(Place, Place) -> Option<Place>,
    builder: Builder,
    known: FxHashMap<(Place, Place), Place>,
    steps: usize,
}

/// The test that comes next for a pair of places.
struct Question<'d> {
    variable: &'d Arc<Variable>,
    /// Points that at least one of the two nodes has an arm for.
    values: Vec<&'d Point>,
}

impl<'d> Question<'d> {
    /// Returns the test of the variable that comes first in the order; a node that tests a later one waits. Returns
    /// `None` if both places are terminals.
    fn of(left: Option<&'d Node>, right: Option<&'d Node>) -> Option<Self> {
        let variable = match (left, right) {
            (Some(l), Some(r)) if Arc::ptr_eq(&l.variable, &r.variable) => &l.variable,
            (Some(l), Some(r)) => (&l.variable).min(&r.variable),
            (Some(node), None) | (None, Some(node)) => &node.variable,
            (None, None) => return None,
        };
        let arms_of = |node: Option<&'d Node>| {
            let asks = node.filter(|node| node.variable == *variable);
            asks.map_or(&[][..], |node| &node.arms)
        };
        let (left, right) = (arms_of(left), arms_of(right));
        let mut values: Vec<&Point> = left.iter().chain(right).map(|(value, _)| value).collect();
        // The arms of a single node are in order.
        if !left.is_empty() && !right.is_empty() {
            values.sort_unstable();
            values.dedup();
        }
        Some(Question { variable, values })
    }
}

/// Returns the place that `place` of `of` leads to when `variable` has `value`; `None` is a value before every arm. A
/// node that tests another variable stays where it is.
fn follow(of: &Diagram, place: Place, variable: &Arc<Variable>, value: Option<&Point>) -> Place {
    match of.node(place).filter(|node| node.variable == *variable) {
        Some(node) => value.map_or(node.otherwise, |value| node.follow(value)),
        None => place,
    }
}

/// A search through two diagrams in parallel that stops at the first pair it looks for. It builds no diagram.
struct Search<'d> {
    left: &'d Diagram,
    right: &'d Diagram,
    /// Returns the result for a pair of places if no further test can change it.
    settle: fn(Place, Place) -> Option<bool>,
    /// Pairs already searched without success.
    known: FxHashSet<(Place, Place)>,
}

impl<'d> Search<'d> {
    fn run(
        left: &'d Diagram,
        right: &'d Diagram,
        settle: fn(Place, Place) -> Option<bool>,
    ) -> Result<bool, TooComplex> {
        let mut search = Search {
            left,
            right,
            settle,
            known: FxHashSet::default(),
        };
        search.finds(left.root(), right.root())
    }

    fn finds(&mut self, a: Place, b: Place) -> Result<bool, TooComplex> {
        if let Some(settled) = (self.settle)(a, b) {
            return Ok(settled);
        }
        if self.known.contains(&(a, b)) {
            return Ok(false);
        }
        let (left, right) = (self.left, self.right);
        let Some(Question { variable, values }) = Question::of(left.node(a), right.node(b)) else {
            return Ok(false);
        };
        // Without a known domain the variable may also have a value before every arm.
        let others = variable.domain.is_none().then_some(None);
        for value in values.into_iter().map(Some).chain(others) {
            if self.finds(follow(left, a, variable, value), follow(right, b, variable, value))? {
                return Ok(true);
            }
        }
        self.known.insert((a, b));
        if self.known.len() > MAX_STEPS {
            return Err(TooComplex);
        }
        Ok(false)
    }
}

impl<'d> Pairs<'d> {
    fn new(left: &'d Diagram, right: &'d Diagram, settle: fn(Place, Place) -> Option<Place>) -> Self {
        Pairs {
            left,
            right,
            settle,
            builder: Builder::default(),
            known: FxHashMap::default(),
            steps: 0,
        }
    }

    fn run(
        left: &'d Diagram,
        right: &'d Diagram,
        settle: fn(Place, Place) -> Option<Place>,
    ) -> Result<Diagram, TooComplex> {
        let mut pairs = Pairs::new(left, right, settle);
        let root = pairs.visit(left.root(), right.root())?;
        Ok(pairs.builder.finish(root))
    }

    fn step(&mut self) -> Result<(), TooComplex> {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            Err(TooComplex)
        } else {
            Ok(())
        }
    }

    fn visit(&mut self, a: Place, b: Place) -> Result<Place, TooComplex> {
        if let Some(settled) = (self.settle)(a, b) {
            return Ok(settled);
        }
        if let Some(known) = self.known.get(&(a, b)) {
            return Ok(*known);
        }
        self.step()?;
        // Both are terminals only if `settle` has no result for them, and every operation settles all terminals.
        let (left, right) = (self.left, self.right);
        let Some(Question { variable, values }) = Question::of(left.node(a), right.node(b)) else {
            return Ok(NEVER);
        };
        let mut arms = Vec::with_capacity(values.len());
        // Follow both sides from each point that at least one of them has an arm for, then before all of them.
        for value in values {
            let (a, b) = (
                follow(left, a, variable, Some(value)),
                follow(right, b, variable, Some(value)),
            );
            let place = self.visit(a, b)?;
            arms.push((value.clone(), place));
        }
        let otherwise = if variable.domain.is_some() {
            NEVER
        } else {
            self.visit(follow(left, a, variable, None), follow(right, b, variable, None))?
        };
        let place = self.builder.node(variable, arms, otherwise)?;
        self.known.insert((a, b), place);
        Ok(place)
    }

    /// Implements [`Diagram::within`]. Values excluded by `b` (the care diagram) may lead anywhere: they are sent to
    /// the place of another value, so that the node is often not needed at all.
    fn restrict(&mut self, a: Place, b: Place) -> Result<Place, TooComplex> {
        if a <= ALWAYS {
            return Ok(a);
        }
        if let Some(known) = self.known.get(&(a, b)) {
            return Ok(*known);
        }
        self.step()?;
        let (left, right) = (self.left, self.right);
        let Some(Question { variable, values }) = Question::of(left.node(a), right.node(b)) else {
            return Ok(a);
        };
        // `None` marks an arm that the care diagram excludes: its target is free to choose.
        let cares = |value: Option<&Point>| follow(right, b, variable, value);
        let mut arms: Vec<(Point, Option<Place>)> = Vec::with_capacity(values.len());
        for value in values {
            let care = cares(Some(value));
            let place = match care {
                NEVER => None,
                _ => Some(self.restrict(follow(left, a, variable, Some(value)), care)?),
            };
            arms.push((value.clone(), place));
        }
        let rest = match cares(None) {
            _ if variable.domain.is_some() => None,
            NEVER => None,
            care => Some(self.restrict(follow(left, a, variable, None), care)?),
        };
        // Send the free arms to a target that is needed anyway.
        let any = rest
            .or_else(|| arms.iter().find_map(|(_, place)| *place))
            .unwrap_or(NEVER);
        let otherwise = if variable.domain.is_some() { NEVER } else { any };
        let arms = arms.into_iter().map(|(value, place)| (value, place.unwrap_or(any)));
        let place = self.builder.node(variable, arms.collect(), otherwise)?;
        self.known.insert((a, b), place);
        Ok(place)
    }
}
