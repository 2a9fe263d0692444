//! Checks arbitrary bytes as input: no panic, which would fail the test, and no hang, which would fail the run.

mod damage;
mod memory;
mod modules;
pub(crate) mod mutated;
mod names;
mod repeated;
mod templates;
mod threads;

/// Runs `work` on threads with as much stack as the library's own.
fn on_large_stack(work: impl FnOnce() + Send) {
    let pool = rayon::ThreadPoolBuilder::new()
        .stack_size(8 << 20)
        .build()
        .expect("threads can be made");
    pool.install(work);
}
