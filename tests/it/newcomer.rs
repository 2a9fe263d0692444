//! Tests `docs/first-ten-minutes.md`: its commands run one after the other in an empty folder, and must print what the
//! page shows. `UPDATE=1` rewrites the shown output.
#![cfg(unix)]

use crate::inputs::repository;
use needs::{BASH, GIT};
use sqslint::testing::TemporaryDirectory;
use std::process::Command;

const PAGE: &str = "docs/first-ten-minutes.md";
const SHELL: &str = "```sh\n";
const PRINTED: &str = "```text\n";
const END: &str = "```\n";
/// Line that separates the output of two blocks.
const MARK: &str = "-- the next block --";

/// Returns the blocks of the page that begin with `fence`: the offset of their text, and the text.
fn blocks<'p>(page: &'p str, fence: &str) -> Vec<(usize, &'p str)> {
    page.match_indices(fence)
        .map(|(at, _)| {
            let start = at + fence.len();
            let (text, _) = page[start..].split_once(END).expect("a block ends");
            (start, text)
        })
        .collect()
}

#[test]
fn first_ten_minutes_page_shows_the_real_output() {
    if !BASH.is_available() || !GIT.is_available() {
        return;
    }
    let path = repository(PAGE);
    let page = std::fs::read_to_string(&path).expect("it is there");
    let scripts = blocks(&page, SHELL);
    let whole: Vec<String> = scripts
        .iter()
        .map(|(_, text)| format!("{text}echo '{MARK}'\n"))
        .collect();
    let place = TemporaryDirectory::with_files([("home/.gitconfig", "[user]\nname = a\nemail = a@example.org\n")]);
    let empty = place.path().join("empty");
    std::fs::create_dir(&empty).expect("it is writable");
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_sqslint"));
    let programs = program.parent().expect("it has a directory").display();
    let found = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("bash")
        .args(["--noprofile", "--norc", "-c", &format!("exec 2>&1\n{}", whole.concat())])
        .current_dir(&empty)
        .env("PATH", format!("{programs}:{found}"))
        .env("HOME", place.path().join("home"))
        .env("LC_ALL", "C.UTF-8")
        .env("NO_COLOR", "1")
        .env_remove("GITHUB_ACTIONS")
        .output()
        .expect("bash is there");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let said: Vec<&str> = said.split_terminator(&format!("{MARK}\n")).collect();
    assert_eq!(said.len(), scripts.len(), "{said:?}");
    let mut made = page.clone();
    for ((start, text), said) in scripts.iter().zip(&said).rev() {
        let after = start + text.len() + END.len();
        let Some(printed) = page[after..].trim_start().strip_prefix(PRINTED) else {
            assert_eq!(*said, "", "the page does not show what `{text}` prints");
            continue;
        };
        let begin = page.len() - printed.len();
        let end = begin + printed.split_once(END).expect("a block ends").0.len();
        made.replace_range(begin..end, said);
    }
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, made).expect("it is writable");
    } else {
        assert_eq!(page, made, "UPDATE=1 rewrites it");
    }
}
