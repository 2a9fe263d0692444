//! A plan of many services and of much that is no queue, made by a seeded generator: a small one is always read,
//! in time that grows with its size and no faster. One of 100 MB is read by `tests/benchmark.rs`.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)]

#[path = "generated/plan.rs"]
mod generated;

use generated::plan;
use sqslint::testing::TemporaryDirectory;
use sqslint::{Options, Outcome};
use std::path::Path;
use std::time::{Duration, Instant};

fn check(file: &Path) -> (Outcome, Duration) {
    let start = Instant::now();
    let outcome = sqslint::check(&Options {
        paths: vec![file.to_owned()],
        ..Options::default()
    });
    (outcome, start.elapsed())
}

#[test]
fn time_grows_with_the_size_and_no_faster() {
    let (small, large) = (plan(500_000), plan(2_000_000));
    let directory = TemporaryDirectory::with_files([("small.json", &*small), ("large.json", &*large)]);
    let (outcome, first) = check(&directory.path().join("small.json"));
    let (larger, second) = check(&directory.path().join("large.json"));
    assert!(outcome.errors.is_empty(), "{:?}", outcome.errors);
    let mappings = |outcome: &Outcome| {
        let graph = &outcome.graph;
        let linked = graph.mappings().iter().filter(|mapping| {
            let queue = mapping
                .queue
                .known()
                .and_then(|link| graph.queue(mapping.resource.unit, link));
            queue.is_some_and(|queue| queue.resource.address.ends_with(".this"))
        });
        (linked.count(), graph.queues().len(), graph.functions().len())
    };
    let (linked, queues, functions) = mappings(&larger);
    assert!(linked > 20, "{linked}");
    assert_eq!((queues, functions), (2 * linked, linked));
    let rules = larger.findings.iter().map(|found| found.rule);
    assert!(
        rules.clone().all(|rule| rule == "visibility-timeout-too-short"),
        "{:?}",
        rules.collect::<Vec<_>>()
    );
    assert!(!larger.findings.is_empty());
    // Four times the size; what starts once, and a busy machine, are allowed for.
    let bound = 8 * first + Duration::from_millis(500);
    assert!(second < bound, "{first:?} for 0.5 MB, {second:?} for 2 MB");
}
