//! Connects the bodies of `targets.rs` to `cargo fuzz`: writes seeds to the corpus, and has a mutator that recognizes
//! blocks, numbers and anchors.

#[allow(dead_code, reason = "the ordinary tests use more of it")]
mod mutate;
mod seeds;
mod targets;

use mutate::{Random, changed};
use std::path::Path;
use std::sync::OnceLock;
use targets::{TARGETS, Target};

/// Defines the fuzz target with the body `$name`.
#[macro_export]
macro_rules! target {
    ($name:literal) => {
        libfuzzer_sys::fuzz_target!(init: $crate::plant($name), |data: &[u8]| $crate::run($name, data));
        libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, most: usize, seed: u32| {
            $crate::mutate($name, data, size, most, seed)
        });
    };
}

fn named(name: &str) -> &'static Target {
    TARGETS.iter().find(|target| target.name == name).expect("it is in the table")
}

/// Adds the missing seeds to the corpus.
pub fn plant(name: &str) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
    std::fs::create_dir_all(&corpus).expect("the corpus is writable");
    for seed in (named(name).seeds)() {
        let path = corpus.join(seed.name.replace(['/', '\\'], "-"));
        if !path.exists() {
            std::fs::write(path, seed.bytes).expect("the corpus is writable");
        }
    }
}

/// Runs the body.
pub fn run(name: &str, data: &[u8]) {
    (named(name).run)(data);
}

/// Changes the structure of every second input, and arbitrary bytes of the others.
pub fn mutate(name: &str, data: &mut [u8], size: usize, most: usize, seed: u32) -> usize {
    static DONORS: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    if seed % 2 == 0 {
        return libfuzzer_sys::fuzzer_mutate(data, size, most);
    }
    let donors = DONORS.get_or_init(|| (named(name).seeds)().into_iter().map(|seed| seed.bytes).collect());
    let mut random = Random::new(seed.into());
    let donor = &donors[random.below(donors.len())];
    let changed = changed(&data[..size], donor, &mut random);
    let length = changed.len().min(most);
    data[..length].copy_from_slice(&changed[..length]);
    length
}
