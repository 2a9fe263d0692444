//! A template during its evaluation: its sections, and the results computed so far.

use super::comparisons::Comparisons;
use super::parameters::Parameter;
use super::sections::Sections;
use super::stacks::Stack;
use crate::limits;
use knowledge::Target;

use conditions::{ANY_OPERAND, Condition, Variable};
use rustc_hash::FxHashMap;
use source::Span;
use std::cell::{Cell, RefCell};
use std::ops::Deref;
use std::sync::Arc;

/// Pseudo parameter for the account.
const ACCOUNT: &str = "AWS::AccountId";

/// Resources by physical name, of queues (`true`) or functions (`false`); `None` if several have the name.
type Names = FxHashMap<(bool, String), Option<Arc<str>>>;

/// A template and the state of its evaluation.
pub struct Template<'t> {
    /// Its sections.
    pub sections: Sections<'t>,
    /// Evaluated conditions; `None` while one is being evaluated.
    pub(crate) computed: RefCell<FxHashMap<Arc<str>, Option<Condition>>>,
    /// Physical names, with placeholders for unresolved parts.
    pub(crate) names: RefCell<Names>,
    /// Texts that parameters are compared with.
    pub(crate) comparisons: RefCell<Comparisons>,
    /// `true` while a condition is evaluated, which needs parameters with unresolved values as variables.
    pub(crate) keeps_variables: Cell<bool>,
    /// Evaluated nested stacks.
    pub(crate) stacks: RefCell<FxHashMap<Arc<str>, Stack>>,
    /// Types of resources of other templates.
    pub(crate) foreign_kinds: RefCell<FxHashMap<Target, Arc<str>>>,
    /// Exceeded bounds.
    limits: RefCell<Vec<(Span, String)>>,
    /// Variables of conditions, numbered in the order of their first use.
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
            keeps_variables: Cell::new(false),
            stacks: RefCell::default(),
            foreign_kinds: RefCell::default(),
            limits: RefCell::default(),
            order: RefCell::default(),
            steps: Cell::new(0),
        }
    }
}

impl Template<'_> {
    /// Counts one step of evaluation; returns `false` once the template has exceeded its bound.
    pub fn may_step(&self) -> bool {
        self.spend(1)
    }

    /// Counts several steps of evaluation.
    pub(crate) fn spend(&self, steps: usize) -> bool {
        let steps = u32::try_from(steps).unwrap_or(u32::MAX);
        self.steps.set(self.steps.get().saturating_add(steps));
        self.steps.get() <= limits::MAX_EVALUATION_STEPS
    }

    /// Records an exceeded bound, once.
    pub(crate) fn note_limit(&self, at: Span, bound: String) {
        let mut limits = self.limits.borrow_mut();
        if !limits.iter().any(|(_, known)| *known == bound) {
            limits.push((at, bound));
        }
    }

    /// Returns the exceeded bounds with their spans.
    pub(crate) fn limits(&self) -> Vec<(Span, String)> {
        self.limits.borrow().clone()
    }

    /// Returns the key of the variable `name`.
    pub(crate) fn variable_key(&self, name: &str) -> Arc<str> {
        // A nested stack is in its caller's account and Region.
        let is_shared = name.starts_with("AWS::") && !name.starts_with("AWS::Stack");
        let scope = if is_shared {
            self.scope.root()
        } else {
            self.scope.as_str()
        };
        format!("{scope}|{name}").into()
    }

    /// Returns the variable `name` as an operand of other variables. The account may depend on any parameter: a
    /// deployment with `Env: prod` uses the account of production.
    pub(crate) fn operand(&self, name: &str) -> Arc<str> {
        match name {
            ACCOUNT => ANY_OPERAND.into(),
            name => self.variable_key(name),
        }
    }

    /// Returns `name` as a variable of conditions: a parameter, a pseudo parameter, or the text of an expression.
    pub(crate) fn variable(&self, name: &str) -> Variable {
        let parameter = self.parameter(name);
        let domain = match parameter.and_then(Parameter::allowed) {
            Some(all) => Some(all.iter().map(|(value, _)| value.as_str().into()).collect()),
            None => parameter.and_then(|_| self.keys_required(name)),
        };
        let default = parameter.filter(|p| !p.is_from_store() && p.argument().is_none());
        let default = default.and_then(Parameter::default);
        // Numbered by first use, so that the variables of one formula are neighbours in the diagram.
        let mut order = self.order.borrow_mut();
        let next = u32::try_from(order.len()).unwrap_or(u32::MAX);
        let order = *order.entry(name.into()).or_insert(next);
        Variable {
            order,
            key: self.variable_key(name),
            name: name.into(),
            domain,
            default: default.map(|(value, _)| value.into()),
            operands: (name == ACCOUNT).then(|| Arc::from([self.operand(name)])),
        }
    }
}
