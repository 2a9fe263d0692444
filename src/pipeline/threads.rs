//! The threads of a run.

/// Parsers and evaluators recurse within bounds that need more than the 2 MiB of a default thread.
const STACK_SIZE: usize = 8 << 20;

/// Runs `run` on threads with enough stack, a thread a processor. Where the system allows fewer (a limit on processes,
/// a container with little memory), on one; where it allows none, on the caller's, whose stack has to do: that of a
/// main thread is as large on Linux and macOS.
pub(crate) fn on_own_threads<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    let threads = |count| {
        rayon::ThreadPoolBuilder::new()
            .num_threads(count)
            .stack_size(STACK_SIZE)
    };
    let all_processors = 0;
    match threads(all_processors).build().or_else(|_| threads(1).build()) {
        Ok(pool) => pool.install(run),
        // Rayon has to be told: with no pool around it, it would make one of its own, and panic where it cannot.
        Err(_) => match threads(1).use_current_thread().build() {
            Ok(pool) => pool.install(run),
            // An earlier run has told it: a thread that is part of a pool stays part of it.
            Err(_) => run(),
        },
    }
}
