//! Describes conditions in messages: by as few of the users' names as suffice, or else by values of variables.

use super::diagram::{Diagram, Literal, Range};
use super::formula::Formula;
use super::{Condition, Point};
use std::cmp::Reverse;
use std::sync::Arc;

/// Maximum number of names of a condition; the rest of it is described by values.
const MAX_NAMES: usize = 12;
/// Maximum number of alternatives in a description by values.
const MAX_WAYS: usize = 3;
/// Maximum length in bytes of a name that is composed of others.
const MAX_LENGTH: usize = 80;
/// Maximum number of characters shown of a variable's name.
const MAX_NAME: usize = 100;
/// Maximum number of values of one variable in a description.
const MAX_VALUES: usize = 6;

/// A name and the formula that it describes.
#[derive(Debug, Clone)]
pub(super) struct Name {
    text: Arc<str>,
    formula: Formula,
}

impl Name {
    pub(super) fn new(text: impl Into<Arc<str>>, formula: &Formula) -> Self {
        Name {
            text: text.into(),
            formula: formula.clone(),
        }
    }
}

/// Returns `false` for formulas that need no name: always and never.
fn has_names(formula: &Formula) -> bool {
    matches!(formula, Formula::Sometimes(_) | Formula::Unknown)
}

/// Returns the names for `formula`, the conjunction of two conditions with the names `left` and `right`.
pub(super) fn of_both(formula: &Formula, left: &[Name], right: &[Name]) -> Vec<Name> {
    if !has_names(formula) {
        return Vec::new();
    }
    let mut names: Vec<Name> = left.iter().chain(right).cloned().collect();
    names.sort_by(|a, b| a.text.cmp(&b.text));
    names.dedup_by(|a, b| a.text == b.text);
    names.truncate(MAX_NAMES);
    names
}

/// Returns the names for `formula`, the disjunction of `left` and `right`.
pub(super) fn of_either(formula: &Formula, left: &Condition, right: &Condition) -> Vec<Name> {
    if !has_names(formula) || (left.names().is_empty() && right.names().is_empty()) {
        return Vec::new();
    }
    let mut names = of_both(formula, left.names(), right.names());
    names.retain(|name| formula.implies(&name.formula));
    if conjunction(&names) == *formula {
        return fewest(names);
    }
    if let (Some(one), Some(other)) = (whole_names(left), whole_names(right)) {
        let text = alternatives(&[one, other]);
        if text.len() <= MAX_LENGTH {
            return vec![Name::new(text, formula)];
        }
    }
    names
}

/// Returns a name for `formula`, the negation of `condition`.
pub(super) fn of_negation(formula: &Formula, condition: &Condition) -> Vec<Name> {
    if !has_names(formula) {
        return Vec::new();
    }
    let Some(terms) = whole_names(condition) else {
        return Vec::new();
    };
    let text = match terms.as_slice() {
        [one] => one.clone(),
        several => format!("({})", several.join(" and ")),
    };
    let text = match text.strip_prefix("not ") {
        Some(rest) if !rest.contains(' ') => rest.to_owned(),
        _ if text.starts_with('(') || !text.contains(' ') => format!("not {text}"),
        _ => format!("not ({text})"),
    };
    vec![Name::new(text, formula)]
}

/// Returns the names of `condition` if they describe all of it, as terms that hold together.
fn whole_names(condition: &Condition) -> Option<Vec<String>> {
    if condition.names().is_empty() || conjunction(condition.names()) != *condition.formula() {
        return None;
    }
    Some(terms(&fewest(condition.names().to_vec())))
}

/// Describes a condition that holds if all terms of one of `ways` do. Terms of all ways are written once.
fn alternatives(ways: &[Vec<String>]) -> String {
    let (first, others) = ways
        .split_first()
        .map_or((&[][..], &[][..]), |(first, others)| (&**first, others));
    let is_common = |term: &&String| others.iter().all(|way| way.contains(term));
    let common: Vec<String> = first.iter().filter(is_common).cloned().collect();
    let rests = ways.iter().map(|way| {
        let rest: Vec<&str> = way
            .iter()
            .filter(|term| !common.contains(term))
            .map(String::as_str)
            .collect();
        match rest.as_slice() {
            [] | [_] => rest.concat(),
            several => format!("({})", several.join(" and ")),
        }
    });
    let rest = match rests.collect::<Vec<_>>() {
        rests if rests.len() > 1 && rests.iter().any(String::is_empty) => String::new(),
        rests => rests.join(" or "),
    };
    match (common.is_empty(), rest.is_empty()) {
        (true, _) => rest,
        (false, true) => common.join(" and "),
        (false, false) if ways.len() > 1 => format!("{} and ({rest})", common.join(" and ")),
        (false, false) => format!("{} and {rest}", common.join(" and ")),
    }
}

/// Returns the formula that holds if those of all `names` do.
fn conjunction(names: &[Name]) -> Formula {
    names.iter().fold(Formula::Always, |all, name| all.and(&name.formula))
}

fn joined(names: &[Name]) -> String {
    terms(names).join(" and ")
}

fn terms(names: &[Name]) -> Vec<String> {
    let texts = names.iter().map(|name| {
        if name.text.contains(" or ") && names.len() > 1 {
            format!("({})", name.text)
        } else {
            name.text.to_string()
        }
    });
    texts.collect()
}

/// Returns `names` without those implied by the others. Negations and long names are dropped first.
fn fewest(mut names: Vec<Name>) -> Vec<Name> {
    if names.len() < 2 {
        return names;
    }
    let mut candidates = names.clone();
    candidates.sort_by_key(|name| {
        let is_simple = !name.text.starts_with("not ") && !name.text.contains(' ');
        (is_simple, Reverse(name.text.len()), Reverse(name.text.clone()))
    });
    // Conjunctions of the candidates from each position to the end, the longest last.
    let mut following = vec![Formula::Always];
    for candidate in candidates.iter().skip(1).rev() {
        following.push(candidate.formula.and(following.last().unwrap_or(&Formula::Always)));
    }
    let mut kept = Formula::Always;
    for (candidate, following) in candidates.iter().zip(following.iter().rev()) {
        if kept.and(following).implies(&candidate.formula) {
            names.retain(|name| name.text != candidate.text);
        } else {
            kept = kept.and(&candidate.formula);
        }
    }
    names
}

/// Returns a description of `condition`, or `None` if it always holds.
pub(super) fn describe(condition: &Condition) -> Option<String> {
    let names = fewest(condition.names().to_vec());
    let diagram = match condition.formula() {
        Formula::Always => return None,
        Formula::Never => return Some("never".to_owned()),
        Formula::Unknown if names.is_empty() => return Some("too many conditions to tell apart".to_owned()),
        Formula::Unknown => return Some(joined(&names)),
        Formula::Sometimes(diagram) => diagram,
    };
    let stated = conjunction(&names);
    if stated == *condition.formula() {
        return Some(joined(&names));
    }
    let by_values = spelled(diagram);
    let rest = match &stated {
        Formula::Sometimes(stated) => diagram.within(stated).ok(),
        _ => None,
    };
    let with_names = rest.map(|rest| {
        let rest = spelled(&rest);
        let rest = if rest.contains(" or ") {
            format!("({rest})")
        } else {
            rest
        };
        format!("{} and {rest}", joined(&names))
    });
    match with_names {
        Some(text) if text.len() <= by_values.len().max(MAX_LENGTH) => Some(text),
        _ => Some(by_values),
    }
}

/// Describes `diagram` by the values of its variables.
fn spelled(diagram: &Diagram) -> String {
    let (ways, more) = diagram.ways(MAX_WAYS);
    let mut texts: Vec<Vec<String>> = ways.iter().map(|way| terms_of(way)).collect();
    texts.sort_by_key(|terms| (terms.iter().map(String::len).sum::<usize>(), terms.clone()));
    let text = alternatives(&texts);
    if more { text + " or …" } else { text }
}

/// Returns the terms that hold together in `way`.
fn terms_of(way: &[Literal]) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    let mut same: Vec<(&Point, Vec<String>)> = Vec::new();
    for literal in way {
        let only = literal
            .ranges
            .first()
            .and_then(Range::single)
            .filter(|_| literal.ranges.len() == 1);
        match only {
            // A placeholder: the same unknown value in two variables means that they are equal.
            Some(value) if literal.is && is_placeholder(value) => {
                let shown = name_of(literal);
                match same.iter_mut().find(|(known, _)| *known == value) {
                    Some((_, names)) => names.push(shown),
                    None => same.push((value, vec![shown])),
                }
            }
            _ => texts.extend(text_of(literal)),
        }
    }
    let shared = same.into_iter().filter(|(_, names)| names.len() > 1);
    texts.extend(shared.map(|(_, names)| names.join(" = ")));
    texts.sort();
    texts
}

/// Returns the variable's name as written, cut to [`MAX_NAME`] characters.
fn name_of(literal: &Literal) -> String {
    let name = &*literal.variable.name;
    match name.char_indices().nth(MAX_NAME) {
        Some((at, _)) => format!("{}…", name.get(..at).unwrap_or("")),
        None => name.to_owned(),
    }
}

fn text_of(literal: &Literal) -> Option<String> {
    let name = name_of(literal);
    let singles: Option<Vec<&Point>> = literal.ranges.iter().map(Range::single).collect();
    let Some(mut values) = singles else {
        return ranges_of(&name, &literal.ranges);
    };
    values.retain(|value| !is_placeholder(value));
    let is_flag = literal.variable.domain.is_some();
    let (is, all) = (literal.is, values.len());
    let mut shown: Vec<String> = values.iter().take(MAX_VALUES).map(|value| shown(value)).collect();
    if all > MAX_VALUES {
        shown.push("…".to_owned());
    }
    Some(
        match (
            values.as_slice(),
            shown.iter().map(String::as_str).collect::<Vec<_>>().as_slice(),
        ) {
            ([], _) => return None,
            (_, ["true"]) if is_flag && is => name,
            (_, ["false"]) if is_flag && !is => name,
            (_, ["false" | "true"]) if is_flag => format!("not {name}"),
            ([Point::Size(0)], _) => format!("{name} is {}empty", if is { "" } else { "not " }),
            ([Point::Size(1..), ..], texts) => compared(&format!("length({name})"), texts, is),
            (_, texts) => compared(&name, texts, is),
        },
    )
}

fn compared(name: &str, texts: &[&str], is: bool) -> String {
    if is {
        format!("{name} = {}", texts.join(" or "))
    } else {
        format!("{name} != {}", texts.join(", "))
    }
}

fn shown(value: &Point) -> String {
    match value {
        Point::Null => "null".to_owned(),
        Point::Size(0) => "empty".to_owned(),
        Point::Number(number) | Point::Size(number) => number.to_string(),
        Point::Text(text) => text.to_string(),
    }
}

/// Describes `ranges`, some of which contain several values. Single values between two of them are exceptions:
/// `n > 0 and n != 5`.
fn ranges_of(name: &str, ranges: &[Range]) -> Option<String> {
    let mut joined: Vec<(Range, Vec<Point>)> = Vec::new();
    for range in ranges {
        if let Some((last, except)) = joined.last_mut() {
            let gap = Range {
                from: last.to.clone(),
                to: range.from.clone(),
            };
            if let Some(value) = gap.single() {
                except.push(value.clone());
                last.to.clone_from(&range.to);
                continue;
            }
        }
        joined.push((range.clone(), Vec::new()));
    }
    let is_alone = joined.len() == 1;
    let texts: Vec<String> = joined
        .iter()
        .take(MAX_VALUES)
        .map(|(range, except)| range_of(name, range, except))
        .collect();
    match texts.as_slice() {
        [] => None,
        [only] if is_alone => Some(only.clone()),
        texts => Some(format!("({})", texts.join(" or "))),
    }
}

fn range_of(name: &str, range: &Range, except: &[Point]) -> String {
    if let Some(value) = range.single() {
        return format!("{name} = {}", shown(value));
    }
    let mut texts = Vec::new();
    match &range.from {
        None => {}
        Some(from) if *from == Point::Null.next() => texts.push(format!("{name} != null")),
        Some(Point::Number(number)) => texts.push(format!("{name} > {}", number.saturating_sub(1))),
        Some(Point::Size(size)) => texts.push(format!("length({name}) > {}", size.saturating_sub(1))),
        Some(from) => texts.push(format!("{name} > {}", shown(from))),
    }
    match &range.to {
        None => {}
        Some(Point::Number(number)) => texts.push(format!("{name} <= {}", number.saturating_sub(1))),
        Some(Point::Size(0)) if range.from.is_none() => texts.push(format!("{name} = null")),
        Some(Point::Size(1)) => texts.push(format!("length({name}) = 0")),
        Some(Point::Size(size)) => texts.push(format!("length({name}) <= {}", size.saturating_sub(1))),
        Some(to) => texts.push(format!("{name} < {}", shown(to))),
    }
    let except: Vec<String> = except
        .iter()
        .filter(|value| !is_placeholder(value))
        .map(shown)
        .collect();
    if !except.is_empty() {
        texts.push(compared(
            name,
            &except.iter().map(String::as_str).collect::<Vec<_>>(),
            false,
        ));
    }
    texts.join(" and ")
}

fn is_placeholder(value: &Point) -> bool {
    matches!(value, Point::Text(text) if text.starts_with('\0'))
}
