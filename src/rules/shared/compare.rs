//! What rules require, as values: a comparison knows whether it holds, how it reads (`6 × 60 s + 5 s = 365 s ≤ 400 s`)
//! and which values it rests on. From one such value come a rule's verdict, the arithmetic of its finding, and what
//! `sqslint explain` says where there is none.

use super::few::Few;
use super::operands::{Known, Operand};
use super::trace::{Gap, Read};
use crate::graph::declared::Duration;
use crate::graph::limits::{Quota, Unit};
use crate::graph::{Resource, Seconds};
use std::cmp::Ordering;
use std::ops::{Add, Mul};

/// The values that a number or a comparison rests on: nearly always one.
type Reads<'a> = Few<&'a dyn Read>;

/// A number in a comparison: a constant, an operand, or what is computed of them.
#[derive(Clone)]
pub(crate) struct Term<'a> {
    /// The number; where it is unresolved, the bound that comes nearest to what the rule requires.
    pub(crate) value: i64,
    /// The number, or the farthest bound.
    far: i64,
    /// `None` for a bare number, which is counted in the unit of what it is compared with.
    unit: Option<Unit>,
    shape: Shape<'a>,
    whose: Option<&'a Resource>,
    read: Reads<'a>,
}

/// How a number comes to be.
#[derive(Clone)]
enum Shape<'a> {
    Given,
    Sum(Box<(Term<'a>, Term<'a>)>),
    Product(i64, Box<Term<'a>>),
}

impl<'a> Term<'a> {
    fn given(value: i64, unit: Option<Unit>) -> Self {
        Term {
            value,
            far: value,
            unit,
            shape: Shape::Given,
            whose: None,
            read: Reads::new(),
        }
    }

    /// So many of what `unit` counts.
    pub(crate) fn counted(count: usize, unit: Unit) -> Self {
        Term::given(i64::try_from(count).unwrap_or(i64::MAX), Some(unit))
    }

    /// An unresolved number of seconds, from `value` to `far`.
    pub(crate) fn seconds_to(value: i64, far: i64) -> Self {
        Term {
            far,
            ..Term::given(value, Some(Unit::Seconds))
        }
    }

    /// Whether the number itself is known, and not only its bounds.
    pub(crate) fn is_known(&self) -> bool {
        self.value == self.far
    }

    /// The number in its unit, and on which side of it others are: `360 s or more`.
    pub(crate) fn spoken(&self) -> String {
        let (sign, noun) = behind(self.unit);
        format!("{}{sign}{noun}{}", self.value, self.side())
    }

    fn side(&self) -> &'static str {
        match self.value.cmp(&self.far) {
            Ordering::Less => " or more",
            Ordering::Equal => "",
            Ordering::Greater => " or less",
        }
    }

    /// The same number of seconds in milliseconds.
    fn in_milliseconds(self) -> Self {
        Term {
            value: self.value.saturating_mul(1000),
            far: self.far.saturating_mul(1000),
            unit: Some(Unit::Milliseconds),
            shape: Shape::Given,
            ..self
        }
    }

    /// The same, shown as that of `resource`: ``60 s of `worker` ``.
    pub(crate) fn of(self, resource: &'a Resource) -> Self {
        Term {
            whose: Some(resource),
            ..self
        }
    }

    /// How it is computed, as `6 × 60 s + 5 s = 365 s`; `None` where it is not.
    pub(crate) fn calculation(&self) -> Option<String> {
        let (sign, _) = behind(self.unit);
        let is_computed = !matches!(self.shape, Shape::Given);
        is_computed.then(|| format!("{} = {}{sign}{}", self.formula(&sign), self.value, self.side()))
    }

    fn formula(&self, sign: &str) -> String {
        match &self.shape {
            Shape::Given => format!("{}{sign}", self.value),
            Shape::Sum(parts) => format!("{} + {}", parts.0.formula(sign), parts.1.formula(sign)),
            Shape::Product(times, term) => format!("{times} × {}", term.formula(sign)),
        }
    }

    fn shown(&self, sign: &str) -> String {
        let shown = self
            .calculation()
            .unwrap_or_else(|| format!("{}{sign}{}", self.value, self.side()));
        match self.whose {
            Some(resource) => format!("{shown} of {}", resource.shown()),
            None => shown,
        }
    }
}

/// What stands behind each number in `unit`, and what behind the last one.
fn behind(unit: Option<Unit>) -> (String, String) {
    match unit {
        Some(unit) if unit.is_sign() => (format!(" {}", unit.short()), String::new()),
        Some(unit) => (String::new(), format!(" {}", unit.short())),
        None => (String::new(), String::new()),
    }
}

impl From<i64> for Term<'_> {
    fn from(value: i64) -> Self {
        Term::given(value, None)
    }
}

impl From<Seconds> for Term<'_> {
    fn from(value: Seconds) -> Self {
        Term::given(value.0, Some(Unit::Seconds))
    }
}

impl From<Duration> for Term<'_> {
    fn from(time: Duration) -> Self {
        match time.seconds() {
            Some(seconds) => Seconds(seconds).into(),
            None => Term::given(time.milliseconds, Some(Unit::Milliseconds)),
        }
    }
}

impl<'a> From<&'a Operand<'_>> for Term<'a> {
    fn from(operand: &'a Operand<'_>) -> Self {
        Term {
            read: Reads::One(operand),
            far: operand.far(),
            ..Term::given(operand.value, Some(operand.unit))
        }
    }
}

impl<'a, T: Into<Term<'a>>> Add<T> for Term<'a> {
    type Output = Term<'a>;

    fn add(self, other: T) -> Term<'a> {
        let other = other.into();
        Term {
            read: self.read.iter().chain(&other.read).copied().collect(),
            far: self.far.saturating_add(other.far),
            ..Term {
                shape: Shape::Sum(Box::new((self.clone(), other.clone()))),
                ..Term::given(self.value.saturating_add(other.value), self.unit.or(other.unit))
            }
        }
    }
}

impl<'a> Add<Term<'a>> for &'a Operand<'_> {
    type Output = Term<'a>;

    fn add(self, other: Term<'a>) -> Term<'a> {
        Term::from(self) + other
    }
}

impl<'a> Mul<Term<'a>> for i64 {
    type Output = Term<'a>;

    fn mul(self, term: Term<'a>) -> Term<'a> {
        Term {
            read: term.read.clone(),
            far: self.saturating_mul(term.far),
            ..Term {
                shape: Shape::Product(self, Box::new(term.clone())),
                ..Term::given(self.saturating_mul(term.value), term.unit)
            }
        }
    }
}

impl<'a> Mul<&'a Operand<'_>> for &'a Operand<'_> {
    type Output = Term<'a>;

    /// The first one counts, the second is in the unit of the product.
    fn mul(self, other: &'a Operand<'_>) -> Term<'a> {
        let mut product = self.value * Term::from(other);
        product.far = self.far().saturating_mul(other.far());
        product.read.push(self);
        product
    }
}

/// What a rule requires, decided.
pub(crate) struct Comparison<'a> {
    /// Whether it holds for the bounds that come nearest to it: where it does not, it holds for no number.
    holds: bool,
    /// Whether it holds for the farthest bounds as well: then it holds for every number.
    is_certain: bool,
    says: Says<'a>,
    note: Option<Box<dyn Fn() -> String + 'a>>,
    read: Reads<'a>,
}

enum Says<'a> {
    /// Two numbers, the smaller one first.
    Order(Term<'a>, &'static str, Term<'a>),
    /// A number between two bounds.
    Range(i64, Term<'a>, i64),
    Words(Box<dyn Fn() -> String + 'a>),
}

/// Two numbers in one unit: seconds become milliseconds beside them.
fn in_one_unit<'a>(one: Term<'a>, other: Term<'a>) -> (Term<'a>, Term<'a>) {
    match (one.unit, other.unit) {
        (Some(Unit::Seconds), Some(Unit::Milliseconds)) => (one.in_milliseconds(), other),
        (Some(Unit::Milliseconds), Some(Unit::Seconds)) => (one, other.in_milliseconds()),
        _ => (one, other),
    }
}

/// `value` is `least` or more.
pub(crate) fn at_least<'a>(value: impl Into<Term<'a>>, least: impl Into<Term<'a>>) -> Comparison<'a> {
    at_most(least, value)
}

/// `value` is `most` or less.
pub(crate) fn at_most<'a>(value: impl Into<Term<'a>>, most: impl Into<Term<'a>>) -> Comparison<'a> {
    let (value, most) = in_one_unit(value.into(), most.into());
    let holds = (value.value <= most.value, value.far <= most.far);
    Comparison::new(holds, Says::Order(value, "≤", most))
}

/// `value` is less than `other`.
pub(crate) fn below<'a>(value: impl Into<Term<'a>>, other: impl Into<Term<'a>>) -> Comparison<'a> {
    let (value, other) = in_one_unit(value.into(), other.into());
    let holds = (value.value < other.value, value.far < other.far);
    Comparison::new(holds, Says::Order(value, "<", other))
}

/// `value` is more than `other`.
pub(crate) fn above<'a>(value: impl Into<Term<'a>>, other: impl Into<Term<'a>>) -> Comparison<'a> {
    below(other, value)
}

/// AWS accepts `value`.
pub(crate) fn within<'a>(value: impl Into<Term<'a>>, quota: &Quota) -> Comparison<'a> {
    let value = value.into();
    let holds = (quota.accepts(value.value), quota.accepts(value.far));
    Comparison::new(holds, Says::Range(quota.least, value, quota.most))
}

/// Something other than numbers, in words: "`redrive_policy` is set".
pub(crate) fn fact<'a>(holds: bool, words: impl Fn() -> String + 'a) -> Comparison<'a> {
    Comparison::new((holds, holds), Says::Words(Box::new(words)))
}

/// `known` is there at all.
pub(crate) fn is_set<'a, T>(known: &'a Known<'_, Option<T>>) -> Comparison<'a> {
    fact(known.value.is_some(), || format!("`{}` is set", known.name)).given(known)
}

impl<'a> Comparison<'a> {
    fn new((holds, is_certain): (bool, bool), says: Says<'a>) -> Self {
        Comparison {
            holds,
            is_certain,
            says,
            note: None,
            read: Reads::new(),
        }
    }

    /// The same, which also rests on `read`.
    pub(crate) fn given(mut self, read: &'a dyn Read) -> Self {
        self.read.push(read);
        self
    }

    /// The same, with words behind it.
    pub(crate) fn note(mut self, words: impl Fn() -> String + 'a) -> Self {
        self.note = Some(Box::new(words));
        self
    }

    /// Whether it holds, or may hold.
    pub(crate) fn holds(&self) -> bool {
        self.holds
    }

    /// Whether it holds whatever the unresolved numbers are that it rests on.
    pub(crate) fn is_certain(&self) -> bool {
        self.is_certain
    }

    /// The values that it rests on and that are not wholly known.
    pub(crate) fn unresolved(&self) -> impl Iterator<Item = (&'a dyn Read, Gap<'a>)> + '_ {
        self.read().filter_map(|read| Some((read, read.unresolved()?)))
    }

    /// How it reads, the smaller number first: `1 ≤ 5 ≤ 1000 receives`.
    pub(crate) fn text(&self) -> String {
        let text = match &self.says {
            Says::Order(low, compared, high) => {
                let (sign, noun) = behind(low.unit.or(high.unit));
                format!("{} {compared} {}{noun}", low.shown(&sign), high.shown(&sign))
            }
            Says::Range(least, value, most) => {
                let (sign, noun) = behind(value.unit);
                format!("{least}{sign} ≤ {} ≤ {most}{sign}{noun}", value.shown(&sign))
            }
            Says::Words(words) => words(),
        };
        text + &self.note.as_ref().map_or_else(String::new, |note| note())
    }

    /// How the number is computed that a value is compared with, where one is.
    pub(crate) fn calculation(&self) -> Option<String> {
        match &self.says {
            Says::Order(low, _, high) => low.calculation().or_else(|| high.calculation()),
            Says::Range(..) | Says::Words(_) => None,
        }
    }

    /// How much was wanted: of two findings on one attribute the one that wants more speaks.
    pub(crate) fn weight(&self) -> i64 {
        match &self.says {
            Says::Order(low, ..) if low.unit == Some(Unit::Milliseconds) => low.value / 1000,
            Says::Order(low, ..) => low.value,
            Says::Range(..) | Says::Words(_) => 0,
        }
    }

    /// The values that it rests on.
    pub(crate) fn read(&self) -> impl Iterator<Item = &'a dyn Read> + '_ {
        let (low, high): (&[&'a dyn Read], &[&'a dyn Read]) = match &self.says {
            Says::Order(low, _, high) => (&low.read, &high.read),
            Says::Range(_, value, _) => (&value.read, &[]),
            Says::Words(_) => (&[], &[]),
        };
        low.iter().chain(high).chain(&self.read).copied()
    }
}
