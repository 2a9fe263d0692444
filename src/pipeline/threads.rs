//! Provides the threads of a run.

/// Stack size of a thread. Parsers and evaluators recurse within limits that need more than the default of 2 MiB.
const STACK_SIZE: usize = 8 << 20;

/// Calls `run` on threads with a sufficient stack, one per processor. If the system does not allow as many (because of
/// a limit on processes, or a container with little memory), uses a single thread. If it allows none, uses the caller's
/// thread: the stack of a main thread is sufficient on Linux and macOS.
pub(crate) fn on_own_threads<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    let threads = |count| {
        rayon::ThreadPoolBuilder::new()
            .num_threads(count)
            .stack_size(STACK_SIZE)
    };
    let all_processors = 0;
    match threads(all_processors).build().or_else(|_| threads(1).build()) {
        Ok(pool) => pool.install(run),
        // Without a pool, Rayon would create its own, and panic if it cannot.
        Err(_) => match threads(1).use_current_thread().build() {
            Ok(pool) => pool.install(run),
            // An earlier run has already added this thread to a pool, permanently.
            Err(_) => run(),
        },
    }
}
