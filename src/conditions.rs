//! Conditions, and which of them can hold together.
//!
//! A [`Condition`] is a statement about what the files leave unresolved: a parameter, a Terraform variable, an opaque
//! expression. Its variables are compared with texts, so two conditions over one parameter are correlated:
//! `Env == prod` and `Env == dev` never hold together. It carries the names that users gave to it.
//!
//! It knows no graph, no dialect and no rule: frontends name the variables. `diagram.rs` computes with conditions,
//! `words.rs` says them, and [`Cases`] are values that depend on them.

mod cases;
mod diagram;
mod formula;
mod words;

pub use cases::{Case, Cases, MAX_CASES, TooMany};
use diagram::Diagram;
use formula::Formula;
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, LazyLock};
use words::Name;

/// Values of two variables that are compared one by one, at most.
const MAX_COMPARED: usize = 256;

/// Something a condition depends on.
#[derive(Debug, Clone)]
pub struct Variable {
    /// Variables that are asked about together have neighbouring numbers, which keeps conditions small.
    pub order: u32,
    /// Identity: equal keys are the same variable. Frontends add their scope to it.
    pub key: Arc<str>,
    /// The parameter or the expression that users wrote. It tells no variables apart: one may be written in two ways.
    pub name: Arc<str>,
    /// Every value it can have, where that is known (`AllowedValues`; `true`, `false`).
    pub domain: Option<Arc<[Arc<str>]>>,
    /// The value it has when nobody sets it.
    pub default: Option<Arc<str>>,
}

impl Variable {
    #[allow(clippy::type_complexity, reason = "the fields but the name")]
    fn identity(&self) -> (u32, &Arc<str>, &Option<Arc<[Arc<str>]>>, &Option<Arc<str>>) {
        (self.order, &self.key, &self.domain, &self.default)
    }
}

impl PartialEq for Variable {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Variable {}

impl PartialOrd for Variable {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Variable {
    fn cmp(&self, other: &Self) -> Ordering {
        self.identity().cmp(&other.identity())
    }
}

impl Hash for Variable {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Most of what a diagram would cost is hashing the values that a variable may have.
        self.key.hash(state);
    }
}

/// A statement about variables, with the words that name it to a user.
#[derive(Debug, Clone)]
pub struct Condition(
    /// `None` always holds: every value of a graph has a condition, and few depend on anything.
    Option<Arc<Named>>,
);

/// A formula with what users call it.
#[derive(Debug)]
struct Named {
    formula: Formula,
    /// Each holds wherever the formula does; sorted.
    names: Vec<Name>,
}

static ALWAYS: Formula = Formula::Always;

/// Equal where they hold in the same cases, whatever they are called. What is too complex equals nothing else.
impl PartialEq for Condition {
    fn eq(&self, other: &Self) -> bool {
        self.formula() == other.formula()
    }
}

impl Default for Condition {
    fn default() -> Self {
        Condition::always()
    }
}

impl Condition {
    fn new(formula: Formula, names: Vec<Name>) -> Self {
        match formula {
            Formula::Always => Condition::always(),
            Formula::Never if names.is_empty() => Condition::never(),
            formula => Condition(Some(Arc::new(Named { formula, names }))),
        }
    }

    fn unnamed(formula: Formula) -> Self {
        Condition::new(formula, Vec::new())
    }

    fn formula(&self) -> &Formula {
        self.0.as_ref().map_or(&ALWAYS, |named| &named.formula)
    }

    fn names(&self) -> &[Name] {
        self.0.as_ref().map_or(&[], |named| &named.names)
    }

    /// Always holds.
    pub const fn always() -> Self {
        Condition(None)
    }

    /// Never holds.
    pub fn never() -> Self {
        // What folds conditions together begins with it.
        static NEVER: LazyLock<Arc<Named>> = LazyLock::new(|| {
            Arc::new(Named {
                formula: Formula::Never,
                names: Vec::new(),
            })
        });
        Condition(Some(NEVER.clone()))
    }

    /// Holds where `variable` has the value `value`.
    pub fn is(variable: Variable, value: impl Into<Arc<str>>) -> Self {
        Condition::unnamed(Diagram::is(variable, value.into()).into())
    }

    /// Holds where `a` and `b` have the same value. `compared` are the texts that either is compared with anywhere,
    /// and as many values beside them as variables without a domain are compared with each other.
    pub fn equal(a: &Variable, b: &Variable, compared: &[Arc<str>]) -> Self {
        if a.key == b.key {
            return Condition::always();
        }
        let values = a.domain.as_deref().or(b.domain.as_deref()).unwrap_or(compared);
        if values.len() > MAX_COMPARED {
            return Condition::unnamed(Formula::Unknown);
        }
        let both =
            |value: &Arc<str>| Condition::is(a.clone(), value.clone()).and(&Condition::is(b.clone(), value.clone()));
        let each = values.iter().map(both);
        each.fold(Condition::never(), |either, next| either.or(&next))
    }

    /// Holds where the yes-or-no question `key`, called `name` in messages, is answered with yes. Its value by default
    /// is unknown.
    pub fn flag(key: impl Into<Arc<str>>, name: impl Into<Arc<str>>) -> Self {
        let domain: Arc<[Arc<str>]> = Arc::from(["true".into(), "false".into()]);
        let variable = Variable {
            order: 0,
            key: key.into(),
            name: name.into(),
            domain: Some(domain),
            default: None,
        };
        Condition::is(variable, "true")
    }

    /// The same condition, called `name` in messages ("`IsProd`") in place of any earlier name.
    #[must_use]
    pub fn named(self, name: impl Into<Arc<str>>) -> Self {
        match self.formula() {
            formula @ Formula::Sometimes(_) => Condition::new(formula.clone(), vec![Name::new(name, formula)]),
            _ => self,
        }
    }

    /// Where both hold.
    #[must_use]
    pub fn and(&self, other: &Condition) -> Condition {
        if self.is_always() || (self.names().is_empty() && self == other) {
            return other.clone();
        }
        if other.is_always() || self == other {
            return self.clone();
        }
        let formula = self.formula().and(other.formula());
        let names = words::of_both(&formula, self.names(), other.names());
        Condition::new(formula, names)
    }

    /// Where either holds.
    #[must_use]
    pub fn or(&self, other: &Condition) -> Condition {
        if !self.is_possible() || (self.names().is_empty() && self == other) {
            return other.clone();
        }
        if !other.is_possible() || self == other {
            return self.clone();
        }
        let formula = self.formula().or(other.formula());
        let names = words::of_either(&formula, self, other);
        Condition::new(formula, names)
    }

    /// Where it does not hold.
    #[must_use]
    pub fn not(&self) -> Condition {
        let formula = Formula::Always.without(self.formula());
        let names = words::of_negation(&formula, self);
        Condition::new(formula, names)
    }

    /// Whether it may hold.
    pub fn is_possible(&self) -> bool {
        !matches!(self.formula(), Formula::Never)
    }

    /// Whether it always holds.
    pub fn is_always(&self) -> bool {
        self.0.is_none()
    }

    /// Whether both may hold at once.
    pub fn is_possible_with(&self, other: &Condition) -> bool {
        self.formula().meets(other.formula())
    }

    /// Whether `other` holds wherever `self` does.
    pub fn implies(&self, other: &Condition) -> bool {
        self.formula().implies(other.formula())
    }

    /// Whether it grew too large to compute with: it may never hold, and nothing may be reported for it.
    pub fn is_too_complex(&self) -> bool {
        matches!(self.formula(), Formula::Unknown)
    }

    /// Whether it holds when every variable has its default; `None` where a default is not known.
    pub fn holds_by_default(&self) -> Option<bool> {
        self.holds_where(|variable| variable.default.clone())
    }

    /// Whether it holds where every variable has the value that `value_of` gives; `None` where that is not known.
    pub fn holds_where(&self, value_of: impl Fn(&Variable) -> Option<Arc<str>>) -> Option<bool> {
        match self.formula() {
            Formula::Always => Some(true),
            Formula::Never => Some(false),
            Formula::Sometimes(diagram) => diagram.holds_where(value_of),
            Formula::Unknown => None,
        }
    }

    /// What to call it in a message ("`IsProd`", "`IsProd` and not `HasDlq`"); `None` where it always holds.
    pub fn describe(&self) -> Option<String> {
        words::describe(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(value: &str) -> Condition {
        let variable = Variable {
            order: 0,
            key: "t|Env".into(),
            name: "Env".into(),
            domain: None,
            default: Some("dev".into()),
        };
        Condition::is(variable, value)
    }

    fn size(value: &str) -> Condition {
        let variable = Variable {
            order: 0,
            key: "Size".into(),
            name: "Size".into(),
            domain: Some(Arc::from(["s".into(), "m".into(), "l".into()])),
            default: Some("s".into()),
        };
        Condition::is(variable, value)
    }

    #[test]
    fn two_values_of_one_variable_exclude_each_other() {
        assert!(!env("prod").is_possible_with(&env("dev")));
        assert!(env("prod").is_possible_with(&size("s")));
        assert!(env("prod").implies(&env("dev").not()));
        assert!(!env("dev").not().implies(&env("prod")));
    }

    #[test]
    fn a_closed_domain_leaves_the_last_value() {
        let large = size("s").not().and(&size("m").not());
        assert!(large.implies(&size("l")));
        assert!(size("s").or(&size("m")).or(&size("l")).is_always());
        assert!(!size("xxl").is_possible());
    }

    #[test]
    fn negation_is_exact() {
        let both = env("prod").and(&size("l"));
        assert!(both.not().or(&both).is_always());
        assert!(!both.not().is_possible_with(&both));
        assert!(!both.not().not().and(&both.not()).is_possible());
    }

    #[test]
    fn defaults_decide() {
        assert_eq!(env("dev").holds_by_default(), Some(true));
        assert_eq!(env("prod").holds_by_default(), Some(false));
        assert_eq!(Condition::flag("x", "x").holds_by_default(), None);
        assert_eq!(
            env("prod").and(&Condition::flag("x", "x")).holds_by_default(),
            Some(false)
        );
    }

    #[test]
    fn names_are_those_of_the_template() {
        let prod = env("prod").named("IsProd");
        assert_eq!(prod.describe().as_deref(), Some("IsProd"));
        assert_eq!(prod.not().describe().as_deref(), Some("not IsProd"));
        assert_eq!(prod.not().not().describe().as_deref(), Some("IsProd"));
        assert_eq!(env("prod").describe().as_deref(), Some("Env = prod"));
        assert_eq!(
            prod.and(&size("l").named("Large")).describe().as_deref(),
            Some("IsProd and Large")
        );
    }

    #[test]
    fn many_independent_conditions_are_told_apart() {
        let pair = |n: u32, order: u32| {
            let flag = |key: String| {
                let variable = Variable {
                    order,
                    key: key.as_str().into(),
                    name: key.into(),
                    domain: Some(Arc::from(["true".into(), "false".into()])),
                    default: None,
                };
                Condition::is(variable, "true")
            };
            flag(format!("a{n}")).or(&flag(format!("b{n}")))
        };
        let all = (0..30).fold(Condition::always(), |all, n| all.and(&pair(n, n)));
        assert!(all.is_possible() && !all.is_too_complex());
        assert!(all.implies(&pair(29, 29)));
        assert!(!all.is_possible_with(&pair(7, 7).not()));
    }

    #[test]
    fn what_is_too_complex_says_nothing() {
        // In this order of variables every pair has to be remembered.
        let flag = |name: &str, n: u32| Condition::flag(format!("{name}{n:02}"), name);
        let pair = |n: u32| flag("a", n).and(&flag("b", n));
        let all = (0..30).fold(Condition::never(), |all, n| all.or(&pair(n)));
        assert!(all.is_too_complex() && all.not().is_too_complex());
        assert!(all.is_possible() && all.not().is_possible() && !all.implies(&pair(0)));
        assert!(!all.and(&Condition::never()).is_possible());
        assert!(all.or(&Condition::always()).is_always());
    }

    #[test]
    fn names_are_as_few_as_will_do() {
        let (prod, dev) = (env("prod").named("IsProd"), env("dev").named("IsDev"));
        assert_eq!(prod.and(&dev.not()).describe().as_deref(), Some("IsProd"));
        let large = size("l").named("Large");
        let either = prod.or(&large).named("Either");
        assert_eq!(prod.and(&either).describe().as_deref(), Some("IsProd"));
        assert_eq!(
            prod.and(&large).or(&prod.and(&large.not())).describe().as_deref(),
            Some("IsProd")
        );
        // What has no name is said by its values.
        assert_eq!(prod.and(&size("m")).describe().as_deref(), Some("IsProd and Size = m"));
        assert_eq!(size("m").not().describe().as_deref(), Some("Size != m"));
        assert_eq!(
            prod.and(&size("s")).or(&dev.and(&size("m"))).describe().as_deref(),
            Some("Env = dev and Size = m or Env = prod and Size = s")
        );
    }

    #[test]
    fn two_variables_may_be_equal() {
        let open = |key: &str| Variable {
            order: 0,
            key: key.into(),
            name: key.into(),
            domain: None,
            default: None,
        };
        let (a, b, c) = (open("A"), open("B"), open("C"));
        let compared: Vec<Arc<str>> = ["prod", "\0a", "\0b"].map(Arc::from).to_vec();
        let equal = |left: &Variable, right: &Variable| Condition::equal(left, right, &compared);
        let both = equal(&a, &b).and(&equal(&b, &c));
        assert!(both.implies(&equal(&a, &c)));
        assert!(
            equal(&a, &b)
                .and(&Condition::is(a.clone(), "prod"))
                .implies(&Condition::is(b.clone(), "prod"))
        );
        assert!(!equal(&a, &b).implies(&equal(&a, &c)));
        assert!(equal(&a, &b).is_possible_with(&Condition::is(a.clone(), "prod").not()));
        assert_eq!(equal(&a, &a), Condition::always());
    }
}
