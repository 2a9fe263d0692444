//! Transcripts of the command line: arguments, output, exit code.
//!
//! An executable of its own: it needs the program only, so `TRYCMD=overwrite cargo test --test cli` builds no other test.

#[test]
fn transcripts() {
    trycmd::TestCases::new()
        .env("LC_ALL", "C.UTF-8")
        .env("NO_COLOR", "1")
        .env("SQSLINT_FORMAT", "full")
        .case("tests/cmd/*.toml")
        .case("tests/cmd/*.trycmd");
}
