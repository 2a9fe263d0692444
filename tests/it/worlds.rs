//! Compares conditions with brute force: a generated template is checked once with its conditions, and once per
//! assignment of its parameters, with all conditions replaced by their values. Every finding must occur under some
//! assignment, every finding under an assignment must be reported, and every value in the graph must be correct under
//! each assignment.
//!
//! Example: for a template with `Conditions: {C0: !Equals [!Ref P0, a]}`, whose visibility timeout is 30 s if `C0`
//! holds, and otherwise 360 s, `Template::whole` has the condition, and `Template::plain` has 30 s for `P0 = a` and 360
//! s for all other values. If only the first violates a rule, the finding of the whole template must have the condition
//! `C0`.
//!
//! `PROPTEST_CASES` sets the number of templates.

mod model;

use crate::inputs::check_files;
use conditions::{Condition, Variable};
use model::{Choices, FUNCTIONS, QUEUES, Template, Value, World};
use proptest::prelude::*;
use sqslint::Outcome;
use sqslint::diagnostic::{Diagnostic, Severity};
use sqslint::graph::{Attribute, Resource, Seconds};
use sqslint::testing::describe;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

fn judge<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Outcome {
    let outcome = check_files(files);
    assert!(outcome.errors.is_empty(), "{}", describe(&outcome));
    outcome
}

/// Rule, address and attribute of a finding.
type Key = (String, String, &'static str);

fn key(found: &Diagnostic) -> Key {
    (
        found.rule.to_string(),
        found.subject.address.clone(),
        found.subject.attribute,
    )
}

/// Returns the value of `variable` under the assignment `world`. A value that several parameters share and no condition
/// mentions has a special name in the graph.
fn value_in(template: &Template, world: &World, variable: &Variable) -> Option<Arc<str>> {
    let at: usize = variable.name.strip_prefix('P')?.parse().ok()?;
    let value = *world.get(at)?;
    let is_unnamed = |value: &str| matches!(value, "y" | "z" | "w");
    let open = |at: usize| template.parameters[at].is_open;
    if is_unnamed(value) && open(at) {
        let sharing = |value: &str| (0..world.len()).filter(|at| open(*at) && world[*at] == value).count();
        let shared = ["y", "z", "w"].into_iter().filter(|value| sharing(value) > 1);
        if let Some(at) = shared.clone().position(|shared| shared == value) {
            return Some(format!("\0{at}").into());
        }
    }
    Some(value.into())
}

fn verify(numbers: &[u16]) {
    let template = Template::read(&mut Choices::new(numbers));
    let whole = judge([("t.json", template.whole().as_str())]);
    let shown = || format!("{}\n{}", template.whole(), describe(&whole));
    let worlds: Vec<World> = template
        .worlds()
        .into_iter()
        .filter(|world| template.is_deployable(world))
        .collect();
    for world in &worlds {
        values_agree(&template, &whole, world, &shown);
    }
    // Assignments with equal templates are checked once.
    let mut plain: BTreeMap<String, (String, Vec<&World>)> = BTreeMap::new();
    for world in &worlds {
        let next = format!("w{}/t.json", plain.len());
        plain
            .entry(template.plain(world))
            .or_insert_with(|| (next, Vec::new()))
            .1
            .push(world);
    }
    let files = plain.iter().map(|(text, (name, _))| (name.as_str(), text.as_str()));
    let each = judge(files);
    let mut wanted: BTreeMap<Key, Severity> = BTreeMap::new();
    let mut headlines: BTreeSet<(Key, &str)> = BTreeSet::new();
    // Resources that do not exist under an assignment still count as declared.
    let is_of_worlds = |found: &&Diagnostic| !found.rule.ends_with("-undeclared");
    for found in each.findings.iter().filter(is_of_worlds) {
        // Equal findings under several assignments are reported once, with the location of one of them.
        let severity = wanted.entry(key(found)).or_insert(found.severity);
        *severity = found.severity.max(*severity);
        headlines.insert((key(found), &found.headline));
    }
    let seen: BTreeMap<Key, &Diagnostic> = whole.findings.iter().map(|found| (key(found), found)).collect();
    for (key, severity) in &wanted {
        let found = seen
            .get(key)
            .unwrap_or_else(|| panic!("a world has {key:?}, which is not found\n{}", shown()));
        assert_eq!(found.severity, *severity, "{key:?}\n{}", shown());
    }
    for (key, found) in &seen {
        assert!(wanted.contains_key(key), "no world has {key:?}\n{}", shown());
        let headline = (key.clone(), found.headline.as_str());
        assert!(
            headlines.contains(&headline),
            "no world has {headline:?}, but {headlines:?}\n{}",
            shown()
        );
        let Some(when) = found.when.as_deref().filter(|when| !when.contains('…')) else {
            continue;
        };
        let mut named = 0;
        for (name, worlds) in plain.values() {
            for world in worlds {
                if ConditionText::hold(when, &template, world) {
                    named += 1;
                    let has_it = each
                        .findings
                        .iter()
                        .any(|one| self::key(one) == *key && one.subject.unit.ends_with(name.as_str()));
                    assert!(has_it, "{key:?} when {when}, but not in {world:?}\n{}", shown());
                }
            }
        }
        assert!(named > 0, "{key:?} when {when}, which never holds\n{}", shown());
    }
}

/// Requires that the resources which exist under `world` are in the graph, with the right values.
fn values_agree(template: &Template, whole: &Outcome, world: &World, shown: &dyn Fn() -> String) {
    let exists = |resource: &Resource| {
        let holds = resource
            .when
            .holds_where(|variable| value_in(template, world, variable));
        assert_eq!(
            holds,
            Some(template.exists(&resource.address, world)),
            "whether `{}` exists in {world:?}\n{}",
            resource.address,
            shown()
        );
        holds == Some(true)
    };
    let number = |attribute: &Attribute<Seconds>, id: &str, key: &str, default: i64| {
        let holds = |when: &Condition| when.holds_where(|variable| value_in(template, world, variable));
        let cases: Vec<_> = attribute
            .cases
            .iter()
            .filter(|case| holds(&case.when) == Some(true))
            .collect();
        let written = template.numbers.iter().find(|(of, name, _)| *of == id && *name == key);
        let Some((_, _, value)) = written else { return };
        let value: &Value = value;
        let wanted = template.number(value, world).unwrap_or(default);
        let found: Vec<Option<i64>> = cases.iter().map(|case| case.value().map(|seconds| seconds.0)).collect();
        assert_eq!(found, [Some(wanted)], "{key} of {id} in {world:?}\n{}", shown());
    };
    for queue in whole.graph.queues() {
        if exists(&queue.resource) {
            number(
                &queue.visibility_timeout,
                &queue.resource.address,
                "VisibilityTimeout",
                30,
            );
            number(
                &queue.retention,
                &queue.resource.address,
                "MessageRetentionPeriod",
                345_600,
            );
        }
    }
    for function in whole.graph.functions() {
        if exists(&function.resource) {
            number(&function.timeout, &function.resource.address, "Timeout", 3);
        }
    }
    for id in QUEUES.iter().chain(&FUNCTIONS).filter(|id| template.exists(id, world)) {
        let queues = whole.graph.queues().iter().map(|queue| &queue.resource);
        let mut all = queues.chain(whole.graph.functions().iter().map(|function| &function.resource));
        assert!(
            all.any(|resource| &*resource.address == *id),
            "{id} is not in the graph\n{}",
            shown()
        );
    }
}

/// Parses the text of a condition, such as `C1 and not C2` or `(C1 or C2) and P3 = a`, and evaluates it under an
/// assignment.
struct ConditionText<'w> {
    rest: &'w str,
    template: &'w Template,
    world: &'w World,
}

impl<'w> ConditionText<'w> {
    fn hold(text: &'w str, template: &'w Template, world: &'w World) -> bool {
        let mut words = ConditionText {
            rest: text,
            template,
            world,
        };
        let holds = words.either();
        assert!(words.rest.is_empty(), "{text:?} is not supported from {:?}", words.rest);
        holds
    }

    fn take(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn either(&mut self) -> bool {
        let mut holds = self.both();
        while self.take(" or ") {
            holds |= self.both();
        }
        holds
    }

    fn both(&mut self) -> bool {
        let mut holds = self.one();
        while self.take(" and ") {
            holds &= self.one();
        }
        holds
    }

    fn word(&mut self) -> &'w str {
        let end = self
            .rest
            .find(|c: char| !c.is_ascii_alphanumeric())
            .unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn one(&mut self) -> bool {
        if self.take("not ") {
            return !self.one();
        }
        if self.take("(") {
            let holds = self.either();
            assert!(self.take(")"), "{:?}", self.rest);
            return holds;
        }
        let word = self.word();
        let at: usize = word[1..].parse().unwrap();
        if word.starts_with('C') {
            return self.template.holds(at, self.world);
        }
        let is = self.world[at];
        if self.take(" = ") {
            return self.values(" or ").contains(&is);
        }
        if self.take(" != ") {
            return !self.values(", ").contains(&is);
        }
        is == "true"
    }

    /// Parses values up to the next name.
    fn values(&mut self, between: &str) -> Vec<&'w str> {
        let mut all = vec![self.value()];
        while let Some(rest) = self.rest.strip_prefix(between) {
            if rest.starts_with(['C', '(']) || rest.starts_with("not ") {
                break;
            }
            if rest.starts_with('P') {
                break;
            }
            self.rest = rest;
            all.push(self.value());
        }
        all
    }

    fn value(&mut self) -> &'w str {
        if self.rest.starts_with('P') {
            // The value is that of another parameter.
            let at: usize = self.word()[1..].parse().unwrap();
            return self.world[at];
        }
        self.word()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn findings_equal_those_of_all_assignments(numbers in proptest::collection::vec(any::<u16>(), 20..160)) {
        verify(&numbers);
    }
}
