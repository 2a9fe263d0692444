//! Tests of text that the program generates: the configuration of `init`, and completions.

use super::Cli;
use clap::CommandFactory;
use sqslint::rules::{RULES, by_id};
use std::collections::BTreeSet;
use std::path::Path;

/// Returns whether `rest` continues the word before it.
fn continues(rest: &str) -> bool {
    rest.starts_with(|c: char| c.is_alphanumeric() || c == '-' || c == '_')
}

/// Returns whether `text` contains `word` as a whole word.
fn holds(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let is_start = !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '-' || c == '_');
        is_start && !continues(&text[at + word.len()..])
    })
}

/// Collects the keys of a schema object and of its descendants.
fn keys<'s>(schema: &'s serde_json::Value, found: &mut BTreeSet<&'s str>) {
    match schema {
        serde_json::Value::Object(members) => {
            if let Some(properties) = members.get("properties").and_then(|one| one.as_object()) {
                let keys = properties.keys().map(String::as_str);
                // The settings of rules are compared below.
                found.extend(keys.filter(|key| by_id(key).is_none()));
            }
            members.values().for_each(|member| keys(member, found));
        }
        serde_json::Value::Array(items) => items.iter().for_each(|item| keys(item, found)),
        _ => {}
    }
}

#[test]
fn init_writes_every_setting_in_valid_syntax() {
    let template = &*super::config::template();
    let set = template.lines().map(|line| line.strip_prefix("# ").unwrap_or(line));
    // Leaves out sentences, and settings that name files, which do not exist here.
    let is_one =
        |line: &&str| line.starts_with('[') || line.split_once(" = ").is_some_and(|(key, _)| !key.contains(' '));
    let set: Vec<&str> = set
        .filter(is_one)
        .filter(|line| !line.starts_with("extend") && !line.starts_with("policies"))
        .collect();
    let source = sqslint::config::Source {
        lines: vec![set.join("\n")],
        isolated: true,
        ..Default::default()
    };
    let config =
        sqslint::config::Configs::new(source, Vec::new(), &source::files::Files::default()).for_path(Path::new("/"));
    assert_eq!(config.expect("every line is valid").consumers.len(), 2);
    let schema = serde_json::from_str(sqslint::config::SCHEMA).expect("the schema is JSON");
    let mut all = BTreeSet::new();
    keys(&schema, &mut all);
    for key in all {
        assert!(key == "rules" || holds(template, key), "`{key}` is missing");
    }
    for rule in RULES.iter().filter(|rule| !rule.settings.is_empty()) {
        let settings = rule.settings.iter();
        let set = settings.map(|setting| format!("# {} = {}  # {}\n", setting.name, setting.default, setting.summary));
        let table = format!("# [rules.{}]\n{}\n", rule.id, set.collect::<String>());
        assert!(template.contains(&table), "{table} is missing");
    }
}

#[test]
fn shells_complete_names_of_rules() {
    for shell in [
        clap_complete::Shell::Bash,
        clap_complete::Shell::Fish,
        clap_complete::Shell::Zsh,
    ] {
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut Cli::command(), "sqslint", &mut script);
        let script = String::from_utf8(script).expect("scripts are UTF-8");
        for name in ["visibility-timeout-too-short", "redrive", "pedantic", "sarif"] {
            assert!(script.contains(name), "{shell}: {name}");
        }
    }
}

/// Flags of other programs that texts mention without their command.
const OF_OTHER_PROGRAMS: [&str; 4] = ["--all-files", "--files", "--sleep", "--time-limit"];

/// Returns the pieces of code in `text`: between backticks, and the lines of fenced blocks.
fn code(text: &str) -> Vec<&str> {
    let mut is_fenced = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
        } else if is_fenced {
            found.push(line);
        } else {
            found.extend(line.split('`').skip(1).step_by(2));
        }
    }
    found
}

/// Returns the long flags of `command` and of the commands below it.
fn flags(command: &clap::Command) -> BTreeSet<String> {
    let own = command.get_arguments().filter_map(|argument| argument.get_long());
    let own = own.chain(["help", "version"]).map(|name| format!("--{name}"));
    own.chain(command.get_subcommands().flat_map(flags)).collect()
}

#[test]
fn flags_that_texts_mention_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let all = Cli::command();
    let every = flags(&all);
    let mut paths = vec![root.join("README.md"), root.join("editors/vscode/README.md")];
    let mut directories = vec![root.join("rules"), root.join("docs"), root.join("src")];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).expect("the directory exists") {
            let path = entry.expect("it can be read").path();
            if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md" || ending == "rs") {
                paths.push(path);
            }
        }
    }
    let mut mentioned = 0;
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("it is text");
        for code in code(&text) {
            let code = code.trim().trim_start_matches("$ ");
            let known = match code.strip_prefix("sqslint ") {
                None if code.starts_with("--") => &every,
                None => continue,
                Some(rest) => {
                    let command = rest.split(' ').next().and_then(|name| all.find_subcommand(name));
                    &command.map_or_else(|| every.clone(), flags)
                }
            };
            let own = code.split(['|', '>', '&', ';']).next().unwrap_or(code);
            let is_flag = |word: &&str| {
                word.strip_prefix("--")
                    .is_some_and(|name| name.starts_with(char::is_alphabetic))
            };
            for word in own.split(' ').filter(is_flag) {
                let end = word.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
                let flag = word.get(..end.unwrap_or(word.len())).unwrap_or(word);
                let is_known = known.contains(flag) || OF_OTHER_PROGRAMS.contains(&flag);
                assert!(is_known, "{}: `{code}` names {flag}", path.display());
                mentioned += 1;
            }
        }
    }
    assert!(mentioned > 100, "the search finds {mentioned} flags");
}
