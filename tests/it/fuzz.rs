//! Runs the bodies of the fuzz targets on stable Rust, over some of their seeds and mutations of these, the same ones
//! in every run. `tests/fuzz` is the package of the targets; CONTRIBUTING.md explains how to run them for longer.
//!
//! `SQSLINT_FUZZ_CHANGES` sets the number of mutations per seed, `SQSLINT_MUTATION_SEED` the random seed that chooses
//! them.

#[path = "../fuzz/src/mutate.rs"]
pub(crate) mod mutate;
#[path = "../fuzz/src/seeds.rs"]
mod seeds;
#[path = "../fuzz/src/targets.rs"]
mod targets;

use crate::hostile::mutated::number;
use crate::inputs::{entries, repository};
use mutate::{Random, changed};
use std::panic::catch_unwind;
use targets::{TARGETS, Target};

/// Number of seeds run per target, spread evenly over all seeds.
const SEEDS: usize = 8;
/// Default number of mutations per seed.
const CHANGES: u64 = 2;

fn runs(target: &Target) {
    let seeds = (target.seeds)();
    assert!(seeds.len() >= SEEDS, "{} has {} seeds", target.name, seeds.len());
    let mut random = Random::new(number("SQSLINT_MUTATION_SEED", 16));
    let times = number("SQSLINT_FUZZ_CHANGES", CHANGES);
    for seed in seeds.iter().step_by(seeds.len() / SEEDS) {
        let donor = &seeds[random.below(seeds.len())];
        let changed = (0..times).map(|_| changed(&seed.bytes, &donor.bytes, &mut random));
        for input in std::iter::once(seed.bytes.clone()).chain(changed) {
            let tried = catch_unwind(|| (target.run)(&input));
            assert!(
                tried.is_ok(),
                "{}, from {}:\n{}",
                target.name,
                seed.name,
                String::from_utf8_lossy(&input)
            );
        }
    }
}

/// Generates one test per target, and the list that the test below compares with all targets.
macro_rules! tests {
    ($($name:ident)*) => {
        const TESTED: &[&str] = &[$(stringify!($name)),*];
        $(#[test]
        fn $name() {
            runs(TARGETS.iter().find(|target| target.name == stringify!($name)).unwrap());
        })*
    };
}

tests!(terraform terraform_expression yaml json plan configuration policy suppressions source variables traffic server check);

#[test]
fn every_target_has_a_file_a_program_and_a_test() {
    let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    assert_eq!(names, TESTED);
    let manifest = std::fs::read_to_string(repository("tests/fuzz/Cargo.toml")).unwrap();
    let programs = manifest.split("[[bin]]").skip(1);
    let programs: Vec<String> = programs
        .map(|lines| lines.split('"').nth(1).unwrap_or_default().to_owned())
        .collect();
    assert_eq!(names, programs);
    for name in &names {
        let file = std::fs::read_to_string(repository(&format!("tests/fuzz/fuzz_targets/{name}.rs"))).unwrap();
        assert_eq!(file, format!("#![no_main]\nsqslint_fuzz::target!(\"{name}\");\n"));
        assert!(
            manifest.contains(&format!("path = \"fuzz_targets/{name}.rs\"")),
            "{name}"
        );
    }
    assert_eq!(entries(&repository("tests/fuzz/fuzz_targets")).len(), names.len());
}
