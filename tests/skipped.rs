//! Prints which tests were skipped because a program or data is missing on this machine.
//!
//! This is a separate executable without the test harness, which would capture the output. Its name is the last one, so
//! that `cargo test` prints this at the end.
#![allow(clippy::print_stdout, reason = "its purpose")]

use needs::NEEDS;

fn main() {
    // Test runners request a list of the tests, which is empty.
    if std::env::args().any(|argument| argument == "--list") {
        return;
    }
    let missing: Vec<_> = NEEDS.iter().filter(|need| !need.is_available()).collect();
    if missing.is_empty() {
        println!("\nNo test was skipped: all optional programs and data are available.");
        return;
    }
    println!("\nSkipped, because something they need is missing:");
    for need in missing {
        println!("  {} ({})", need.tests, need.name);
    }
}
