//! Every command, flag, value and setting stands in a test: in a command line of a transcript, in the code of a test, or
//! in a configuration that one of them reads. What help and manuals print does not count.

use super::Cli;
use clap::{Command, CommandFactory};
use sqslint::rules::{RULES, by_id};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What tests say, line by line.
struct Said {
    /// Command lines of transcripts, without the program's name.
    typed: Vec<String>,
    /// What stands before the program's name in them.
    before: Vec<String>,
    /// Lines of the tests' code.
    code: Vec<String>,
    /// Configurations, and code in which there may be some.
    settings: Vec<String>,
}

fn files(directory: &Path, ends: &[&str], found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).expect("it is there").flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, ends, found);
        } else if ends.iter().any(|end| path.to_string_lossy().ends_with(end)) {
            found.push(path);
        }
    }
}

impl Said {
    fn read() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let texts = |directory: &str, ends: &[&str]| {
            let mut found = Vec::new();
            files(&root.join(directory), ends, &mut found);
            let texts = found
                .iter()
                .map(|path| std::fs::read_to_string(path).expect("it is a text"));
            texts.collect::<Vec<_>>()
        };
        let mut transcripts = texts("tests/cmd", &[".trycmd"]);
        // The console blocks of these are executed.
        transcripts.push(std::fs::read_to_string(root.join("README.md")).expect("it is there"));
        transcripts.extend(texts("docs", &[".md"]));
        let lines = transcripts.iter().flat_map(|text| text.lines());
        let lines = lines.filter_map(|line| line.strip_prefix("$ ")?.split_once("sqslint "));
        let (before, typed) = lines.map(|(before, rest)| (before.to_owned(), rest.to_owned())).unzip();
        let code = texts("tests", &[".rs"]);
        let mut settings = texts("tests", &["sqslint.toml"]);
        settings.extend(texts("tests/cmd", &[".toml"]));
        settings.extend(texts("fixtures", &["sqslint.toml"]));
        // The blocks of these are executed.
        settings.extend(texts("rules", &[".md"]));
        settings.push(std::fs::read_to_string(root.join("docs/policies.md")).expect("it is there"));
        settings.extend(code.iter().map(|text| text.replace("\\\"", "\"").replace("\\n", "\n")));
        Said {
            typed,
            before,
            code: code
                .iter()
                .flat_map(|text| text.lines())
                .map(ToOwned::to_owned)
                .collect(),
            settings,
        }
    }

    /// Whether a test types `words`, in this order and at the beginning, and later `flag` with `value`.
    fn types(&self, words: &[&str], flag: &str, value: Option<&str>) -> bool {
        let is_typed = |line: &String| {
            let typed: Vec<&str> = line.split(|c: char| c.is_whitespace() || "='\"".contains(c)).collect();
            let at = |word: &str| typed.iter().position(|one| *one == word);
            let begins = typed.starts_with(words) || (typed.first() == Some(&"help") && typed[1..].starts_with(words));
            let follows = |at: usize| value.is_none_or(|value| typed.get(at + 1) == Some(&value));
            begins && (flag.is_empty() || at(flag).is_some_and(follows))
        };
        let in_code = |line: &String| {
            let command = words.first().copied().unwrap_or_default();
            // What is judged is checked: the flags of `check` need not stand beside its name.
            let is_of = command == "check" || holds(line, command);
            let follows = |rest: &str| {
                let rest = rest.trim_start_matches(['"', ',', ' ', '=', '&', '[']);
                value.is_none_or(|value| rest.starts_with(value) && !continues(&rest[value.len()..]))
            };
            is_of
                && (flag.is_empty() && words.iter().all(|word| holds(line, &format!("\"{word}\"")))
                    || !flag.is_empty()
                        && line.match_indices(flag).any(|(at, _)| {
                            let rest = &line[at + flag.len()..];
                            !continues(rest) && follows(rest)
                        }))
        };
        self.typed.iter().any(is_typed) || self.code.iter().any(in_code)
    }

    /// Whether a configuration has all of `texts` in it.
    fn sets(&self, texts: &[&str]) -> bool {
        self.settings
            .iter()
            .any(|text| texts.iter().all(|part| holds(text, part)))
    }
}

/// Whether a word goes on.
fn continues(rest: &str) -> bool {
    rest.starts_with(|c: char| c.is_alphanumeric() || c == '-' || c == '_')
}

/// Whether `word` stands in `text` as a whole.
fn holds(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let is_start = !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '-' || c == '_');
        is_start && !continues(&text[at + word.len()..])
    })
}

/// Goes through `command`, whose name is `words`, and everything below it.
fn walk(command: &Command, words: &[&str], said: &Said, missing: &mut BTreeSet<String>) {
    for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
        let words = [words, &[below.get_name()]].concat();
        if !said.types(&words, "", None) {
            missing.insert(format!("sqslint {}", words.join(" ")));
        }
        walk(below, &words, said, missing);
    }
    // What the parts of a command share is typed for one of them.
    let shared = words.get(..1).unwrap_or_default();
    for argument in command
        .get_arguments()
        .filter(|one| !["help", "version"].contains(&one.get_id().as_str()))
    {
        let flag = argument.get_long().map(|long| format!("--{long}"));
        if let Some(flag) = &flag
            && !said.types(shared, flag, None)
        {
            missing.insert(format!("sqslint {} {flag}", words.join(" ")));
        }
        for value in argument
            .get_possible_values()
            .iter()
            // Names of rules are hidden, and each has tests of its own.
            .filter(|_| argument.get_action().takes_values() && !argument.is_hide_possible_values_set())
        {
            let name = value.get_name();
            let is_typed = match &flag {
                Some(flag) => said.types(shared, flag, Some(name)),
                None => said.types(&[shared, &[name]].concat(), "", None),
            };
            if !is_typed {
                missing.insert(format!(
                    "sqslint {} {} {name}",
                    words.join(" "),
                    flag.as_deref().unwrap_or("")
                ));
            }
        }
    }
}

#[test]
fn every_command_flag_and_value_stands_in_a_test() {
    let mut command = Cli::command();
    command.build();
    let mut missing = BTreeSet::new();
    walk(&command, &[], &Said::read(), &mut missing);
    assert!(
        missing.is_empty(),
        "no test has\n{}",
        missing.into_iter().collect::<Vec<_>>().join("\n")
    );
}

/// The keys of an object of the schema and of what lies below it.
fn keys<'s>(schema: &'s serde_json::Value, found: &mut BTreeSet<&'s str>) {
    match schema {
        serde_json::Value::Object(members) => {
            if let Some(properties) = members.get("properties").and_then(|one| one.as_object()) {
                let keys = properties.keys().map(String::as_str);
                // What may be set of each rule is asked for by itself.
                found.extend(keys.filter(|key| by_id(key).is_none()));
            }
            members.values().for_each(|member| keys(member, found));
        }
        serde_json::Value::Array(items) => items.iter().for_each(|item| keys(item, found)),
        _ => {}
    }
}

#[test]
fn every_setting_stands_in_a_test() {
    let said = Said::read();
    let schema = serde_json::from_str(sqslint::config::SCHEMA).expect("it is JSON");
    let mut all = BTreeSet::new();
    keys(&schema, &mut all);
    assert!(all.contains("fail-level") && all.contains("extend-to"), "{all:?}");
    let is_set = |key: &str| {
        let tables = [format!("[[{key}]]"), format!(".{key}]]")];
        said.sets(&[&format!("{key} =")])
            || tables
                .iter()
                .any(|table| said.settings.iter().any(|one| one.contains(table)))
    };
    let mut missing: Vec<String> = all
        .iter()
        .filter(|key| !is_set(key) && **key != "rules")
        .map(ToString::to_string)
        .collect();
    for level in ["error", "warning", "info", "never"] {
        missing.extend((!said.sets(&[&format!("fail-level = \"{level}\"")])).then(|| format!("fail-level = {level}")));
    }
    for severity in ["error", "warning", "info"] {
        missing
            .extend((!said.sets(&[&format!("severity = \"{severity}\"")])).then(|| format!("severity = {severity}")));
    }
    missing.extend((!said.sets(&["suppressible = false"])).then(|| "suppressible".to_owned()));
    for rule in RULES {
        for setting in rule.settings {
            let (table, key) = (format!("[rules.{}]", rule.id), format!("{} =", setting.name));
            let inline = format!("rules.{}.{} =", rule.id, setting.name);
            if !said.sets(&[&table, &key]) && !said.sets(&[&inline]) {
                missing.push(inline);
            }
        }
    }
    assert!(missing.is_empty(), "no test sets\n{}", missing.join("\n"));
}

#[test]
fn every_variable_of_the_environment_stands_in_a_test() {
    let said = Said::read();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut sources = Vec::new();
    files(&root.join("src"), &[".rs"], &mut sources);
    let mut names: BTreeSet<String> = BTreeSet::new();
    let is_test = |part: std::path::Component<'_>| ["tests", "tests.rs"].iter().any(|name| part.as_os_str() == *name);
    let is_code = |path: &&PathBuf| {
        !path
            .strip_prefix(root)
            .is_ok_and(|below| below.components().any(is_test))
    };
    for path in sources.iter().filter(is_code) {
        let text = std::fs::read_to_string(path).expect("it is a text");
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        for start in ["env::var(\"", "env::var_os(\"", "env = \""] {
            let found = code.split(start).skip(1).filter_map(|rest| rest.split('"').next());
            names.extend(found.map(ToOwned::to_owned));
        }
    }
    assert!(
        names.contains("SQSLINT_FORMAT") && names.contains("NO_GRAPHICS"),
        "{names:?}"
    );
    let is_set = |name: &String| {
        said.before.iter().any(|line| holds(line, name)) || said.code.iter().any(|line| holds(line, name))
    };
    let missing: Vec<&String> = names.iter().filter(|name| !is_set(name)).collect();
    assert!(missing.is_empty(), "no test sets {missing:?}");
}

#[test]
fn what_init_writes_has_every_setting_and_is_one() {
    let template = &*super::config::template();
    let set = template.lines().map(|line| line.strip_prefix("# ").unwrap_or(line));
    // A sentence is none, and files that it builds on are not there.
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
        sqslint::config::Configs::new(source, Vec::new(), &sqslint::files::Files::default()).of(Path::new("/"));
    assert_eq!(config.expect("every line is understood").consumers.len(), 2);
    let schema = serde_json::from_str(sqslint::config::SCHEMA).expect("it is JSON");
    let mut all = BTreeSet::new();
    keys(&schema, &mut all);
    for key in all {
        assert!(key == "rules" || holds(template, key), "`{key}` is not in it");
    }
    for rule in RULES.iter().filter(|rule| !rule.settings.is_empty()) {
        let settings = rule.settings.iter();
        let set = settings.map(|setting| format!("# {} = {}  # {}\n", setting.name, setting.default, setting.summary));
        let table = format!("# [rules.{}]\n{}\n", rule.id, set.collect::<String>());
        assert!(template.contains(&table), "{table} is not in it");
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
        let script = String::from_utf8(script).expect("it is a text");
        for name in ["visibility-timeout-too-short", "redrive", "pedantic", "sarif"] {
            assert!(script.contains(name), "{shell}: {name}");
        }
    }
}
