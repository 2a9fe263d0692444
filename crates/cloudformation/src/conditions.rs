//! Evaluates the `Conditions` section to formulas over parameters, so that conditions on one parameter are correlated.
//! An expression that is not understood becomes a Boolean variable of its own (`questions.rs`).
//!
//! The sides of `Fn::Equals` are compared in `comparisons.rs`.

use super::surroundings::UsedName;
use super::template::Template;
use crate::limits;
use conditions::Condition;
use trees::Node;

impl<'t> Template<'t> {
    /// Evaluates every condition. This must precede the evaluation of values, because a parameter that conditions
    /// compare has one case per compared text.
    pub(crate) fn settle_conditions(&self) {
        self.compute_all();
        if self.comparisons.borrow().has_pairs() {
            // The texts that parameters are compared with are complete only now.
            self.comparisons.borrow_mut().settle();
            self.computed.borrow_mut().clear();
            self.compute_all();
        }
    }

    fn compute_all(&self) {
        for entry in &self.conditions_in_order {
            self.condition(&entry.key);
        }
    }

    /// Returns the condition under which the condition called `name` is true.
    pub(crate) fn condition(&self, name: &str) -> Condition {
        self.condition_within(name, 0)
    }

    fn condition_within(&self, name: &str, depth: usize) -> Condition {
        let flag = || Condition::flag(format!("{}|{name}", self.scope), name);
        if let Some(known) = self.computed.borrow().get(name) {
            if known.is_none()
                && let Some(node) = self.conditions.get(name)
            {
                // The condition is already being evaluated. AWS rejects such a cycle.
                self.note_limit(node.span, format!("condition `{name}` refers to itself"));
            }
            return known.clone().unwrap_or_else(flag);
        }
        let Some(node) = self.conditions.get(name) else {
            self.note_undeclared(UsedName::Condition(name.into()));
            return flag();
        };
        if depth >= limits::MAX_CONDITION_DEPTH {
            self.note_limit(
                node.span,
                format!(
                    "conditions refer to each other more than {} deep",
                    limits::MAX_CONDITION_DEPTH
                ),
            );
            return flag();
        }
        self.computed.borrow_mut().insert(name.into(), None);
        let condition = self.formula(node, depth + 1).named(name);
        if condition.is_too_complex() {
            self.note_limit(node.span, format!("condition `{name}` is too complex to evaluate"));
        }
        self.computed.borrow_mut().insert(name.into(), Some(condition.clone()));
        condition
    }

    fn formula(&self, node: &'t Node, depth: usize) -> Condition {
        let flag = || self.flag(node);
        let Some([entry]) = node.entries() else {
            return flag();
        };
        if depth >= limits::MAX_CONDITION_DEPTH {
            self.note_limit(
                node.span,
                format!("conditions are nested more than {} deep", limits::MAX_CONDITION_DEPTH),
            );
            return flag();
        }
        let operands = entry.value.items().unwrap_or_default();
        let mut formulas = operands.iter().map(|operand| self.formula(operand, depth + 1));
        match (&*entry.key, operands) {
            ("Condition", _) => match entry.value.as_str() {
                // The name of the whole condition will replace those of its parts, which are costly to combine.
                Some(name) => self.condition_within(name, depth + 1).without_names(),
                // The SAM transform nests the key twice when it joins conditions.
                None if entry.value.entry("Condition").is_some() => self.formula(&entry.value, depth + 1),
                None => flag(),
            },
            ("Fn::And", [_, ..]) => formulas.fold(Condition::always(), |all, next| all.and(&next)),
            ("Fn::Or", [_, ..]) => formulas.fold(Condition::never(), |all, next| all.or(&next)),
            ("Fn::Not", [_]) => formulas.next().map_or_else(flag, |only| only.not()),
            ("Fn::Equals", [left, right]) => self.equal(left, right),
            _ => flag(),
        }
    }
}
