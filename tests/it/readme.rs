//! Checks README and `docs/`: their console blocks run, their lists match the program, their links work, and the book
//! contains every page. `UPDATE=1` rewrites the generated parts.

use crate::inputs::{entries, repository};
use regex::Regex;
use sqslint::diagnostic::Safety;
use sqslint::rules::RULES;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

const START: &str = "<!-- rules -->\n";
const END: &str = "<!-- /rules -->";

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Compares the file at `path` with its generated content, or rewrites it.
fn is_made(path: &str, expected: &str) {
    let path = repository(path);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, expected).unwrap();
    } else {
        assert_eq!(text(&path), expected, "UPDATE=1 rewrites it");
    }
}

/// Inserts `list` between the markers for rules in `page`.
fn with_rules(page: &str, list: &str) -> String {
    let (before, rest) = page.split_once(START).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    format!("{before}{START}{list}{END}{after}")
}

#[test]
fn console_blocks_run() {
    trycmd::TestCases::new()
        .env("LC_ALL", "C.UTF-8")
        .env("NO_COLOR", "1")
        .env("SQSLINT_FORMAT", "full")
        .case(readme_for_trycmd())
        .case("docs/*.md");
}

/// Writes a copy of the README in the syntax of trycmd, and returns its path. trycmd expects exit codes inside the code
/// blocks, where they would confuse readers, so the README has them in comments above the blocks.
fn readme_for_trycmd() -> PathBuf {
    let exits = Regex::new(r"<!-- exits with (\d) -->\n(```console\n.+\n)").unwrap();
    let page = text(&repository("README.md"));
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("README.md");
    std::fs::write(&copy, exits.replace_all(&page, "${2}? ${1}\n").as_ref()).unwrap();
    copy
}

#[test]
fn rules_page_lists_every_rule() {
    let rows = RULES.iter().map(|rule| {
        let (id, severity, set) = (rule.id, rule.severity, rule.set.name());
        let fix = rule.fix.map_or("", Safety::name);
        format!(
            "| [`{id}`](../rules/{id}.md) | {severity} | {set} | {fix} | {} |\n",
            rule.summary
        )
    });
    let head = "| rule | severity | set | fix | what it flags |\n| --- | --- | --- | --- | --- |\n";
    let table = head.to_owned() + &rows.collect::<String>();
    is_made(
        "docs/rules.md",
        &with_rules(&text(&repository("docs/rules.md")), &table),
    );
}

#[test]
fn readme_counts_the_rules_of_each_category() {
    let readme = text(&repository("README.md"));
    let categories: BTreeSet<&str> = RULES.iter().map(|rule| rule.category.name()).collect();
    for category in categories {
        let count = RULES.iter().filter(|rule| rule.category.name() == category).count();
        let row = format!("\n| `{category}` | {count} | ");
        assert!(readme.contains(&row), "the table has no row that begins with {row}");
    }
}

#[test]
fn picture_is_the_graph_of_the_example() {
    let output = Command::new(env!("CARGO_BIN_EXE_sqslint"))
        .args(["graph", "--format", "svg", "fixtures/stacks/orders/terraform"])
        .current_dir(repository(""))
        .output()
        .unwrap();
    is_made("docs/orders.svg", &String::from_utf8(output.stdout).unwrap());
}

/// Lists the pages for users, the README first.
fn pages() -> Vec<PathBuf> {
    let mut all = vec![repository("README.md"), repository("CONTRIBUTING.md")];
    for directory in ["docs", "rules"] {
        all.extend(entries(&repository(directory)));
    }
    all.retain(|path| path.extension().is_some_and(|end| end == "md"));
    all
}

/// Returns `page` without its code blocks.
fn prose(page: &str) -> String {
    let mut is_code = false;
    let outside = page.lines().filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    });
    outside.collect::<Vec<_>>().join("\n")
}

/// Returns the targets of links and pictures in `prose`, except URLs.
fn links(prose: &str) -> impl Iterator<Item = &str> {
    let targets = prose.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    targets.filter(|target| !target.contains("://") && !target.contains(char::is_whitespace))
}

/// Returns the anchor of a heading.
fn anchor(heading: &str) -> String {
    let kept = heading
        .to_lowercase()
        .chars()
        .filter(|&c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .collect::<String>();
    kept.replace(' ', "-")
}

#[test]
fn links_have_existing_targets() {
    let mut broken = Vec::new();
    for page in pages() {
        let prose = prose(&text(&page));
        for link in links(&prose) {
            let (file, place) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() {
                page.clone()
            } else {
                page.parent().unwrap().join(file)
            };
            let is_there = target.exists()
                && (place.is_empty()
                    || text(&target)
                        .lines()
                        .any(|line| line.starts_with('#') && anchor(line.trim_start_matches('#').trim()) == place));
            if !is_there {
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn links_are_found() {
    let page = "[a](b.md#c-d) and ![x](y.svg), [w](https://example.org)\n```\n[no](code)\n```\n";
    assert_eq!(links(&prose(page)).collect::<Vec<_>>(), ["b.md#c-d", "y.svg"]);
    assert_eq!(
        anchor("`sqslint simulate`, and --since"),
        "sqslint-simulate-and---since"
    );
}

/// Generates the book's list of rules, and requires that the summary contains every page of `docs/`.
#[test]
fn book_contains_every_page() {
    let path = repository("docs/SUMMARY.md");
    let mut list = String::new();
    let mut category = "";
    for rule in RULES {
        if rule.category.name() != category {
            category = rule.category.name();
            list.push_str(&format!("  - [{category}]()\n"));
        }
        list.push_str(&format!("    - [{0}](../rules/{0}.md)\n", rule.id));
    }
    let summary = with_rules(&text(&path), &list);
    is_made("docs/SUMMARY.md", &summary);
    for page in entries(&repository("docs")) {
        let name = page.file_name().unwrap().to_string_lossy();
        let is_chapter = name.ends_with(".md") && name != "SUMMARY.md";
        assert!(
            !is_chapter || summary.contains(&format!("]({name})")),
            "docs/SUMMARY.md lacks {name}"
        );
    }
}
