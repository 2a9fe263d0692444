//! Says which tests did nothing, for want of programs or data that not every machine has.
//!
//! An executable of its own, without the test harness, which would keep what it prints to itself; and the last by its
//! name, so that this is the end of what `cargo test` prints.
#![allow(clippy::print_stdout, reason = "its purpose")]

use sqslint::testing::needs::NEEDS;

fn main() {
    // A test runner asks for the names of the tests: there are none.
    if std::env::args().any(|argument| argument == "--list") {
        return;
    }
    let missing: Vec<_> = NEEDS.iter().filter(|need| !need.is_met()).collect();
    if missing.is_empty() {
        println!("\nNo test was skipped: all that some need is here.");
        return;
    }
    println!("\nSkipped, for want of what they need:");
    for need in missing {
        println!("  {} ({})", need.tests, need.name);
    }
}
