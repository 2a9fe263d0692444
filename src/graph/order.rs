//! The order in which a tool creates the resources of a unit: after those that they refer to.

use super::{Graph, Resource, UnitId, UnitKind};
use rustc_hash::FxHashSet;
use source::Span;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// Maximum number of searches for a cycle in a unit.
const MAX_SEARCHES: usize = 64;

/// Behaviour of the tool that creates the resources of a unit, and the notation for their order.
#[derive(Debug)]
pub struct Creation {
    /// Argument that names what a resource waits for.
    pub argument: &'static str,
    /// Texts before and after the address in it, with the sign of assignment.
    pub around: [&'static str; 2],
    /// `true` if the tool repeats a request that fails because a permission is missing.
    pub is_repeated: bool,
    /// Beginning of an ARN that is composed instead of referring to a resource, if the dialect has a form for it.
    pub composed_arn: Option<&'static str>,
    /// `true` if an event of a function may declare a mapping.
    pub has_events: bool,
    /// Way to break a cycle of queues, if there is a better one than a composed ARN.
    pub cycle_of_queues: Option<&'static str>,
}

/// References between the declarations of a unit: resources, and in Terraform also what passes their values on.
#[derive(Debug, Clone)]
pub struct Order {
    /// Behaviour and notation of the tool of the unit.
    pub creation: &'static Creation,
    declarations: BTreeMap<Arc<str>, Declaration>,
}

#[derive(Debug, Clone)]
struct Declaration {
    /// `false` for what only passes values on: a local value, a variable, an output.
    is_resource: bool,
    references: Vec<Reference>,
}

/// A reference because of which a resource is created after another.
#[derive(Debug, Clone)]
pub struct Reference {
    /// Address of the other resource, without keys of instances.
    pub to: Arc<str>,
    /// Span of the reference.
    pub span: Span,
    /// `true` unless a condition decides whether it exists.
    pub is_certain: bool,
}

/// A resource of a cycle, with the span of its reference to the next one.
pub type CycleStep = (Arc<str>, Span);

impl Order {
    /// Creates an order without declarations.
    pub fn new(creation: &'static Creation) -> Self {
        Order {
            creation,
            declarations: BTreeMap::new(),
        }
    }

    /// Adds a declaration with its references.
    pub fn add(&mut self, address: Arc<str>, is_resource: bool, references: Vec<Reference>) {
        let declaration = Declaration {
            is_resource,
            references,
        };
        self.declarations.insert(address, declaration);
    }

    /// Returns the declaration that `address` belongs to: its own, without the keys of instances, or that of the
    /// resource that contains it.
    pub fn declared(&self, address: &str) -> Option<&Arc<str>> {
        let address = without_keys(address);
        let mut address = address.as_str();
        loop {
            match self.declarations.get_key_value(address) {
                Some((known, declaration)) if declaration.is_resource => return Some(known),
                _ => address = address.rsplit_once('.')?.0,
            }
        }
    }

    /// Returns `true` if `later` refers to `earlier`, directly or through other declarations.
    pub fn follows(&self, later: &str, earlier: &str) -> bool {
        let ends = self.declared(later).zip(self.declared(earlier));
        ends.is_some_and(|(later, earlier)| later == earlier || self.path(later, earlier, |_| true).is_some())
    }

    /// Returns the shortest path from `from` to `to`, each declaration with the span of the reference to the next one.
    fn path(&self, from: &Arc<str>, to: &Arc<str>, counts: impl Fn(&Reference) -> bool) -> Option<Vec<CycleStep>> {
        let mut reached: BTreeMap<&Arc<str>, (&Arc<str>, Span)> = BTreeMap::new();
        let mut next = VecDeque::from([from]);
        while let Some(at) = next.pop_front() {
            let references = self.declarations.get(at).map(|declared| declared.references.as_slice());
            for reference in references
                .unwrap_or_default()
                .iter()
                .filter(|reference| counts(reference))
            {
                if reached.contains_key(&reference.to) {
                    continue;
                }
                reached.insert(&reference.to, (at, reference.span));
                next.push_back(&reference.to);
            }
            if let Some(last) = reached.get(to) {
                let mut steps = vec![(last.0.clone(), last.1)];
                while let Some((address, _)) = steps.last().filter(|(address, _)| address != from) {
                    let (before, span) = reached.get(address)?;
                    steps.push(((*before).clone(), *span));
                }
                steps.reverse();
                return Some(steps);
            }
        }
        None
    }

    /// Returns the cycles of certain references that contain one of the resources `of`, each resource of a cycle with
    /// the span of its reference to the next one. A resource is in one of them only.
    pub fn cycles(&self, of: &BTreeSet<Arc<str>>) -> Vec<Vec<CycleStep>> {
        let circular = self.possibly_circular();
        let counts = |reference: &Reference| reference.is_certain && circular.contains(&reference.to);
        let mut known: FxHashSet<Arc<str>> = FxHashSet::default();
        let mut cycles = Vec::new();
        let starts: BTreeSet<&Arc<str>> = of.iter().filter_map(|address| self.declared(address)).collect();
        for start in starts
            .into_iter()
            .filter(|start| circular.contains(*start))
            .take(MAX_SEARCHES)
        {
            let is_new = !known.contains(start);
            let Some(path) = is_new.then(|| self.path(start, start, counts)).flatten() else {
                continue;
            };
            let mut steps = path;
            steps.retain(|(address, _)| self.declarations.get(address).is_some_and(|one| one.is_resource));
            known.extend(steps.iter().map(|(address, _)| address.clone()));
            if !steps.is_empty() {
                cycles.push(steps);
            }
        }
        cycles
    }

    /// Returns the declarations that remain if those that only refer, or are only referred to, are removed repeatedly:
    /// none without a cycle.
    fn possibly_circular(&self) -> FxHashSet<&Arc<str>> {
        let mut left: FxHashSet<&Arc<str>> = self.declarations.keys().collect();
        for is_forward in [true, false] {
            let mut back: BTreeMap<&Arc<str>, Vec<&Arc<str>>> = BTreeMap::new();
            let mut counts: BTreeMap<&Arc<str>, usize> = BTreeMap::new();
            for (from, declaration) in &self.declarations {
                for reference in declaration.references.iter().filter(|reference| reference.is_certain) {
                    let Some((to, _)) = self.declarations.get_key_value(&reference.to) else {
                        continue;
                    };
                    if !left.contains(from) || !left.contains(to) {
                        continue;
                    }
                    let (from, to) = if is_forward { (from, to) } else { (to, from) };
                    back.entry(to).or_default().push(from);
                    *counts.entry(from).or_default() += 1;
                }
            }
            let mut ends: Vec<&Arc<str>> = self
                .declarations
                .keys()
                .filter(|one| !counts.contains_key(one))
                .collect();
            while let Some(end) = ends.pop() {
                left.remove(end);
                for from in back.remove(end).unwrap_or_default() {
                    if let Some(count) = counts.get_mut(from) {
                        *count -= 1;
                        if *count == 0 {
                            ends.push(from);
                        }
                    }
                }
            }
        }
        left
    }
}

impl Graph {
    /// Returns the order of `unit`, if its references are known.
    pub fn order(&self, unit: UnitId) -> Option<&Order> {
        self.orders.get(unit.0 as usize)?.as_ref()
    }

    /// Returns `true` if `later` may be created while `earlier`, of the same unit, does not exist yet. The stacks of CDK
    /// apps are ordered by their constructs.
    pub fn is_unordered(&self, later: &Resource, earlier: &Resource) -> bool {
        let is_ordered_by_constructs = self.unit(later.unit).kind == UnitKind::CdkStack;
        let is_of_one = later.unit == earlier.unit && !is_ordered_by_constructs;
        let order = self.order(later.unit).filter(|_| is_of_one);
        order.is_some_and(|order| {
            order.declared(&later.address).is_some()
                && order.declared(&earlier.address).is_some()
                && !order.follows(&later.address, &earlier.address)
        })
    }
}

/// Removes the instance keys from an address of Terraform: `module.a["x"].aws_sqs_queue.q[0]`.
pub fn without_keys(address: &str) -> String {
    let mut kept = String::with_capacity(address.len());
    let (mut in_key, mut quoted, mut escaped) = (false, false, false);
    for letter in address.chars() {
        match letter {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' if in_key => quoted = !quoted,
            '[' if !quoted => in_key = true,
            ']' if !quoted => in_key = false,
            _ if !in_key => kept.push(letter),
            _ => {}
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use source::Sources;
    use std::path::Path;

    /// Creates the order of resources from lines `a b c?`: `a` refers to `b`, and under a condition to `c`.
    fn order(text: &str) -> Order {
        let span = Span::new(Sources::default().add(Path::new("a"), ""), 0..0);
        let mut order = Order::new(&CREATION);
        for line in text.lines() {
            let mut words = line.split_whitespace();
            let address: Arc<str> = words.next().unwrap_or_default().into();
            let reference = |to: &str| Reference {
                to: to.trim_end_matches('?').into(),
                span,
                is_certain: !to.ends_with('?'),
            };
            order.add(
                address.clone(),
                !address.starts_with("local."),
                words.map(reference).collect(),
            );
        }
        order
    }

    const CREATION: Creation = Creation {
        argument: "after",
        around: [" ", ""],
        is_repeated: false,
        composed_arn: None,
        has_events: false,
        cycle_of_queues: None,
    };

    #[test]
    fn references_are_followed_through_other_declarations() {
        let order = order("a local.b\nlocal.b c\nc\nd a?\nmodule.m.q local.b");
        for (later, earlier, expected) in [
            ("a", "c", true),
            ("c", "a", false),
            ("d", "c", true),
            ("d.part[0]", "c.Targets[1]", true),
            ("module.m[\"x.y\"].q[0]", "c", true),
            ("else", "c", false),
        ] {
            assert_eq!(order.follows(later, earlier), expected, "{later} {earlier}");
        }
    }

    #[test]
    fn only_certain_references_form_a_cycle() {
        for (text, expected) in [
            ("a b\nb c\nc", ""),
            ("a b\nb a", "a b"),
            ("a b\nb a?", ""),
            ("a a", "a"),
            ("a local.x\nlocal.x b\nb a", "a b"),
            ("a b\nb c d\nc b\nd", "b c"),
            // `a` leads into a cycle, and is not in it.
            ("a c\nc d\nd c", ""),
        ] {
            let of = BTreeSet::from(["a".into(), "b".into()]);
            let cycles = order(text).cycles(&of);
            let shown: Vec<String> = cycles
                .iter()
                .map(|steps| steps.iter().map(|(step, _)| &**step).collect::<Vec<_>>().join(" "))
                .collect();
            assert_eq!(shown.join(", "), expected, "{text}");
        }
    }

    #[test]
    fn instance_keys_are_removed() {
        let address = r#"module.a["x]\"["].aws_sqs_queue.q[0]"#;
        assert_eq!(without_keys(address), "module.a.aws_sqs_queue.q");
    }
}
