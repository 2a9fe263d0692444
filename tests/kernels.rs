//! Counts the allocations of runs, and their peak memory, for small inputs of each kind and inputs four times as large.
//! Unlike time, these figures are equal on every machine, so they are compared with those stored in
//! `tests/kernels.tsv`.
//!
//! `UPDATE=1 cargo test --test kernels` updates the file, after a change that is meant to cost more, or that costs much
//! less.
//!
//! This is a separate executable: its allocator counts, and nothing else may run at the same time.
#![allow(missing_docs, clippy::unwrap_used, clippy::too_many_lines, reason = "a test")]

#[path = "generated/many.rs"]
mod many;
#[path = "generated/plan.rs"]
mod plan;
#[path = "generated/tree.rs"]
#[allow(dead_code, reason = "uses a part of it")]
mod tree;

use many::File;
use peakmem_alloc::{PeakMemAlloc, PeakMemAllocTrait as _};
use sqslint::Options;
use sqslint::testing::TemporaryDirectory;
use stats_alloc::StatsAlloc;
use std::alloc::System;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

static COUNTS: StatsAlloc<System> = StatsAlloc::system();

#[global_allocator]
static ALLOCATOR: PeakMemAlloc<&'static StatsAlloc<System>> = PeakMemAlloc::new(&COUNTS);

/// Allowed increase over the stored figures, in percent: dependencies change as well.
const MORE: usize = 5;
/// Decrease from which on the new figures must be stored, in percent.
const LESS: usize = 20;

/// Allocations of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cost {
    /// Number of allocations and reallocations.
    allocations: usize,
    /// Peak memory in kB.
    peak: usize,
}

fn cost(path: &Path) -> Cost {
    let before = COUNTS.stats();
    ALLOCATOR.reset_peak_memory();
    let outcome = sqslint::check(&Options {
        paths: vec![path.to_owned()],
        ..Options::default()
    });
    let after = COUNTS.stats();
    assert!(outcome.errors.is_empty(), "{:?}", outcome.errors);
    assert!(!outcome.findings.is_empty());
    Cost {
        allocations: after.allocations + after.reallocations - before.allocations - before.reallocations,
        peak: ALLOCATOR.get_peak_memory() / 1024,
    }
}

/// Returns the first modules and stacks of the large tree.
fn tree(count: usize) -> Vec<File> {
    let (files, _) = tree::tree();
    let is_among = |name: &str| {
        let number = name.split('/').nth(1).map(|name| name.trim_start_matches('m'));
        number
            .and_then(|number| number.parse::<usize>().ok())
            .is_some_and(|number| number < count)
    };
    files.into_iter().filter(|(name, _)| is_among(name)).collect()
}

fn plan(kilobytes: usize) -> Vec<File> {
    vec![("plan.json".to_owned(), plan::plan(kilobytes * 1000))]
}

/// Returns a plan that contains only resources that are read.
fn plan_of_services(kilobytes: usize) -> Vec<File> {
    vec![("plan.json".to_owned(), plan::plan_of(kilobytes * 1000, 0))]
}

fn cdk(kilobytes: usize) -> Vec<File> {
    vec![("App.template.json".to_owned(), tree::cdk(kilobytes * 1000))]
}

/// Inputs of any size: name, generator, and the smaller of the two sizes.
const KERNELS: [(&str, fn(usize) -> Vec<File>, usize); 8] = [
    ("modules and templates", tree, 5),
    ("a plan", plan, 250),
    ("a plan of services only", plan_of_services, 100),
    ("a template of the CDK", cdk, 100),
    ("calls of a module", tree::calls, 50),
    ("keys of a resource", tree::keys, 250),
    ("queues with one dead-letter queue", many::sources, 50),
    ("functions on one queue", many::readers, 50),
];

fn measured(files: &[File]) -> Cost {
    // The directory is a repository, so that other files in the directory for temporary files do not matter.
    let own = files
        .iter()
        .map(|(name, text)| (&**name, &**text))
        .chain([(".git/HEAD", "")]);
    let directory = TemporaryDirectory::with_files(own);
    // A plan is checked only when named.
    let only = files.first().filter(|_| files.len() == 1);
    let path = only.map_or(directory.path().to_owned(), |(name, _)| directory.path().join(name));
    cost(&path)
}

const STORED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kernels.tsv");

fn stored() -> BTreeMap<String, Cost> {
    let text = std::fs::read_to_string(STORED).unwrap_or_default();
    let costs = text.lines().filter_map(|line| {
        let mut fields = line.split('\t');
        let name = fields.next()?.to_owned();
        let mut number = || fields.next()?.parse().ok();
        let (allocations, peak) = (number()?, number()?);
        Some((name, Cost { allocations, peak }))
    });
    costs.collect()
}

#[test]
fn runs_allocate_no_more_than_they_did() {
    if std::env::var_os("RAYON_NUM_THREADS").is_none_or(|count| count != "1") {
        // The counts are reproducible only on one thread, and the number of threads is fixed when a process starts.
        let itself = std::env::current_exe().unwrap();
        let mut alone = Command::new(itself);
        let status = alone.args(["--exact", "runs_allocate_no_more_than_they_did", "--nocapture"]);
        assert!(status.env("RAYON_NUM_THREADS", "1").status().unwrap().success());
        return;
    }
    // Values that are initialized once per process must not count.
    measured(&tree(1));
    let stored = stored();
    let (mut now, mut wrong) = (String::new(), Vec::new());
    for (name, files, size) in KERNELS {
        let (few, many) = (measured(&files(size)), measured(&files(4 * size)));
        writeln!(now, "{name}\t{}\t{}", many.allocations, many.peak).unwrap();
        if 10 * many.allocations > 41 * few.allocations || 10 * many.peak > 44 * few.peak {
            wrong.push(format!("{name}: grows faster than its input, {few:?} and {many:?}"));
        }
        let Some(before) = stored.get(name) else {
            wrong.push(format!("{name}: no figures are stored"));
            continue;
        };
        for (what, now, before) in [
            ("allocations", many.allocations, before.allocations),
            ("kB", many.peak, before.peak),
        ] {
            if now * 100 > before * (100 + MORE) || now * 100 < before * (100 - LESS) {
                wrong.push(format!("{name}: {now} {what}, {before} are stored"));
            }
        }
    }
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(STORED, now).unwrap();
        return;
    }
    assert!(
        wrong.is_empty(),
        "{}\n`UPDATE=1` stores the new figures",
        wrong.join("\n")
    );
}
