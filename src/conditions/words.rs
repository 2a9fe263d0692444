//! How a condition is called: by the names that users gave to conditions, as few as will do, and by the values of
//! variables where no name says it.

use super::Condition;
use super::diagram::{Diagram, Literal};
use super::formula::Formula;
use std::cmp::Reverse;
use std::sync::Arc;

/// A condition has at most this many names; further ones are said by values.
const MAX_NAMES: usize = 12;
/// Ways to say a condition that are spelled out.
const MAX_WAYS: usize = 3;
/// A name that is put together of others is at most this long.
const MAX_LENGTH: usize = 80;
/// A variable is called by so much of what users wrote.
const MAX_NAME: usize = 100;
/// Values of one variable that are spelled out.
const MAX_VALUES: usize = 6;

/// A word for a condition, and the condition that it says.
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

/// Whether there is anything to call.
fn has_names(formula: &Formula) -> bool {
    matches!(formula, Formula::Sometimes(_) | Formula::Unknown)
}

/// The names of two conditions, for `formula`, which holds where both do.
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

/// Names for `formula`, which holds where either does.
pub(super) fn of_either(formula: &Formula, left: &Condition, right: &Condition) -> Vec<Name> {
    if !has_names(formula) || (left.names().is_empty() && right.names().is_empty()) {
        return Vec::new();
    }
    let mut names = of_both(formula, left.names(), right.names());
    names.retain(|name| formula.implies(&name.formula));
    if conjunction(&names) == *formula {
        return fewest(names);
    }
    if let (Some(one), Some(other)) = (whole_name(left), whole_name(right)) {
        let text = format!("{one} or {other}");
        if text.len() <= MAX_LENGTH {
            return vec![Name::new(text, formula)];
        }
    }
    names
}

/// A name for `formula`, which holds where `condition` does not.
pub(super) fn of_negation(formula: &Formula, condition: &Condition) -> Vec<Name> {
    if !has_names(formula) {
        return Vec::new();
    }
    let Some(text) = whole_name(condition) else {
        return Vec::new();
    };
    let text = match text.strip_prefix("not ") {
        Some(rest) if !rest.contains(' ') => rest.to_owned(),
        _ if text.starts_with('(') || !text.contains(' ') => format!("not {text}"),
        _ => format!("not ({text})"),
    };
    vec![Name::new(text, formula)]
}

/// What the names of `condition` say, where they say all of it; in parentheses where they are several.
fn whole_name(condition: &Condition) -> Option<String> {
    if condition.names().is_empty() || conjunction(condition.names()) != *condition.formula() {
        return None;
    }
    let names = fewest(condition.names().to_vec());
    let text = joined(&names);
    Some(if names.len() > 1 { format!("({text})") } else { text })
}

/// Where all `names` hold.
fn conjunction(names: &[Name]) -> Formula {
    names.iter().fold(Formula::Always, |all, name| all.and(&name.formula))
}

fn joined(names: &[Name]) -> String {
    let texts = names.iter().map(|name| {
        if name.text.contains(" or ") && names.len() > 1 {
            format!("({})", name.text)
        } else {
            name.text.to_string()
        }
    });
    texts.collect::<Vec<_>>().join(" and ")
}

/// `names` without those that the others imply; negations and long names go first.
fn fewest(mut names: Vec<Name>) -> Vec<Name> {
    if names.len() < 2 {
        return names;
    }
    let mut candidates = names.clone();
    candidates.sort_by_key(|name| {
        let is_simple = !name.text.starts_with("not ") && !name.text.contains(' ');
        (is_simple, Reverse(name.text.len()), Reverse(name.text.clone()))
    });
    // What the candidates behind each say together.
    let mut behind = vec![Formula::Always];
    for candidate in candidates.iter().skip(1).rev() {
        behind.push(candidate.formula.and(behind.last().unwrap_or(&Formula::Always)));
    }
    let mut kept = Formula::Always;
    for (candidate, behind) in candidates.iter().zip(behind.iter().rev()) {
        if kept.and(behind).implies(&candidate.formula) {
            names.retain(|name| name.text != candidate.text);
        } else {
            kept = kept.and(&candidate.formula);
        }
    }
    names
}

/// What to call `condition`; `None` where it always holds.
pub(super) fn describe(condition: &Condition) -> Option<String> {
    let names = fewest(condition.names().to_vec());
    let diagram = match condition.formula() {
        Formula::Always => return None,
        Formula::Never => return Some("never".to_owned()),
        Formula::Unknown if names.is_empty() => return Some("too many conditions to tell apart".to_owned()),
        Formula::Unknown => return Some(joined(&names)),
        Formula::Sometimes(diagram) => diagram,
    };
    let said = conjunction(&names);
    if said == *condition.formula() {
        return Some(joined(&names));
    }
    let by_values = spelled(diagram);
    let rest = match &said {
        Formula::Sometimes(said) => diagram.within(said).ok(),
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

/// `diagram` by the values of its variables.
fn spelled(diagram: &Diagram) -> String {
    let (ways, more) = diagram.ways(MAX_WAYS);
    let mut texts: Vec<String> = ways.iter().map(|way| conjunction_of(way)).collect();
    texts.sort_by_key(|text| (text.len(), text.clone()));
    if more {
        texts.push("…".to_owned());
    }
    texts.join(" or ")
}

fn conjunction_of(way: &[Literal]) -> String {
    let mut texts: Vec<String> = Vec::new();
    let mut same: Vec<(&Arc<str>, Vec<String>)> = Vec::new();
    for literal in way {
        match literal.values.as_slice() {
            // A value that stands for any that two variables share.
            [value] if literal.is && value.starts_with('\0') => {
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
    texts.join(" and ")
}

/// The variable as users know it, cut to what a message can hold.
fn name_of(literal: &Literal) -> String {
    let name = &*literal.variable.name;
    match name.char_indices().nth(MAX_NAME) {
        Some((at, _)) => format!("{}…", name.get(..at).unwrap_or("")),
        None => name.to_owned(),
    }
}

fn text_of(literal: &Literal) -> Option<String> {
    let name = name_of(literal);
    let mut values: Vec<&str> = literal.values.iter().map(|value| &**value).collect();
    values.retain(|value| !value.starts_with('\0'));
    if values.len() > MAX_VALUES {
        values.truncate(MAX_VALUES);
        values.push("…");
    }
    Some(match (values.as_slice(), literal.is) {
        ([], _) => return None,
        (["true"], true) | (["false"], false) if literal.variable.domain.is_some() => name,
        (["false"], true) | (["true"], false) if literal.variable.domain.is_some() => format!("not {name}"),
        (values, true) => format!("{name} = {}", values.join(" or ")),
        (values, false) => format!("{name} != {}", values.join(", ")),
    })
}
