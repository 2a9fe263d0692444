//! Finds cycles in a directed graph.

use std::collections::{BTreeMap, BTreeSet};

/// Returns the sets of at least two nodes that all reach each other, sorted.
pub(super) fn cycles(edges: &BTreeSet<(String, String)>) -> Vec<Vec<String>> {
    let mut reached: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (from, _) in edges {
        reached.entry(from).or_insert_with(|| reachable(edges, from));
    }
    let leads = |from: &str, to: &str| reached.get(from).is_some_and(|all| all.contains(to));
    let mut all: BTreeSet<Vec<String>> = BTreeSet::new();
    for from in reached.keys().filter(|from| leads(from, from)) {
        let members = reached.keys().filter(|to| leads(from, to) && leads(to, from));
        all.insert(members.map(|member| (*member).to_owned()).collect());
    }
    all.into_iter().collect()
}

/// Returns every node that is reachable from `start` by at least one edge.
fn reachable<'a>(edges: &'a BTreeSet<(String, String)>, start: &str) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut open = vec![start];
    while let Some(node) = open.pop() {
        for (_, to) in edges.iter().filter(|(from, to)| from == node && from != to) {
            if found.insert(to.as_str()) {
                open.push(to);
            }
        }
    }
    found
}

#[test]
fn cycles_are_found() {
    let edges = ["a b", "b c", "c a", "c d", "d e", "e d", "f f", "f a"];
    let edges = edges.iter().filter_map(|edge| edge.split_once(' '));
    let edges = edges.map(|(from, to)| (from.to_owned(), to.to_owned())).collect();
    assert_eq!(cycles(&edges), [vec!["a", "b", "c"], vec!["d", "e"]]);
}
