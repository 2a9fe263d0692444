//! Runs transcripts of the command line: arguments, output, exit code.
//!
//! This is a separate executable because it needs only the program: `TRYCMD=overwrite cargo test --test cli` builds no
//! other test.

#[test]
fn transcripts_match() {
    trycmd::TestCases::new()
        .env("LC_ALL", "C.UTF-8")
        .env("NO_COLOR", "1")
        .env("SQSLINT_FORMAT", "full")
        .case("tests/cmd/*.toml")
        .case("tests/cmd/*.trycmd");
}
