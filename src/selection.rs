//! Which rules run: names of rules, categories and sets, as the command line and the settings give them.

use crate::rules::{Catalogue, Category, RULES, Rule, Set};

/// Which rules run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    select: Vec<String>,
    ignore: Vec<String>,
    pedantic: bool,
}

/// A name that is no rule, category or set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown rule `{name}`; {}", advice(near))]
pub struct UnknownRule {
    /// As given.
    pub name: String,
    /// The nearest names there are.
    pub near: Vec<String>,
}

/// What was meant, or how to find it.
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
    /// `select` replaces the default set, `ignore` takes away, `pedantic` adds the pedantic set. What the names mean is
    /// known once the configurations are, which may have policies ([`Selection::check`]).
    pub fn new(select: Vec<String>, ignore: Vec<String>, pedantic: bool) -> Self {
        Selection {
            select,
            ignore,
            pedantic,
        }
    }

    /// Whether each of its names is that of a rule in `known`, a category or a set.
    pub fn check(&self, known: &Catalogue) -> Result<(), UnknownRule> {
        let mut names = self.select.iter().chain(&self.ignore);
        names.try_for_each(|name| check(name, known))
    }

    /// Only `rule`.
    pub fn only(rule: &Rule<'_>) -> Self {
        Selection {
            select: vec![rule.id.to_owned()],
            ignore: Vec::new(),
            pedantic: false,
        }
    }

    /// Whether `rule` runs where a file selects and ignores what is given: the command line wins over it.
    pub fn selects(&self, rule: &Rule, select: Option<&[String]>, ignore: &[String]) -> bool {
        let any = |names: &[String]| names.iter().any(|name| covers(name, rule));
        let chosen = match (self.select.as_slice(), select) {
            ([], None) => rule.set == Set::Default,
            ([], Some(names)) => any(names),
            (names, _) => any(names),
        };
        let chosen = chosen || (self.pedantic && rule.set == Set::Pedantic);
        let is_named = self.select.iter().any(|name| name == rule.id);
        chosen && !any(&self.ignore) && (is_named || !any(ignore))
    }

    /// Whether a diagnostic that the pipeline raises is kept: only ignoring it by its own name drops it.
    pub fn keeps_tool(&self, id: &str, ignore: &[String]) -> bool {
        !self.ignore.iter().chain(ignore).any(|name| name == id)
    }
}

/// Whether `name` is that of a rule in `known`, a category or a set.
pub fn check(name: &str, known: &Catalogue) -> Result<(), UnknownRule> {
    if names(known).any(|known| known == name) {
        return Ok(());
    }
    Err(UnknownRule {
        name: name.to_owned(),
        near: near(name, || names(known)),
    })
}

/// Whether `name`, of a rule, a category or a set, takes in `rule`.
pub fn covers(name: &str, rule: &Rule<'_>) -> bool {
    name == rule.id || name == rule.category.name() || name == rule.set.name() || name == "all"
}

/// The names of the categories, in the order of the rules; that of policies last.
pub fn categories() -> impl Iterator<Item = &'static str> {
    let mut last: Option<Category> = None;
    let all = RULES.iter().map(|rule| rule.category).chain([Category::Policy]);
    all.filter(move |category| last.replace(*category) != Some(*category))
        .map(Category::name)
}

/// The names of all rules in `known`, of the categories and the sets.
pub fn names(known: &Catalogue) -> impl Iterator<Item = &str> {
    let sets = ["all", Set::Default.name(), Set::Pedantic.name()];
    let fixed = categories().chain(sets).map(|name: &'static str| -> &str { name });
    known.ids().chain(fixed)
}

/// The name nearest to `name`, where one is near enough to be a slip.
pub fn suggest(name: &str, known: &Catalogue) -> Option<String> {
    nearest(name, names(known)).map(str::to_owned)
}

/// The few of `known` that `name` may be meant for: what it is a slip of, else what holds all its words.
pub fn near<'k, K: Iterator<Item = &'k str>>(name: &str, known: impl Fn() -> K) -> Vec<String> {
    const MOST: usize = 3;
    // A name without its end, or its beginning, is not one name rather than another.
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

/// The one of `known` nearest to `name`, where one is near enough to be a slip.
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
    fn each_category_is_named_once() {
        let names: Vec<&str> = categories().collect();
        let mut once = names.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(names.len(), once.len(), "rules stand by category");
        assert!(
            RULES
                .iter()
                .all(|rule| check(rule.category.name(), Catalogue::OURS).is_ok())
        );
    }

    #[test]
    fn a_slip_gets_a_suggestion() {
        assert_eq!(suggest("visibilty", Catalogue::OURS).as_deref(), Some("visibility"));
        assert_eq!(suggest("zzzzzz", Catalogue::OURS), None);
        let error = Selection::new(vec!["redrve".into()], vec![], false).check(Catalogue::OURS);
        let error = error.map_err(|e| e.to_string());
        assert_eq!(error, Err("unknown rule `redrve`; did you mean `redrive`?".into()));
    }

    #[test]
    fn a_part_of_a_name_gets_the_names_that_have_it() {
        let message = |name: &str| {
            check(name, Catalogue::OURS)
                .map_err(|error| error.to_string())
                .unwrap_err()
        };
        let said = message("timeout-too");
        for name in [
            "`visibility-timeout-too-short`",
            "`visibility-timeout-too-long`",
            " or ",
        ] {
            assert!(said.contains(name), "{said}");
        }
        let said = message("policy-missing");
        assert!(said.contains("`redrive-policy-missing`"), "{said}");
        assert_eq!(message("zzzzzz"), "unknown rule `zzzzzz`; `sqslint rules` lists them");
    }
}
