//! Transcripts of the command line: arguments, output, exit code.

#[test]
fn transcripts() {
    trycmd::TestCases::new()
        .env("LC_ALL", "C.UTF-8")
        .env("NO_COLOR", "1")
        .env("SQSLINT_FORMAT", "full")
        .case("tests/cmd/*.toml")
        .case("tests/cmd/*.trycmd");
}
