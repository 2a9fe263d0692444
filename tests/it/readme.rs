//! The README is true: its console blocks run, and its table is the list of rules (`UPDATE=1` rewrites it).

use crate::inputs::repository;
use sqslint::diagnostic::Safety;
use sqslint::rules::RULES;

const START: &str = "<!-- rules -->\n";
const END: &str = "<!-- /rules -->";

#[test]
fn console_blocks_run() {
    trycmd::TestCases::new()
        .env("LC_ALL", "C.UTF-8")
        .env("NO_COLOR", "1")
        .env("SQSLINT_FORMAT", "full")
        .case("README.md");
}

fn table() -> String {
    let rows = RULES.iter().map(|rule| {
        let (id, severity, set) = (rule.id, rule.severity, rule.set.name());
        let fix = rule.fix.map_or("", Safety::name);
        format!(
            "| [`{id}`](rules/{id}.md) | {severity} | {set} | {fix} | {} |\n",
            rule.summary
        )
    });
    let head = "| rule | severity | set | fix | what it flags |\n| --- | --- | --- | --- | --- |\n";
    head.to_owned() + &rows.collect::<String>()
}

#[test]
fn the_table_lists_every_rule() {
    let path = repository("README.md");
    let readme = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = readme.split_once(START).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let expected = format!("{before}{START}{}{END}{after}", table());
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &expected).unwrap();
        return;
    }
    assert_eq!(readme, expected, "UPDATE=1 rewrites the table");
}
