//! Selects rules by the names of rules, categories and sets on the command line and in configurations.

pub(crate) use crate::rules::current;

use crate::rules::{self, Catalogue, Category, RULES, Rule, Set};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Selection of rules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    select: Vec<String>,
    ignore: Vec<String>,
    pedantic: bool,
}

/// Former id of a rule in a configuration, a suppression or a baseline.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FormerId {
    /// File that contains it.
    pub path: PathBuf,
    /// Offset in bytes of the text that contains it; `None` in a baseline.
    pub from: Option<usize>,
    /// The id, as written.
    pub written: String,
}

impl FormerId {
    /// Returns the id in `path`, if `written` is a former id.
    pub(crate) fn of(path: &Path, from: Option<usize>, written: &str) -> Option<Self> {
        rules::renamed(written)?;
        Some(FormerId {
            path: path.to_owned(),
            from,
            written: written.to_owned(),
        })
    }

    /// Returns the current id of the rule.
    pub fn current(&self) -> &str {
        current(&self.written)
    }
}

/// Returns the notice of a run on former ids.
pub(crate) fn notice(former: &[FormerId]) -> Option<String> {
    let ids: BTreeSet<&str> = former.iter().map(|id| &*id.written).collect();
    let pairs = ids.iter().map(|id| format!("`{id}` is now called `{}`", current(id)));
    let pairs: Vec<String> = pairs.collect();
    (!pairs.is_empty()).then(|| format!("{}; `sqslint config migrate` rewrites it", pairs.join(", ")))
}

/// Error for an unknown name of a rule, category or set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown rule `{name}`; {}", advice(near))]
pub struct UnknownRule {
    /// Name as written.
    pub name: String,
    /// Similar known names.
    pub near: Vec<String>,
}

/// Suggests similar names, or how to list all of them.
fn advice(near: &[String]) -> String {
    const LISTED: &str = "`sqslint rules` lists them";
    let near: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
    match near.split_last() {
        None => LISTED.to_owned(),
        Some((only, [])) => format!("did you mean {only}?"),
        Some((last, others)) => format!("did you mean {} or {last}? {LISTED}", others.join(", ")),
    }
}

impl Selection {
    /// Creates a selection: `select` replaces the default set, `ignore` removes rules, `pedantic` adds the pedantic
    /// set. The names are checked later, since configurations may add policies ([`Selection::check`]).
    pub fn new(select: Vec<String>, ignore: Vec<String>, pedantic: bool) -> Self {
        Selection {
            select,
            ignore,
            pedantic,
        }
    }

    /// Checks that each name is that of a rule in `known`, a category or a set.
    pub fn check(&self, known: &Catalogue) -> Result<(), UnknownRule> {
        let mut names = self.select.iter().chain(&self.ignore);
        names.try_for_each(|name| check(name, known))
    }

    /// Creates a selection of a single rule.
    pub fn only(rule: &Rule<'_>) -> Self {
        Selection {
            select: vec![rule.id.to_owned()],
            ignore: Vec::new(),
            pedantic: false,
        }
    }

    /// Returns `true` if `rule` runs under a configuration with `select` and `ignore`, which the command line
    /// overrides.
    pub fn selects(&self, rule: &Rule, select: Option<&[String]>, ignore: &[String]) -> bool {
        let any = |names: &[String]| names.iter().any(|name| covers(name, rule));
        let chosen = match (self.select.as_slice(), select) {
            ([], None) => rule.set != Set::Pedantic,
            ([], Some(names)) => any(names),
            (names, _) => any(names),
        };
        let chosen = chosen || (self.pedantic && rule.set == Set::Pedantic);
        let is_named = self.select.iter().any(|name| current(name) == rule.id);
        chosen && !any(&self.ignore) && (is_named || !any(ignore))
    }

    /// Returns `true` if a diagnostic of the pipeline itself is kept. It can only be ignored by its own name.
    pub fn keeps_pipeline_diagnostic(&self, id: &str, ignore: &[String]) -> bool {
        !self.ignore.iter().chain(ignore).any(|name| name == id)
    }
}

/// Returns `true` if `name` is that of a rule in `known`, a category or a set.
pub fn is_known(name: &str, known: &Catalogue) -> bool {
    names(known).any(|known| known == current(name))
}

/// Checks that `name` is known; the error suggests others.
pub fn check(name: &str, known: &Catalogue) -> Result<(), UnknownRule> {
    if is_known(name, known) {
        return Ok(());
    }
    Err(UnknownRule {
        name: name.to_owned(),
        near: near(name, || names(known)),
    })
}

/// Returns `true` if `name`, which is that of a rule, a category or a set, includes `rule`.
pub fn covers(name: &str, rule: &Rule<'_>) -> bool {
    let is_set = name == rule.set.name() || rule.set == Set::DefaultInPart && name == Set::Pedantic.name();
    current(name) == rule.id || name == rule.category.name() || is_set || name == "all"
}

/// Returns the names of the categories in the order of the rules, with that of policies last.
pub fn categories() -> impl Iterator<Item = &'static str> {
    let mut last: Option<Category> = None;
    let all = RULES.iter().map(|rule| rule.category).chain([Category::Policy]);
    all.filter(move |category| last.replace(*category) != Some(*category))
        .map(Category::name)
}

/// Returns the names of all rules in `known`, of the categories and of the sets.
pub fn names(known: &Catalogue) -> impl Iterator<Item = &str> {
    let sets = ["all", Set::Default.name(), Set::Pedantic.name()];
    let fixed = categories().chain(sets).map(|name: &'static str| -> &str { name });
    known.ids().chain(fixed)
}

/// Returns the known name most similar to `name`, if it is similar enough for a misspelling.
pub fn suggest(name: &str, known: &Catalogue) -> Option<String> {
    nearest(name, names(known)).map(str::to_owned)
}

/// Returns the few names of `known` that `name` may refer to: those that contain all of its words, or else the most
/// similar one.
pub fn near<'k, K: Iterator<Item = &'k str>>(name: &str, known: impl Fn() -> K) -> Vec<String> {
    const MOST: usize = 3;
    // Part of a name may belong to several names, so it has no single most similar one.
    let words: Vec<&str> = name.split('-').collect();
    let has_words = |known: &&str| words.iter().all(|word| known.split('-').any(|one| one == *word));
    let mut held: Vec<String> = known().filter(has_words).map(str::to_owned).collect();
    held.sort_by_key(|known| !known.starts_with(name));
    held.truncate(MOST);
    match nearest(name, known()) {
        _ if held.len() > 1 => held,
        Some(one) => vec![one.to_owned()],
        None => held,
    }
}

/// Returns the name of `known` most similar to `name`, if it is similar enough for a misspelling.
pub fn nearest<'k>(name: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    const BEGUN: usize = 3;
    let name: String = name.chars().take(100).collect();
    let (slips, near) = known.map(|known| (strsim::levenshtein(&name, known), known)).min()?;
    let is_begun = name.len() >= BEGUN && near.starts_with(&name);
    (slips <= name.len() / 3 + 1 || is_begun).then_some(near)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_in_both_sets_reports_its_pedantic_findings_on_request() {
        let rule = RULES
            .iter()
            .find(|rule| rule.set == Set::DefaultInPart)
            .expect("such a rule exists");
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        for (select, pedantic, expected) in [
            (&[][..], false, [true, false]),
            (&[][..], true, [true, true]),
            (&["default"][..], false, [true, false]),
            (&["pedantic"][..], false, [false, true]),
            (&[rule.id][..], false, [true, true]),
            (&[rule.category.name()][..], false, [true, true]),
        ] {
            let selection = Selection::new(names(select), Vec::new(), pedantic);
            let reported =
                [false, true].map(|is_pedantic| selection.selects(&rule.for_finding(is_pedantic), None, &[]));
            assert_eq!(reported, expected, "{select:?} {pedantic}");
            assert!(selection.selects(rule, None, &[]), "{select:?}: it has to run");
        }
    }

    #[test]
    fn each_category_is_listed_once() {
        let names: Vec<&str> = categories().collect();
        let mut once = names.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(names.len(), once.len(), "rules are grouped by category");
        assert!(
            RULES
                .iter()
                .all(|rule| check(rule.category.name(), Catalogue::BUILT_IN).is_ok())
        );
    }

    #[test]
    fn misspelling_gets_a_suggestion() {
        assert_eq!(suggest("visibilty", Catalogue::BUILT_IN).as_deref(), Some("visibility"));
        assert_eq!(suggest("zzzzzz", Catalogue::BUILT_IN), None);
        let error = Selection::new(vec!["redrve".into()], vec![], false).check(Catalogue::BUILT_IN);
        let error = error.map_err(|e| e.to_string());
        assert_eq!(error, Err("unknown rule `redrve`; did you mean `redrive`?".into()));
    }

    #[test]
    fn part_of_a_name_suggests_the_names_that_contain_it() {
        let message = |name: &str| {
            check(name, Catalogue::BUILT_IN)
                .map_err(|error| error.to_string())
                .unwrap_err()
        };
        let stated = message("timeout-too");
        for name in [
            "`visibility-timeout-too-short`",
            "`visibility-timeout-too-long`",
            " or ",
        ] {
            assert!(stated.contains(name), "{stated}");
        }
        let stated = message("policy-missing");
        assert!(stated.contains("`redrive-policy-missing`"), "{stated}");
        assert_eq!(message("zzzzzz"), "unknown rule `zzzzzz`; `sqslint rules` lists them");
    }
}
