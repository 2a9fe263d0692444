//! A template that is being evaluated: its sections, and what has been computed of them so far.

use super::comparisons::Comparisons;
use super::parameters::Parameter;
use super::sections::Sections;
use super::stacks::Stack;
use crate::conditions::{Condition, Variable};
use crate::graph::Target;
use crate::source::Span;
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::ops::Deref;
use std::sync::Arc;

/// Expressions that are evaluated for one template, at most.
const MAX_STEPS: u32 = 2_000_000;

/// Physical names, of queues (`true`) or functions (`false`), and who has them; `None` where several have one.
type Names = FxHashMap<(bool, String), Option<Arc<str>>>;

/// One template.
pub(super) struct Template<'t> {
    /// What it declares.
    pub(super) sections: Sections<'t>,
    /// Conditions as computed; `None` while one is being computed.
    pub(super) computed: RefCell<FxHashMap<Arc<str>, Option<Condition>>>,
    /// Physical names, with placeholders for what is unknown.
    pub(super) names: RefCell<Names>,
    /// What parameters are compared with.
    pub(super) comparisons: RefCell<Comparisons>,
    /// Whether parameters that may have any value are left open: a condition asks for all of them.
    pub(super) leaves_open: Cell<bool>,
    /// Nested stacks as evaluated.
    pub(super) stacks: RefCell<FxHashMap<Arc<str>, Stack>>,
    /// Types of resources of other templates.
    pub(super) kinds_elsewhere: RefCell<FxHashMap<Target, Arc<str>>>,
    /// Bounds that were reached.
    limits: RefCell<Vec<(Span, String)>>,
    /// The variables of conditions, numbered as they are met.
    order: RefCell<FxHashMap<String, u32>>,
    steps: Cell<u32>,
}

impl<'t> Deref for Template<'t> {
    type Target = Sections<'t>;

    fn deref(&self) -> &Sections<'t> {
        &self.sections
    }
}

impl<'t> From<Sections<'t>> for Template<'t> {
    fn from(sections: Sections<'t>) -> Self {
        Template {
            sections,
            computed: RefCell::default(),
            names: RefCell::default(),
            comparisons: RefCell::default(),
            leaves_open: Cell::new(false),
            stacks: RefCell::default(),
            kinds_elsewhere: RefCell::default(),
            limits: RefCell::default(),
            order: RefCell::default(),
            steps: Cell::new(0),
        }
    }
}

impl Template<'_> {
    /// Counts one step of evaluation; false where the template has had its share.
    pub(super) fn may_step(&self) -> bool {
        self.spend(1)
    }

    /// Counts several steps of evaluation.
    pub(super) fn spend(&self, steps: usize) -> bool {
        let steps = u32::try_from(steps).unwrap_or(u32::MAX);
        self.steps.set(self.steps.get().saturating_add(steps));
        self.steps.get() <= MAX_STEPS
    }

    /// Notes a bound that was reached, once.
    pub(super) fn note_limit(&self, at: Span, bound: String) {
        let mut limits = self.limits.borrow_mut();
        if !limits.iter().any(|(_, known)| *known == bound) {
            limits.push((at, bound));
        }
    }

    /// Bounds that were reached, and where.
    pub(super) fn limits(&self) -> Vec<(Span, String)> {
        self.limits.borrow().clone()
    }

    /// `name` as a variable of conditions: a parameter, a pseudo parameter, or the text of an expression.
    pub(super) fn variable(&self, name: &str) -> Variable {
        let parameter = self.parameter(name);
        let domain = parameter.and_then(Parameter::allowed).map(|all| {
            let values: Vec<Arc<str>> = all.iter().map(|(value, _)| value.as_str().into()).collect();
            Arc::from(values)
        });
        let default = parameter.filter(|p| !p.is_from_store() && p.argument().is_none());
        let default = default.and_then(Parameter::default);
        // A nested stack lies in its caller's account and Region.
        let is_shared = name.starts_with("AWS::") && !name.starts_with("AWS::Stack");
        let scope = match self.unit.split_once('#') {
            Some((caller, _)) if is_shared => caller,
            _ => &self.unit,
        };
        // In the order of their first use, so that those of one formula are neighbours.
        let mut order = self.order.borrow_mut();
        let next = u32::try_from(order.len()).unwrap_or(u32::MAX);
        let order = *order.entry(name.into()).or_insert(next);
        Variable {
            order,
            key: format!("{scope}|{name}").into(),
            name: name.into(),
            domain,
            default: default.map(|(value, _)| value.into()),
        }
    }
}
