//! Whatever the bytes: no panic, which fails the test, and no hang, which fails the run.

mod damage;
mod memory;
mod modules;
pub(crate) mod mutated;
mod names;
mod templates;
mod threads;

/// On threads with as much stack as the library's own.
fn on_large_stack(work: impl FnOnce() + Send) {
    let pool = rayon::ThreadPoolBuilder::new()
        .stack_size(8 << 20)
        .build()
        .expect("threads can be made");
    pool.install(work);
}
