#![doc = include_str!("../README.md")]

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

/// Maximum number of values that [`Condition::equal`] compares.
const MAX_COMPARED: usize = 256;

/// A value of a variable. All values have one order, so that a test accepts a range of it: `n > 4` accepts the numbers
/// from 5, and `n == 5` those from 5 up to 6. Hence the tests of one variable imply or exclude each other by
/// construction.
///
/// ```text
/// null │ … 3  4  5  6 … │ of size 0 (or "") │ of size 1, 2, … │ "a"  "a-b"  "b" …
/// ```
///
/// Numbers are whole. The empty text is the value of size 0, because `s != ""` and `length(s) > 0` are one test.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Point {
    /// No value.
    Null,
    /// A whole number.
    Number(i64),
    /// A collection with this number of elements.
    Size(i64),
    /// A text that is not empty.
    Text(Arc<str>),
}

impl Point {
    /// Returns the value `text`.
    fn text(text: Arc<str>) -> Point {
        if text.is_empty() {
            Point::Size(0)
        } else {
            Point::Text(text)
        }
    }

    /// Returns the least value that is greater.
    fn next(&self) -> Point {
        match self {
            Point::Null => Point::Number(i64::MIN),
            Point::Number(number) => number.checked_add(1).map_or(Point::Size(0), Point::Number),
            Point::Size(size) => size.checked_add(1).map_or(Point::Text("".into()), Point::Size),
            Point::Text(text) => Point::Text(format!("{text}\0").into()),
        }
    }
}

/// A variable that conditions depend on.
#[derive(Debug, Clone)]
pub struct Variable {
    /// Position in the order of all variables. Variables that occur together should have neighbouring numbers, which
    /// keeps diagrams small.
    pub order: u32,
    /// Identity: variables with equal keys are the same variable. Frontends add their scope to it.
    pub key: Arc<str>,
    /// Name of the parameter or text of the expression, as written. Not part of the identity: one variable may be
    /// written in two ways.
    pub name: Arc<str>,
    /// All values it can have, if known (`AllowedValues`; `true` and `false`).
    pub domain: Option<Arc<[Arc<str>]>>,
    /// Value it has if no input sets it.
    pub default: Option<Arc<str>>,
    /// Values that it is computed from, as dotted paths of keys; `None` if it is the value `key` itself. Two variables
    /// with a common operand (`var.n`, `var.n + var.m`) are entangled: they depend on each other in an unknown way.
    pub operands: Option<Arc<[Arc<str>]>>,
}

/// Operand of a variable that may be computed from any value.
pub const ANY_OPERAND: &str = "";

impl Variable {
    #[allow(clippy::type_complexity, reason = "the fields but the name")]
    fn identity(&self) -> (u32, &Arc<str>, &Option<Arc<[Arc<str>]>>, &Option<Arc<str>>) {
        (self.order, &self.key, &self.domain, &self.default)
    }

    /// Returns the values that it is computed from.
    pub fn operands(&self) -> &[Arc<str>] {
        self.operands.as_deref().unwrap_or(std::slice::from_ref(&self.key))
    }

    /// Returns `true` if both test the same value, or a value and a part of it, but are not the same variable.
    fn is_entangled_with(&self, other: &Variable) -> bool {
        let is_part = |part: &str, whole: &str| {
            let rest = part.strip_prefix(whole);
            whole == ANY_OPERAND || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let shares = |one: &Arc<str>| {
            other
                .operands()
                .iter()
                .any(|two| is_part(one, two) || is_part(two, one))
        };
        self != other && self.operands().iter().any(shares)
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
        // Hashing the domain as well would be most of the cost of a diagram.
        self.key.hash(state);
    }
}

/// A Boolean formula over variables, with the names that users know it by.
#[derive(Debug, Clone)]
pub struct Condition(
    /// `None` always holds. Every value of a graph has a condition, and few depend on anything.
    Option<Arc<Named>>,
);

/// A formula and its names.
#[derive(Debug)]
struct Named {
    formula: Formula,
    /// Names of conditions that the formula implies, sorted.
    names: Vec<Name>,
}

static ALWAYS: Formula = Formula::Always;

/// Conditions are equal if they hold in the same cases, whatever their names. All conditions that are too complex equal
/// each other and no other condition.
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

    /// Returns the condition that always holds.
    pub const fn always() -> Self {
        Condition(None)
    }

    /// Returns the condition that never holds.
    pub fn never() -> Self {
        // Shared, because every fold with `or` starts from it.
        static NEVER: LazyLock<Arc<Named>> = LazyLock::new(|| {
            Arc::new(Named {
                formula: Formula::Never,
                names: Vec::new(),
            })
        });
        Condition(Some(NEVER.clone()))
    }

    /// Returns the condition that `variable` has the value `value`.
    pub fn is(variable: Variable, value: impl Into<Arc<str>>) -> Self {
        Condition::is_point(variable, Point::text(value.into()))
    }

    /// Returns the condition that `variable` has the value `value`.
    pub fn is_point(variable: Variable, value: Point) -> Self {
        let to = value.next();
        Condition::unnamed(Diagram::within_range(variable, Some(value), Some(to)).into())
    }

    /// Returns the condition that the value of `variable`, which has no domain, is `least` or comes after it. A size is
    /// at least 0.
    pub fn at_least(variable: Variable, least: Point) -> Self {
        match least {
            Point::Size(..=0) => Condition::always(),
            least => Condition::unnamed(Diagram::within_range(variable, Some(least), None).into()),
        }
    }

    /// Returns the condition that `a` and `b` have the same value. `compared` holds the texts that either variable is
    /// compared with anywhere, plus one placeholder for each variable without a domain that is compared with another
    /// variable.
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

    /// Returns the condition that the Boolean variable `key` is true. Messages call it `name`. It has no default.
    pub fn flag(key: impl Into<Arc<str>>, name: impl Into<Arc<str>>) -> Self {
        Condition::flag_of(key, name, None)
    }

    /// Like [`Condition::flag`], for a variable that is computed from `operands` (see [`Variable::operands`]).
    pub fn flag_of(key: impl Into<Arc<str>>, name: impl Into<Arc<str>>, operands: Option<Arc<[Arc<str>]>>) -> Self {
        let domain: Arc<[Arc<str>]> = Arc::from(["true".into(), "false".into()]);
        let variable = Variable {
            order: 0,
            key: key.into(),
            name: name.into(),
            domain: Some(domain),
            default: None,
            operands,
        };
        Condition::is(variable, "true")
    }

    /// Replaces the names of this condition by `name` ("`IsProd`").
    #[must_use]
    pub fn named(self, name: impl Into<Arc<str>>) -> Self {
        match self.formula() {
            formula @ Formula::Sometimes(_) => Condition::new(formula.clone(), vec![Name::new(name, formula)]),
            _ => self,
        }
    }

    /// Removes the names of this condition.
    #[must_use]
    pub fn without_names(self) -> Self {
        Condition::unnamed(self.formula().clone())
    }

    /// Returns the condition that both hold.
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

    /// Returns the condition that at least one of them holds.
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

    /// Returns the condition that this one does not hold.
    #[must_use]
    pub fn not(&self) -> Condition {
        let formula = Formula::Always.without(self.formula());
        let names = words::of_negation(&formula, self);
        Condition::new(formula, names)
    }

    /// Returns `true` if it can hold.
    pub fn is_possible(&self) -> bool {
        !matches!(self.formula(), Formula::Never)
    }

    /// Returns `true` if it always holds.
    pub fn is_always(&self) -> bool {
        self.0.is_none()
    }

    /// Returns `true` if both can hold at once.
    pub fn is_possible_with(&self, other: &Condition) -> bool {
        self.formula().meets(other.formula())
    }

    /// Returns `true` if `other` holds in every case in which `self` holds.
    pub fn implies(&self, other: &Condition) -> bool {
        self.formula().implies(other.formula())
    }

    /// Returns `true` if it grew too large to compute with. It may never hold, so nothing may be reported because of
    /// it.
    pub fn is_too_complex(&self) -> bool {
        matches!(self.formula(), Formula::Unknown)
    }

    /// Returns the names of two entangled variables if it holds only for certain values of both; `None` if the value of
    /// one of them is enough.
    pub fn entangled(&self) -> Option<[Arc<str>; 2]> {
        match self.formula() {
            Formula::Sometimes(diagram) => diagram.entangled(),
            _ => None,
        }
    }

    /// Returns whether it holds when every variable has its default, or `None` if a default is unknown.
    pub fn holds_by_default(&self) -> Option<bool> {
        self.holds_where(|variable| variable.default.clone())
    }

    /// Returns whether it holds when variables have the values that `value_of` returns, or `None` if an unknown value
    /// matters.
    pub fn holds_where(&self, value_of: impl Fn(&Variable) -> Option<Arc<str>>) -> Option<bool> {
        match self.formula() {
            Formula::Always => Some(true),
            Formula::Never => Some(false),
            Formula::Sometimes(diagram) => diagram.holds_where(value_of),
            Formula::Unknown => None,
        }
    }

    /// Returns a description for messages ("`IsProd`", "`IsProd` and not `HasDlq`"), or `None` if it always holds.
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
            operands: None,
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
            operands: None,
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
    fn excluding_all_other_values_of_a_domain_implies_the_last() {
        let large = size("s").not().and(&size("m").not());
        assert!(large.implies(&size("l")));
        assert!(size("s").or(&size("m")).or(&size("l")).is_always());
        assert!(!size("xxl").is_possible());
    }

    fn number() -> Variable {
        Variable {
            order: 0,
            key: "n".into(),
            name: "n".into(),
            domain: None,
            default: None,
            operands: None,
        }
    }

    #[test]
    fn tests_of_one_variable_are_ranges_of_its_values() {
        let least = |point| Condition::at_least(number(), point);
        let is = |point| Condition::is_point(number(), point);
        let rows = [
            (least(Point::Number(5)), "n > 4"),
            (least(Point::Number(5)).not(), "n <= 4"),
            (
                least(Point::Number(5)).and(&least(Point::Number(9)).not()),
                "n > 4 and n <= 8",
            ),
            (least(Point::Number(5)).and(&least(Point::Number(6)).not()), "n = 5"),
            (is(Point::Number(5)).not(), "n != 5"),
            (is(Point::Null).not(), "n != null"),
            (is(Point::Null).or(&Condition::is(number(), "a")), "n = null or a"),
            (Condition::is(number(), ""), "n is empty"),
            (Condition::is(number(), "").not(), "n is not empty"),
            (is(Point::Size(2)).or(&is(Point::Size(4))), "length(n) = 2 or 4"),
            (least(Point::Size(1)), "length(n) > 0"),
            (least(Point::Size(1)).not(), "length(n) = 0"),
            (least(Point::Size(2)).not(), "length(n) <= 1"),
            (is(Point::Number(1)).or(&least(Point::Number(7))), "(n = 1 or n > 6)"),
            (
                least(Point::Number(0)).and(&is(Point::Number(3)).not()),
                "n > -1 and n != 3",
            ),
        ];
        for (condition, expected) in rows {
            assert_eq!(condition.describe().as_deref(), Some(expected));
        }
        assert!(least(Point::Number(i64::MIN)).implies(&is(Point::Null).not()));
        assert!(!least(Point::Number(i64::MAX)).and(&is(Point::Number(0))).is_possible());
        assert!(least(Point::Size(0)).is_always());
        assert!(least(Point::Number(3)).or(&least(Point::Number(5)).not()).is_always());
    }

    #[test]
    fn negation_is_exact() {
        let both = env("prod").and(&size("l"));
        assert!(both.not().or(&both).is_always());
        assert!(!both.not().is_possible_with(&both));
        assert!(!both.not().not().and(&both.not()).is_possible());
    }

    #[test]
    fn holds_by_default_uses_the_defaults_of_variables() {
        assert_eq!(env("dev").holds_by_default(), Some(true));
        assert_eq!(env("prod").holds_by_default(), Some(false));
        assert_eq!(Condition::flag("x", "x").holds_by_default(), None);
        assert_eq!(
            env("prod").and(&Condition::flag("x", "x")).holds_by_default(),
            Some(false)
        );
    }

    #[test]
    fn descriptions_use_the_names_of_the_template() {
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
    fn many_independent_conditions_stay_exact() {
        let pair = |n: u32, order: u32| {
            let flag = |key: String| {
                let variable = Variable {
                    order,
                    key: key.as_str().into(),
                    name: key.into(),
                    domain: Some(Arc::from(["true".into(), "false".into()])),
                    default: None,
                    operands: None,
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
    fn too_complex_conditions_decide_nothing() {
        // In this order of variables, all `a`s before all `b`s, a diagram has to remember every `a`: it grows
        // exponentially.
        let flag = |name: &str, n: u32| Condition::flag(format!("{name}{n:02}"), name);
        let pair = |n: u32| flag("a", n).and(&flag("b", n));
        let all = (0..30).fold(Condition::never(), |all, n| all.or(&pair(n)));
        assert!(all.is_too_complex() && all.not().is_too_complex());
        assert!(all.is_possible() && all.not().is_possible() && !all.implies(&pair(0)));
        assert!(!all.and(&Condition::never()).is_possible());
        assert!(all.or(&Condition::always()).is_always());
    }

    #[test]
    fn descriptions_omit_implied_names() {
        let (prod, dev) = (env("prod").named("IsProd"), env("dev").named("IsDev"));
        assert_eq!(prod.and(&dev.not()).describe().as_deref(), Some("IsProd"));
        let large = size("l").named("Large");
        let either = prod.or(&large).named("Either");
        assert_eq!(prod.and(&either).describe().as_deref(), Some("IsProd"));
        assert_eq!(
            prod.and(&large).or(&prod.and(&large.not())).describe().as_deref(),
            Some("IsProd")
        );
        // A condition without a name is described by its values.
        assert_eq!(prod.and(&size("m")).describe().as_deref(), Some("IsProd and Size = m"));
        assert_eq!(size("m").not().describe().as_deref(), Some("Size != m"));
        assert_eq!(
            prod.and(&size("s")).or(&dev.and(&size("m"))).describe().as_deref(),
            Some("(Env = dev and Size = m) or (Env = prod and Size = s)")
        );
    }

    #[test]
    fn equality_of_variables_is_transitive() {
        let open = |key: &str| Variable {
            order: 0,
            key: key.into(),
            name: key.into(),
            domain: None,
            default: None,
            operands: None,
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
    #[test]
    fn conditions_that_need_two_entangled_flags_are_found() {
        let on = |key: &str, operands: &[&str]| {
            let operands = operands.iter().map(|operand| Arc::from(*operand)).collect();
            Condition::flag_of(key, key, Some(operands))
        };
        let (a, b, c) = (on("a", &["x"]), on("b", &["y", "x.part"]), on("c", &["xy"]));
        let (ab, either) = (a.and(&b), a.or(&b));
        assert_eq!(ab.entangled(), Some(["a".into(), "b".into()]));
        assert!(a.and(&b.not()).entangled().is_some() && a.not().and(&b).entangled().is_some());
        // Exactly one of the two is true.
        assert!(either.and(&ab.not()).entangled().is_some());
        assert!(ab.and(&c).entangled().is_some());
        // At most one of two entangled variables is needed.
        let apart = [
            a.clone(),
            a.and(&c),
            b.and(&c.not()),
            either.clone(),
            either.and(&c),
            ab.or(&c),
            ab.or(&a.and(&b.not())),
            ab.or(&b.and(&c)),
            on("d", &[]).and(&a),
        ];
        for (at, condition) in apart.iter().enumerate() {
            assert_eq!(condition.entangled(), None, "{at}");
        }
        assert!(on("d", &[ANY_OPERAND]).and(&c).entangled().is_some());
    }

    #[test]
    fn entangled_flags_are_found_in_large_conditions() {
        let pair = |n: usize| {
            let on =
                |key: String| Condition::flag_of(key.as_str(), key.as_str(), Some(Arc::from([format!("{n}").into()])));
            on(format!("{n:02}a")).and(&on(format!("{n:02}b")))
        };
        let all = (0..40).fold(Condition::never(), |all, n| all.or(&pair(n)));
        assert!(!all.is_too_complex() && all.entangled().is_some());
        assert!(all.or(&Condition::flag("alone", "alone")).entangled().is_none());
        let every = (0..40).fold(Condition::always(), |all, n| all.and(&pair(n).not()));
        assert!(every.entangled().is_none());
    }
}
