//! Conditions, and which of them can hold together.
//!
//! A [`Condition`] is a set of *worlds*: a disjunction of conjunctions over named variables (a
//! parameter, a Terraform variable, an opaque expression). Variables are compared with texts, so two
//! conditions over one parameter are correlated: `Env == prod` and `Env == dev` never hold together.
//! It knows no dialect: frontends name the variables.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// More alternatives than this are not worth telling apart: the condition then says so
/// ([`Condition::is_too_complex`]) and is satisfiable.
const MAX_ALTERNATIVES: usize = 128;

/// Something a condition depends on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Variable {
    /// Identity: equal keys are the same variable. Frontends add their scope to it.
    pub key: Arc<str>,
    /// Every value it can have, where that is known (`AllowedValues`; `true`, `false`).
    pub domain: Option<Arc<[Arc<str>]>>,
    /// The value it has when nobody sets it.
    pub default: Option<Arc<str>>,
}

/// What one alternative says of one variable.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Choice {
    Is(Arc<str>),
    Not(BTreeSet<Arc<str>>),
}

impl Choice {
    /// Both at once, or `None` where they exclude each other.
    fn and(&self, other: &Choice, domain: Option<&[Arc<str>]>) -> Option<Choice> {
        match (self, other) {
            (Choice::Is(a), Choice::Is(b)) => (a == b).then(|| self.clone()),
            (Choice::Is(a), Choice::Not(not)) | (Choice::Not(not), Choice::Is(a)) => {
                (!not.contains(a)).then(|| Choice::Is(a.clone()))
            }
            (Choice::Not(a), Choice::Not(b)) => {
                let not: BTreeSet<_> = a.union(b).cloned().collect();
                Choice::Not(not).within(domain)
            }
        }
    }

    /// Narrowed to a known domain, `None` where nothing of it is left.
    fn within(self, domain: Option<&[Arc<str>]>) -> Option<Choice> {
        let Some(domain) = domain else {
            return Some(self);
        };
        match self {
            Choice::Is(value) => domain.contains(&value).then_some(Choice::Is(value)),
            Choice::Not(not) => {
                let mut left = domain.iter().filter(|value| !not.contains(*value));
                match (left.next(), left.next()) {
                    (None, _) => None,
                    (Some(only), None) => Some(Choice::Is(only.clone())),
                    _ => Some(Choice::Not(not)),
                }
            }
        }
    }
}

type Conjunction = BTreeMap<Variable, Choice>;

/// The worlds in which something holds, with the words that name them to a user.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Condition {
    alternatives: BTreeSet<Conjunction>,
    labels: BTreeSet<Arc<str>>,
    too_complex: bool,
}

impl Default for Condition {
    fn default() -> Self {
        Condition::always()
    }
}

impl Condition {
    /// Holds in every world.
    pub fn always() -> Self {
        Condition {
            alternatives: BTreeSet::from([Conjunction::new()]),
            labels: BTreeSet::new(),
            too_complex: false,
        }
    }

    /// Holds in no world.
    pub fn never() -> Self {
        Condition {
            alternatives: BTreeSet::new(),
            labels: BTreeSet::new(),
            too_complex: false,
        }
    }

    /// Holds where `variable` has the value `value`.
    pub fn is(variable: Variable, value: impl Into<Arc<str>>) -> Self {
        let choice = Choice::Is(value.into()).within(variable.domain.as_deref());
        choice.map_or_else(Condition::never, |choice| Condition {
            alternatives: BTreeSet::from([Conjunction::from([(variable, choice)])]),
            labels: BTreeSet::new(),
            too_complex: false,
        })
    }

    /// Holds where the yes-or-no question `key` is answered with yes. Its value by default is unknown.
    pub fn flag(key: impl Into<Arc<str>>) -> Self {
        let domain: Arc<[Arc<str>]> = Arc::from(["true".into(), "false".into()]);
        let variable = Variable {
            key: key.into(),
            domain: Some(domain),
            default: None,
        };
        Condition::is(variable, "true")
    }

    /// The same worlds, called `label` in messages ("`IsProd`") in place of any earlier name.
    #[must_use]
    pub fn named(mut self, label: impl Into<Arc<str>>) -> Self {
        if !self.is_always() {
            self.labels = BTreeSet::from([label.into()]);
        }
        self
    }

    /// Where both hold.
    #[must_use]
    pub fn and(&self, other: &Condition) -> Condition {
        if self.is_always() {
            return other.clone();
        }
        if other.is_always() || self == other {
            return self.clone();
        }
        let mut all = BTreeSet::new();
        let mut too_complex = self.too_complex || other.too_complex;
        'outer: for a in &self.alternatives {
            for b in &other.alternatives {
                if let Some(both) = merge(a, b) {
                    all.insert(both);
                    if all.len() > MAX_ALTERNATIVES {
                        // Forget `other` rather than grow: a superset of the worlds, marked as such.
                        too_complex = true;
                        all.clone_from(&self.alternatives);
                        break 'outer;
                    }
                }
            }
        }
        Condition {
            alternatives: all,
            labels: self.labels.union(&other.labels).cloned().collect(),
            too_complex,
        }
    }

    /// Where either holds.
    #[must_use]
    pub fn or(&self, other: &Condition) -> Condition {
        if !self.is_possible() {
            return other.clone();
        }
        if !other.is_possible() || self == other {
            return self.clone();
        }
        let mut alternatives: BTreeSet<_> = self.alternatives.union(&other.alternatives).cloned().collect();
        let mut too_complex = self.too_complex || other.too_complex;
        if alternatives.len() > MAX_ALTERNATIVES {
            too_complex = true;
            alternatives = BTreeSet::from([Conjunction::new()]);
        }
        let mut either = Condition {
            alternatives,
            labels: BTreeSet::new(),
            too_complex,
        };
        if either.negation_is_impossible() {
            either = Condition::always();
            either.too_complex = too_complex;
        }
        if !(either.is_always() || self.labels.is_empty() || other.labels.is_empty()) {
            let side = |labels: &BTreeSet<Arc<str>>| {
                let joined = labels.iter().map(|l| &**l).collect::<Vec<_>>().join(" and ");
                if labels.len() > 1 {
                    format!("({joined})")
                } else {
                    joined
                }
            };
            let text = format!("{} or {}", side(&self.labels), side(&other.labels));
            either.labels = BTreeSet::from([text.into()]);
        }
        either
    }

    /// Where it does not hold.
    #[must_use]
    pub fn not(&self) -> Condition {
        let mut negated = self.negate();
        negated.labels = match self.labels.len() {
            0 => BTreeSet::new(),
            1 => self
                .labels
                .iter()
                .map(|label| match label.strip_prefix("not ") {
                    Some(rest) if !rest.contains(' ') => rest.into(),
                    _ if label.contains(' ') => format!("not ({label})").into(),
                    _ => format!("not {label}").into(),
                })
                .collect(),
            _ => {
                let joined = self.labels.iter().map(|l| &**l).collect::<Vec<_>>().join(" and ");
                BTreeSet::from([format!("not ({joined})").into()])
            }
        };
        negated
    }

    fn negate(&self) -> Condition {
        let mut result = Condition::always();
        for conjunction in &self.alternatives {
            let mut either = Condition::never();
            for (variable, choice) in conjunction {
                let flipped = match choice {
                    Choice::Is(value) => BTreeSet::from([Choice::Not(BTreeSet::from([value.clone()]))]),
                    Choice::Not(values) => values.iter().cloned().map(Choice::Is).collect(),
                };
                for choice in flipped {
                    if let Some(choice) = choice.within(variable.domain.as_deref()) {
                        either
                            .alternatives
                            .insert(Conjunction::from([(variable.clone(), choice)]));
                    }
                }
            }
            result = result.and(&either);
        }
        result.too_complex |= self.too_complex;
        result
    }

    fn negation_is_impossible(&self) -> bool {
        !self.too_complex && !self.negate().is_possible()
    }

    /// Whether some world has it.
    pub fn is_possible(&self) -> bool {
        !self.alternatives.is_empty()
    }

    /// Whether every world has it.
    pub fn is_always(&self) -> bool {
        !self.too_complex && self.alternatives.iter().any(BTreeMap::is_empty)
    }

    /// Whether some world has both.
    pub fn is_possible_with(&self, other: &Condition) -> bool {
        self.and(other).is_possible()
    }

    /// Whether every world that has `self` has `other`.
    pub fn implies(&self, other: &Condition) -> bool {
        other.is_always() || (!other.too_complex && !self.is_possible_with(&other.negate()))
    }

    /// Whether it was widened because it had too many alternatives: then it may hold in fewer worlds
    /// than it says, and nothing may be reported for it.
    pub fn is_too_complex(&self) -> bool {
        self.too_complex
    }

    /// Whether it holds when every variable has its default; `None` where a default is not known.
    pub fn holds_by_default(&self) -> Option<bool> {
        let mut open = false;
        for conjunction in &self.alternatives {
            let mut all = Some(true);
            for (variable, choice) in conjunction {
                match (&variable.default, choice) {
                    (None, _) => all = all.filter(|known| !known),
                    (Some(default), Choice::Is(value)) if default != value => all = Some(false),
                    (Some(default), Choice::Not(values)) if values.contains(default) => all = Some(false),
                    _ => {}
                }
            }
            match all {
                Some(true) => return Some(true),
                None => open = true,
                Some(false) => {}
            }
        }
        (!open).then_some(false)
    }

    /// What to call it in a message ("`IsProd`", "`IsProd` and not `HasDlq`"); `None` where it always holds.
    pub fn describe(&self) -> Option<String> {
        if self.is_always() {
            return None;
        }
        if !self.labels.is_empty() {
            return Some(self.labels.iter().map(|l| &**l).collect::<Vec<_>>().join(" and "));
        }
        let alternatives: Vec<String> = self.alternatives.iter().take(4).map(describe_conjunction).collect();
        Some(alternatives.join(" or "))
    }
}

fn merge(a: &Conjunction, b: &Conjunction) -> Option<Conjunction> {
    let mut both = a.clone();
    for (variable, choice) in b {
        let choice = match both.get(variable) {
            Some(mine) => mine.and(choice, variable.domain.as_deref())?,
            None => choice.clone(),
        };
        both.insert(variable.clone(), choice);
    }
    Some(both)
}

/// `name` cut to what a message can hold.
fn shortened(name: &str) -> String {
    match name.char_indices().nth(60) {
        Some((at, _)) => format!("{}…", name.get(..at).unwrap_or("")),
        None => name.to_owned(),
    }
}

fn describe_conjunction(conjunction: &Conjunction) -> String {
    let parts: Vec<String> = conjunction
        .iter()
        .map(|(variable, choice)| {
            // The scope before the last `|` is identity, not something a user wrote.
            let name = shortened(variable.key.rsplit('|').next().unwrap_or(&variable.key));
            match choice {
                Choice::Is(value) if &**value == "true" => name,
                Choice::Is(value) if &**value == "false" => format!("not {name}"),
                Choice::Is(value) => format!("{name} = {value}"),
                Choice::Not(values) => {
                    let values: Vec<&str> = values.iter().map(|v| &**v).collect();
                    format!("{name} != {}", values.join(", "))
                }
            }
        })
        .collect();
    parts.join(" and ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(value: &str) -> Condition {
        let variable = Variable {
            key: "t|Env".into(),
            domain: None,
            default: Some("dev".into()),
        };
        Condition::is(variable, value)
    }

    fn size(value: &str) -> Condition {
        let variable = Variable {
            key: "Size".into(),
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
        assert_eq!(Condition::flag("x").holds_by_default(), None);
        assert_eq!(env("prod").and(&Condition::flag("x")).holds_by_default(), Some(false));
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
    fn many_independent_conditions_stay_bounded() {
        let all = (0..30).fold(Condition::always(), |all, n| {
            all.and(&Condition::flag(format!("a{n}")).or(&Condition::flag(format!("b{n}"))))
        });
        assert!(all.is_possible());
        assert!(all.is_too_complex());
    }
}
