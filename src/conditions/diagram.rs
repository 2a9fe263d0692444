//! Conditions as decision diagrams: each node asks for the value of one variable, in one order for all of them.
//!
//! ```text
//! Conditions:
//!   IsProd: !Equals [!Ref Env, prod]      # Env may have any value
//!   Large: !Equals [!Ref Size, l]         # Size is s, m or l
//! …
//! VisibilityTimeout: !If [IsProd, !If [Large, 900, 300], 30]
//! ```
//!
//! The 900 holds under `IsProd and Large`, which is this diagram; the 300 under the one with its arms swapped:
//!
//! ```text
//! Env ── prod ───────► Size ── l ────► always
//!  └──── otherwise ─► never └─ m, s ─► never
//! ```
//!
//! Two diagrams are equal exactly where they hold for the same values, so that "never" and "always" are seen at a
//! glance: `IsProd and Large` without `IsProd` has no node left. A diagram may grow with every operation; past a bound
//! it is [`TooComplex`] and never guessed.

use super::Variable;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Arms of one diagram, at most.
const MAX_ARMS: usize = 8_192;
/// Pairs of nodes that one operation visits, at most.
const MAX_STEPS: usize = 100_000;

/// The diagram has more nodes, or takes more steps, than the bounds allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooComplex;

/// Where an arm leads: [`NEVER`], [`ALWAYS`], or the node at `place - 2`.
type Place = u32;
const NEVER: Place = 0;
const ALWAYS: Place = 1;

/// One question.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Node {
    variable: Arc<Variable>,
    /// By value, sorted. Every value where the domain is known; elsewhere those that do not lead where the rest leads.
    arms: Vec<(Arc<str>, Place)>,
    /// Where every other value leads; [`NEVER`] where the domain is known.
    otherwise: Place,
}

impl Node {
    fn follow(&self, value: &str) -> Place {
        match self.arms.binary_search_by(|(known, _)| (**known).cmp(value)) {
            Ok(at) => self.arms.get(at).map_or(self.otherwise, |(_, place)| *place),
            Err(_) => self.otherwise,
        }
    }
}

/// A condition. The root is the last node; without nodes it is `terminal`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Diagram {
    nodes: Vec<Node>,
    terminal: Place,
}

/// Values that lead to one place, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Literal {
    /// The variable.
    pub(super) variable: Arc<Variable>,
    /// The values, or those that it does not have.
    pub(super) values: Vec<Arc<str>>,
    /// Whether it has one of them, or none.
    pub(super) is: bool,
}

impl Diagram {
    /// Always holds.
    pub(super) const fn always() -> Self {
        Diagram {
            nodes: Vec::new(),
            terminal: ALWAYS,
        }
    }

    /// Holds where `variable` has `value`.
    pub(super) fn is(variable: Variable, value: Arc<str>) -> Result<Self, TooComplex> {
        let arms = match &variable.domain {
            None => vec![(value, ALWAYS)],
            Some(domain) => {
                let arm = |known: &Arc<str>| (known.clone(), if *known == value { ALWAYS } else { NEVER });
                let mut arms: Vec<_> = domain.iter().map(arm).collect();
                arms.sort();
                arms.dedup();
                arms
            }
        };
        let mut builder = Builder::default();
        let root = builder.node(&Arc::new(variable), arms, NEVER)?;
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

    /// Holds where both do.
    pub(super) fn and(&self, other: &Diagram) -> Result<Diagram, TooComplex> {
        Pairs::run(self, other, |a, b| match (a, b) {
            (NEVER, _) | (_, NEVER) => Some(NEVER),
            (ALWAYS, ALWAYS) => Some(ALWAYS),
            _ => None,
        })
    }

    /// Holds where either does.
    pub(super) fn or(&self, other: &Diagram) -> Result<Diagram, TooComplex> {
        Pairs::run(self, other, |a, b| match (a, b) {
            (ALWAYS, _) | (_, ALWAYS) => Some(ALWAYS),
            (NEVER, NEVER) => Some(NEVER),
            _ => None,
        })
    }

    /// Holds where `self` does and `other` does not.
    pub(super) fn without(&self, other: &Diagram) -> Result<Diagram, TooComplex> {
        Pairs::run(self, other, |a, b| match (a, b) {
            (NEVER, _) | (_, ALWAYS) => Some(NEVER),
            (ALWAYS, NEVER) => Some(ALWAYS),
            _ => None,
        })
    }

    /// Whether both may hold at once.
    pub(super) fn meets(&self, other: &Diagram) -> Result<bool, TooComplex> {
        // A place other than `NEVER` leads to `ALWAYS` somewhere.
        Search::run(self, other, |a, b| match (a, b) {
            (NEVER, _) | (_, NEVER) => Some(false),
            (ALWAYS, _) | (_, ALWAYS) => Some(true),
            _ => None,
        })
    }

    /// Whether `other` holds wherever this does.
    pub(super) fn implies(&self, other: &Diagram) -> Result<bool, TooComplex> {
        let has_exception = Search::run(self, other, |a, b| match (a, b) {
            (NEVER, _) | (_, ALWAYS) => Some(false),
            (ALWAYS, _) | (_, NEVER) => Some(true),
            _ => None,
        });
        has_exception.map(|has_exception| !has_exception)
    }

    /// Something simpler that, where `care` holds, holds exactly where `self` does.
    pub(super) fn within(&self, care: &Diagram) -> Result<Diagram, TooComplex> {
        let mut pairs = Pairs::new(self, care, |_, _| None);
        let root = pairs.restrict(self.root(), care.root())?;
        Ok(pairs.builder.finish(root))
    }

    /// Whether it holds where every variable has the value that `value_of` gives; `None` where that is not known.
    pub(super) fn holds_where(&self, value_of: impl Fn(&Variable) -> Option<Arc<str>>) -> Option<bool> {
        let mut known: Vec<Option<bool>> = Vec::with_capacity(self.nodes.len());
        let at = |known: &[Option<bool>], place: Place| match place {
            NEVER => Some(false),
            ALWAYS => Some(true),
            _ => usize::try_from(place - 2).ok().and_then(|at| *known.get(at)?),
        };
        for node in &self.nodes {
            let in_domain = |value: &Arc<str>| node.variable.domain.as_ref().is_none_or(|all| all.contains(value));
            let answer = if let Some(value) = value_of(&node.variable).filter(in_domain) {
                at(&known, node.follow(&value))
            } else {
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

    /// The ways to [`ALWAYS`], at most `most` of them, and whether there are more.
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
        let mut by_place: Vec<(Place, Vec<Arc<str>>)> = Vec::new();
        for (value, place) in node.arms.iter().filter(|(_, place)| *place != NEVER) {
            match by_place.iter_mut().find(|(known, _)| known == place) {
                Some((_, values)) => values.push(value.clone()),
                None => by_place.push((*place, vec![value.clone()])),
            }
        }
        let mut literals: Vec<(Place, Literal)> = Vec::new();
        for (to, values) in by_place {
            let others = || node.arms.iter().filter(|(_, place)| *place != to);
            let is_most = node.variable.domain.is_some() && others().count() < values.len();
            let values = if is_most {
                others().map(|(value, _)| value.clone()).collect()
            } else {
                values
            };
            let variable = node.variable.clone();
            literals.push((
                to,
                Literal {
                    variable,
                    values,
                    is: !is_most,
                },
            ));
        }
        if node.variable.domain.is_none() && node.otherwise != NEVER {
            let literal = Literal {
                variable: node.variable.clone(),
                values: node.arms.iter().map(|(value, _)| value.clone()).collect(),
                is: false,
            };
            literals.push((node.otherwise, literal));
        }
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

/// Nodes of a diagram that is being made, each once.
#[derive(Default)]
struct Builder {
    nodes: Vec<Node>,
    known: FxHashMap<Node, Place>,
    arms: usize,
}

impl Builder {
    /// The place of such a node; where it makes no difference, the place that every arm leads to.
    fn node(
        &mut self,
        variable: &Arc<Variable>,
        mut arms: Vec<(Arc<str>, Place)>,
        otherwise: Place,
    ) -> Result<Place, TooComplex> {
        if variable.domain.is_none() {
            arms.retain(|(_, place)| *place != otherwise);
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

    /// The diagram that begins at `root`, with its nodes in an order that depends on nothing else.
    fn finish(self, root: Place) -> Diagram {
        let mut renumbered = Renumbered {
            from: &self.nodes,
            nodes: Vec::with_capacity(self.nodes.len()),
            places: FxHashMap::default(),
        };
        let terminal = renumbered.visit(root);
        let nodes = renumbered.nodes;
        let terminal = if nodes.is_empty() { terminal } else { NEVER };
        Diagram { nodes, terminal }
    }
}

struct Renumbered<'b> {
    from: &'b [Node],
    nodes: Vec<Node>,
    places: FxHashMap<Place, Place>,
}

impl Renumbered<'_> {
    fn visit(&mut self, place: Place) -> Place {
        let node = usize::try_from(place)
            .ok()
            .and_then(|at| self.from.get(at.checked_sub(2)?));
        let Some(node) = node else { return place };
        if let Some(known) = self.places.get(&place) {
            return *known;
        }
        let arms = node.arms.iter().map(|(value, to)| (value.clone(), self.visit(*to)));
        let arms = arms.collect();
        let otherwise = self.visit(node.otherwise);
        self.nodes.push(Node {
            variable: node.variable.clone(),
            arms,
            otherwise,
        });
        let own = u32::try_from(self.nodes.len() + 1).unwrap_or(NEVER);
        self.places.insert(place, own);
        own
    }
}

/// An operation on two diagrams.
struct Pairs<'d> {
    left: &'d Diagram,
    right: &'d Diagram,
    /// The answer where it is clear already.
    settle: fn(Place, Place) -> Option<Place>,
    builder: Builder,
    known: FxHashMap<(Place, Place), Place>,
    steps: usize,
}

/// What a pair of places asks next.
struct Question<'d> {
    variable: &'d Arc<Variable>,
    /// Every value that either place tells apart.
    values: Vec<&'d Arc<str>>,
}

impl<'d> Question<'d> {
    /// The first variable that either place asks for.
    fn of(left: Option<&'d Node>, right: Option<&'d Node>) -> Option<Self> {
        let variable = match (left, right) {
            (Some(l), Some(r)) if Arc::ptr_eq(&l.variable, &r.variable) => &l.variable,
            (Some(l), Some(r)) => (&l.variable).min(&r.variable),
            (Some(node), None) | (None, Some(node)) => &node.variable,
            (None, None) => return None,
        };
        let asks = [left, right].into_iter().flatten();
        let arms = asks
            .filter(|node| node.variable == *variable)
            .flat_map(|node| &node.arms);
        let mut values: Vec<&Arc<str>> = arms.map(|(value, _)| value).collect();
        values.sort_unstable();
        values.dedup();
        Some(Question { variable, values })
    }
}

/// Where `place` of `of` leads when `variable` has `value`; `None` is any value that no arm names.
fn follow(of: &Diagram, place: Place, variable: &Arc<Variable>, value: Option<&str>) -> Place {
    match of.node(place).filter(|node| node.variable == *variable) {
        Some(node) => value.map_or(node.otherwise, |value| node.follow(value)),
        None => place,
    }
}

/// A walk through two diagrams at once that ends where it finds what it looks for. It builds nothing.
struct Search<'d> {
    left: &'d Diagram,
    right: &'d Diagram,
    /// The answer where it is clear already.
    settle: fn(Place, Place) -> Option<bool>,
    /// Pairs that lead nowhere.
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
        let others = variable.domain.is_none().then_some(None);
        for value in values.into_iter().map(|value| Some(&**value)).chain(others) {
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
        // Every operation settles two terminals.
        let (left, right) = (self.left, self.right);
        let Some(Question { variable, values }) = Question::of(left.node(a), right.node(b)) else {
            return Ok(NEVER);
        };
        let mut arms = Vec::with_capacity(values.len());
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

    /// [`Diagram::within`]: an arm that `b` never takes leads wherever the others lead.
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
        let cares = |value: Option<&str>| follow(right, b, variable, value);
        let mut arms: Vec<(Arc<str>, Option<Place>)> = Vec::with_capacity(values.len());
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
