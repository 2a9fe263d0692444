//! Comparisons that rules require, as values. A comparison knows whether it holds, how to print itself (`6 × 60 s + 5 s
//! = 365 s ≤ 400 s`) and which values it depends on. It provides a rule's verdict, the arithmetic shown in its finding,
//! and the text that `sqslint explain` prints for a resource without a finding.

use super::few::Few;
use super::operands::{Known, Operand};
use super::trace::{ReadValue, UnknownPart};
use crate::graph::declared::Duration;
use crate::graph::limits::{Quota, Unit};
use crate::graph::{Resource, Seconds};
use std::cmp::Ordering;
use std::ops::{Add, Mul};

/// Values that a number or a comparison depends on: almost always one.
type Reads<'a> = Few<&'a dyn ReadValue>;

/// Number in a comparison: a constant, an operand, or the result of a computation with them.
#[derive(Clone)]
pub(crate) struct Term<'a> {
    /// The number. If it is unresolved, the bound that is most favorable to the requirement.
    pub(crate) value: i64,
    /// The number. If it is unresolved, the bound that is least favorable to the requirement.
    least_favorable: i64,
    /// Unit of the number; `None` for a bare number, which takes the unit of the number it is compared with.
    unit: Option<Unit>,
    shape: Shape<'a>,
    owner: Option<&'a Resource>,
    read: Reads<'a>,
}

/// Form of a term: a plain number, or the computation that produced it.
#[derive(Clone)]
enum Shape<'a> {
    Plain,
    Sum(Box<(Term<'a>, Term<'a>)>),
    Product(i64, Box<Term<'a>>),
}

impl<'a> Term<'a> {
    fn plain(value: i64, unit: Option<Unit>) -> Self {
        Term {
            value,
            least_favorable: value,
            unit,
            shape: Shape::Plain,
            owner: None,
            read: Reads::new(),
        }
    }

    /// Creates a term for a count of `unit`.
    pub(crate) fn counted(count: usize, unit: Unit) -> Self {
        Term::plain(i64::try_from(count).unwrap_or(i64::MAX), Some(unit))
    }

    /// Creates a term for an unresolved number of seconds between the bounds `value` and `least_favorable`.
    pub(crate) fn seconds_to(value: i64, least_favorable: i64) -> Self {
        Term {
            least_favorable,
            ..Term::plain(value, Some(Unit::Seconds))
        }
    }

    /// Returns `true` if the number itself is known, not only its bounds.
    pub(crate) fn is_known(&self) -> bool {
        self.value == self.least_favorable
    }

    /// Formats the number with its unit, and the direction of an unresolved one: `360 s or more`.
    pub(crate) fn with_unit(&self) -> String {
        let (sign, noun) = unit_suffixes(self.unit);
        format!("{}{sign}{noun}{}", self.value, self.side())
    }

    fn side(&self) -> &'static str {
        match self.value.cmp(&self.least_favorable) {
            Ordering::Less => " or more",
            Ordering::Equal => "",
            Ordering::Greater => " or less",
        }
    }

    /// Converts a number of seconds to milliseconds.
    fn in_milliseconds(self) -> Self {
        Term {
            value: self.value.saturating_mul(1000),
            least_favorable: self.least_favorable.saturating_mul(1000),
            unit: Some(Unit::Milliseconds),
            shape: Shape::Plain,
            ..self
        }
    }

    /// Shows the number as that of `resource`: ``60 s of `worker` ``.
    pub(crate) fn of(self, resource: &'a Resource) -> Self {
        Term {
            owner: Some(resource),
            ..self
        }
    }

    /// Returns the computation of the number, as `6 × 60 s + 5 s = 365 s`; `None` if it is not computed.
    pub(crate) fn calculation(&self) -> Option<String> {
        let (sign, _) = unit_suffixes(self.unit);
        let is_computed = !matches!(self.shape, Shape::Plain);
        is_computed.then(|| format!("{} = {}{sign}{}", self.formula(&sign), self.value, self.side()))
    }

    fn formula(&self, sign: &str) -> String {
        match &self.shape {
            Shape::Plain => format!("{}{sign}", self.value),
            Shape::Sum(parts) => format!("{} + {}", parts.0.formula(sign), parts.1.formula(sign)),
            Shape::Product(times, term) => format!("{times} × {}", term.formula(sign)),
        }
    }

    fn shown(&self, sign: &str) -> String {
        let shown = self
            .calculation()
            .unwrap_or_else(|| format!("{}{sign}{}", self.value, self.side()));
        match self.owner {
            Some(resource) => format!("{shown} of {resource}"),
            None => shown,
        }
    }
}

/// Returns the suffix of each number in `unit`, and the suffix of the last one only.
fn unit_suffixes(unit: Option<Unit>) -> (String, String) {
    match unit {
        Some(unit) if unit.is_sign() => (format!(" {}", unit.short()), String::new()),
        Some(unit) => (String::new(), format!(" {}", unit.short())),
        None => (String::new(), String::new()),
    }
}

impl From<i64> for Term<'_> {
    fn from(value: i64) -> Self {
        Term::plain(value, None)
    }
}

impl From<Seconds> for Term<'_> {
    fn from(value: Seconds) -> Self {
        Term::plain(value.0, Some(Unit::Seconds))
    }
}

impl From<Duration> for Term<'_> {
    fn from(time: Duration) -> Self {
        match time.seconds() {
            Some(seconds) => Seconds(seconds).into(),
            None => Term::plain(time.milliseconds, Some(Unit::Milliseconds)),
        }
    }
}

impl<'a> From<&'a Operand<'_>> for Term<'a> {
    fn from(operand: &'a Operand<'_>) -> Self {
        Term {
            read: Reads::One(operand),
            least_favorable: operand.least_favorable(),
            ..Term::plain(operand.value, Some(operand.unit))
        }
    }
}

impl<'a, T: Into<Term<'a>>> Add<T> for Term<'a> {
    type Output = Term<'a>;

    fn add(self, other: T) -> Term<'a> {
        let other = other.into();
        Term {
            read: self.read.iter().chain(&other.read).copied().collect(),
            least_favorable: self.least_favorable.saturating_add(other.least_favorable),
            ..Term {
                shape: Shape::Sum(Box::new((self.clone(), other.clone()))),
                ..Term::plain(self.value.saturating_add(other.value), self.unit.or(other.unit))
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
            least_favorable: self.saturating_mul(term.least_favorable),
            ..Term {
                shape: Shape::Product(self, Box::new(term.clone())),
                ..Term::plain(self.saturating_mul(term.value), term.unit)
            }
        }
    }
}

impl<'a> Mul<&'a Operand<'_>> for &'a Operand<'_> {
    type Output = Term<'a>;

    /// Multiplies a count by a quantity; the product has the unit of the second factor.
    fn mul(self, other: &'a Operand<'_>) -> Term<'a> {
        let mut product = self.value * Term::from(other);
        product.least_favorable = self.least_favorable().saturating_mul(other.least_favorable());
        product.read.push(self);
        product
    }
}

/// A rule's requirement, evaluated.
pub(crate) struct Comparison<'a> {
    /// Result for the most favorable bounds: if `false`, the requirement holds for no number within the bounds.
    holds: bool,
    /// Result for the least favorable bounds: if `true` as well, the requirement holds for every number within the
    /// bounds.
    is_certain: bool,
    text: ComparisonText<'a>,
    note: Option<Box<dyn Fn() -> String + 'a>>,
    read: Reads<'a>,
}

enum ComparisonText<'a> {
    /// Two numbers, the smaller one first.
    Order(Term<'a>, &'static str, Term<'a>),
    /// A number and the range that it must be in.
    Range(i64, Term<'a>, i64),
    Words(Box<dyn Fn() -> String + 'a>),
}

/// Converts two numbers to a common unit: if one is in milliseconds, seconds are converted.
fn in_one_unit<'a>(one: Term<'a>, other: Term<'a>) -> (Term<'a>, Term<'a>) {
    match (one.unit, other.unit) {
        (Some(Unit::Seconds), Some(Unit::Milliseconds)) => (one.in_milliseconds(), other),
        (Some(Unit::Milliseconds), Some(Unit::Seconds)) => (one, other.in_milliseconds()),
        _ => (one, other),
    }
}

/// Requires that `value` is `least` or more.
pub(crate) fn at_least<'a>(value: impl Into<Term<'a>>, least: impl Into<Term<'a>>) -> Comparison<'a> {
    at_most(least, value)
}

/// Requires that `value` is `most` or less.
pub(crate) fn at_most<'a>(value: impl Into<Term<'a>>, most: impl Into<Term<'a>>) -> Comparison<'a> {
    let (value, most) = in_one_unit(value.into(), most.into());
    let holds = (value.value <= most.value, value.least_favorable <= most.least_favorable);
    Comparison::new(holds, ComparisonText::Order(value, "≤", most))
}

/// Requires that `value` is less than `other`.
pub(crate) fn below<'a>(value: impl Into<Term<'a>>, other: impl Into<Term<'a>>) -> Comparison<'a> {
    let (value, other) = in_one_unit(value.into(), other.into());
    let holds = (value.value < other.value, value.least_favorable < other.least_favorable);
    Comparison::new(holds, ComparisonText::Order(value, "<", other))
}

/// Requires that `value` is more than `other`.
pub(crate) fn above<'a>(value: impl Into<Term<'a>>, other: impl Into<Term<'a>>) -> Comparison<'a> {
    below(other, value)
}

/// Requires that AWS accepts `value`.
pub(crate) fn within<'a>(value: impl Into<Term<'a>>, quota: &Quota) -> Comparison<'a> {
    let value = value.into();
    let holds = (quota.accepts(value.value), quota.accepts(value.least_favorable));
    Comparison::new(holds, ComparisonText::Range(quota.least, value, quota.most))
}

/// Requires a condition that is not about numbers and is described in words: "`redrive_policy` is set".
pub(crate) fn fact<'a>(holds: bool, words: impl Fn() -> String + 'a) -> Comparison<'a> {
    Comparison::new((holds, holds), ComparisonText::Words(Box::new(words)))
}

/// Requires that `known` has a value.
pub(crate) fn is_set<'a, T>(known: &'a Known<'_, Option<T>>) -> Comparison<'a> {
    fact(known.value.is_some(), || format!("`{}` is set", known.name)).depending_on(known)
}

impl<'a> Comparison<'a> {
    fn new((holds, is_certain): (bool, bool), text: ComparisonText<'a>) -> Self {
        Comparison {
            holds,
            is_certain,
            text,
            note: None,
            read: Reads::new(),
        }
    }

    /// Adds `read` to the values that the comparison depends on.
    pub(crate) fn depending_on(mut self, read: &'a dyn ReadValue) -> Self {
        self.read.push(read);
        self
    }

    /// Appends words to the text of the comparison.
    pub(crate) fn note(mut self, words: impl Fn() -> String + 'a) -> Self {
        self.note = Some(Box::new(words));
        self
    }

    /// Returns `true` if the comparison holds or may hold.
    pub(crate) fn holds(&self) -> bool {
        self.holds
    }

    /// Returns `true` if the comparison holds whatever the values of its unresolved numbers are.
    pub(crate) fn is_certain(&self) -> bool {
        self.is_certain
    }

    /// Returns the values it depends on that are not fully known.
    pub(crate) fn unresolved(&self) -> impl Iterator<Item = (&'a dyn ReadValue, UnknownPart<'a>)> + '_ {
        self.read().filter_map(|read| Some((read, read.unresolved()?)))
    }

    /// Formats the comparison, the smaller number first: `1 ≤ 5 ≤ 1000 receives`.
    pub(crate) fn text(&self) -> String {
        let text = match &self.text {
            ComparisonText::Order(low, compared, high) => {
                let (sign, noun) = unit_suffixes(low.unit.or(high.unit));
                format!("{} {compared} {}{noun}", low.shown(&sign), high.shown(&sign))
            }
            ComparisonText::Range(least, value, most) => {
                let (sign, noun) = unit_suffixes(value.unit);
                format!("{least}{sign} ≤ {} ≤ {most}{sign}{noun}", value.shown(&sign))
            }
            ComparisonText::Words(words) => words(),
        };
        text + &self.note.as_ref().map_or_else(String::new, |note| note())
    }

    /// Returns the computation of one of the compared numbers, if one is computed.
    pub(crate) fn calculation(&self) -> Option<String> {
        match &self.text {
            ComparisonText::Order(low, _, high) => low.calculation().or_else(|| high.calculation()),
            ComparisonText::Range(..) | ComparisonText::Words(_) => None,
        }
    }

    /// Returns the size of the required number: of two findings on one attribute, the one that requires more takes
    /// precedence.
    pub(crate) fn weight(&self) -> i64 {
        match &self.text {
            ComparisonText::Order(low, ..) if low.unit == Some(Unit::Milliseconds) => low.value / 1000,
            ComparisonText::Order(low, ..) => low.value,
            ComparisonText::Range(..) | ComparisonText::Words(_) => 0,
        }
    }

    /// Returns the values that the comparison depends on.
    pub(crate) fn read(&self) -> impl Iterator<Item = &'a dyn ReadValue> + '_ {
        let (low, high): (&[&'a dyn ReadValue], &[&'a dyn ReadValue]) = match &self.text {
            ComparisonText::Order(low, _, high) => (&low.read, &high.read),
            ComparisonText::Range(_, value, _) => (&value.read, &[]),
            ComparisonText::Words(_) => (&[], &[]),
        };
        low.iter().chain(high).chain(&self.read).copied()
    }
}
