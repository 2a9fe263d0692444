//! Reads the arguments, prints, and chooses the exit code. Everything else is in the library.

mod cli;

use clap::Parser;
use cli::{Cli, Exit, Streams};
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

/// Allocator of the program. That of musl is several times slower on several threads. WebAssembly has none, and keeps
/// its own.
#[cfg(not(target_family = "wasm"))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // WebAssembly starts in `/`; its launcher says where the user is.
    if let Some(directory) = std::env::var_os("PWD").filter(|_| cfg!(target_family = "wasm")) {
        let _ = std::env::set_current_dir(directory);
    }
    let arguments = match Cli::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let error = cli::with_check(error);
            // A failure to print, to a closed pipe for instance, does not change the exit code.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(Exit::Failed as u8));
        }
    };
    let mut streams = Streams {
        out: &mut Pipe(io::stdout()),
        err: &mut Pipe(io::stderr()),
    };
    match arguments.run(&mut streams) {
        Ok(exit) => ExitCode::from(exit as u8),
        Err(error) => {
            let _ = writeln!(streams.err, "sqslint: cannot write: {error}");
            ExitCode::from(Exit::Failed as u8)
        }
    }
}

/// A stream that may be closed early: further output is dropped, and the run keeps its own exit code.
struct Pipe<W>(W);

impl<W: Write> Write for Pipe<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.write(bytes) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(bytes.len()),
            written => written,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.0.flush() {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            flushed => flushed,
        }
    }
}
