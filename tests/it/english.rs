//! Checks the prose of the modules that have been rewritten in plain English: comments, documentation, names, and the
//! subjects of commits.
//!
//! [`DONE`] lists those modules and only grows. The glossary in `ARCHITECTURE.md` has the words to use instead.

use crate::inputs::{entries, repository};
use needs::GIT;
use regex::Regex;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// Files and directories whose prose is checked.
const DONE: &[&str] = &[
    "crates",
    "src/cli",
    "src/cli.rs",
    "src/config",
    "src/config.rs",
    "src/diagnostic",
    "src/diagnostic.rs",
    "src/discover",
    "src/discover.rs",
    "src/explain",
    "src/explain.rs",
    "src/fixes",
    "src/fixes.rs",
    "src/frontend",
    "src/frontend.rs",
    "src/graph",
    "src/graph.rs",
    "src/history",
    "src/history.rs",
    "src/ignores.rs",
    "src/inputs.rs",
    "src/lib.rs",
    "src/main.rs",
    "src/pipeline",
    "src/pipeline.rs",
    "src/policy",
    "src/policy.rs",
    "src/published.rs",
    "src/report",
    "src/report.rs",
    "src/rules",
    "src/rules.rs",
    "src/selection.rs",
    "src/server",
    "src/server.rs",
    "src/suppress",
    "src/suppress.rs",
    "src/testing",
    "src/testing.rs",
    "src/trials.rs",
    "tests",
];

/// Words and turns that are not used in this field.
static ODD: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?ix)\b(
            nobody | somebody | whoever | whom | anew | in\ vain | besides | spoken | hushed | silenced | undelivered
            | (is|are)\ (none|told|another|others) | (tells?|speaks?|hears?)(\ of)? | told | as\ it\ was
            | stands?\ (in|at|there|behind|before|beside) | lies\ (in|at|beside|below|under)
            | comes?\ to\ (light|an\ end) | one\ a\ line | (once|one)\ a\ (queue|run|unit|file|resource)
            | leads?\ (there|to\ nothing) | of\ its\ own\ accord | goes\ without\ saying | all\ the\ same | hands?\ on
            | lets?\ go | what\ is\ (asked|said|told|given) | asked\ for\ by | at\ one\ time | thing\ that\ is\ none
        )\b",
    )
    .expect("the word list is a valid expression")
});

/// Openings of a doc comment that put neither a noun nor a verb first.
static HEADLESS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"^(What|Whether|How|Where|Which|Why|Who|Whose|When|The same|As|One|Those|That|Of|In|By|For|With|It|Nothing|Something|Everything|All that|None|So that|Not)\b",
    )
    .expect("the openings are a valid expression")
});

static CODE_SPAN: LazyLock<Regex> = LazyLock::new(|| Regex::new("`[^`]*`").expect("a valid expression"));
/// Files with `#` comments whose prose is checked: templates written into users' repositories, manifests, scripts.
const WITH_HASH_COMMENTS: &[&str] = &[
    ".cargo/config.toml",
    ".cargo/deny.toml",
    ".ci/book",
    ".ci/lines",
    ".ci/run",
    ".ci/wasm",
    ".clippy.toml",
    ".github/workflows/ci.yml",
    ".github/workflows/release.yml",
    ".pre-commit-hooks.yaml",
    "Cargo.toml",
    "action.yml",
    "pyproject.toml",
    "src/cli/config/sqslint.toml",
    "src/cli/policy/template.toml",
];

static HASH_COMMENT: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?:^|\s)#:? ?(.*)$").expect("a valid expression"));
/// Modules in which names are not checked yet.
const OLD_NAMES: &[&str] = &["crates/handlers", "src/report", "src/rules", "tests"];

/// Names that state a role in a conversation instead of a thing.
static ODD_NAME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b(?:[a-z0-9_]*_)?(?:asked|behind|handed|heard|met|said|spoken|told)(?:_[a-z0-9_]*)?\b")
        .expect("the names are a valid expression")
});
/// Texts and comments, which contain no names.
static NOT_CODE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"//[^\n]*|"(?:\\.|[^"\\])*""#).expect("a valid expression"));

/// Number of commits whose subjects are checked, and accepted ones among them.
const COMMITS: &str = "--max-count=100";
const OLD_SUBJECTS: &[&str] = &["inputs: a variable tells its own fault"];

static COMMENT: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^\s*(///|//!|// )\s?(.*)$").expect("a valid expression"));
static TEST: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"#\[test\]\n(?:\s*#\[.*\n)*\s*fn (\w+)").expect("a valid expression"));

/// Consecutive comment lines of one kind, with their first line number, joined and without code.
struct Comment {
    line: usize,
    is_doc: bool,
    text: String,
}

fn comments(source: &str) -> Vec<Comment> {
    let mut all: Vec<Comment> = Vec::new();
    let mut previous: Option<(usize, &str)> = None;
    for (index, line) in source.lines().enumerate() {
        let Some(found) = COMMENT.captures(line) else { continue };
        let (marker, text) = (found.get(1).map_or("", |marker| marker.as_str()), &found[2]);
        let continues = previous == Some((index, marker));
        previous = Some((index + 1, marker));
        match all.last_mut().filter(|_| continues) {
            Some(comment) => comment.text.extend([" ", text]),
            None => all.push(Comment {
                line: index + 1,
                is_doc: marker != "// ",
                text: text.to_owned(),
            }),
        }
    }
    for comment in &mut all {
        comment.text = CODE_SPAN.replace_all(&comment.text, "`x`").into_owned();
    }
    all
}

/// Describes every fault in the prose of `source`, one per line.
fn faults(name: &str, source: &str) -> Vec<String> {
    let mut faults = Vec::new();
    for Comment { line, is_doc, text } in comments(source) {
        if let Some(odd) = ODD.find(&text) {
            faults.push(format!("{name}:{line}: \"{}\"", odd.as_str()));
        }
        if is_doc && let Some(opening) = HEADLESS.find(&text) {
            faults.push(format!("{name}:{line}: begins with \"{}\"", opening.as_str()));
        }
    }
    for test in TEST.captures_iter(source) {
        if let Some(odd) = ODD.find(&test[1].replace('_', " ")) {
            faults.push(format!("{name}: {}: \"{}\"", &test[1], odd.as_str()));
        }
    }
    faults
}

/// Describes every odd word in the `#` comments of `text`, one per line.
fn faults_in_hash_comments(name: &str, text: &str) -> Vec<String> {
    let comments = (text.lines().enumerate()).filter_map(|(index, line)| Some((index, HASH_COMMENT.captures(line)?)));
    let faults = comments.filter_map(|(index, comment)| {
        let prose = CODE_SPAN.replace_all(&comment[1], "`x`").into_owned();
        Some(format!("{name}:{}: \"{}\"", index + 1, ODD.find(&prose)?.as_str()))
    });
    faults.collect()
}

/// Describes every odd name in the code of `source`.
fn faults_in_names(name: &str, source: &str) -> Vec<String> {
    let code = NOT_CODE.replace_all(source, "");
    let odd = ODD_NAME.find_iter(&code);
    odd.map(|found| format!("{name}: `{}`", found.as_str())).collect()
}

fn sources(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let is_source = |path: &PathBuf| path.is_dir() || path.extension().is_some_and(|extension| extension == "rs");
    let below = entries(path).into_iter().filter(is_source);
    below.flat_map(|path| sources(&path)).collect()
}

#[test]
fn finished_modules_are_in_plain_english() {
    let faults: Vec<String> = DONE
        .iter()
        .flat_map(|module| sources(&repository(module)))
        .flat_map(|path| faults(&path.display().to_string(), &std::fs::read_to_string(&path).unwrap()))
        .collect();
    assert!(
        faults.is_empty(),
        "see the glossary in ARCHITECTURE.md:\n{}",
        faults.join("\n")
    );
}

#[test]
fn names_are_in_plain_english() {
    let is_checked = |module: &&&str| {
        !OLD_NAMES
            .iter()
            .any(|old| module.starts_with(old) || old.starts_with(**module))
    };
    let crates = crate::inputs::directories(&repository("crates")).into_iter();
    let crates = crates.filter(|path| !OLD_NAMES.iter().any(|old| path.ends_with(old)));
    let modules = DONE.iter().filter(is_checked).map(|module| repository(module));
    let faults: Vec<String> = (modules.chain(crates))
        .flat_map(|module| sources(&module))
        .flat_map(|path| faults_in_names(&path.display().to_string(), &std::fs::read_to_string(&path).unwrap()))
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let source = "fn was_told(asked: u8, task: u8) { \"told\" } // said";
    assert_eq!(faults_in_names("a.rs", source), ["a.rs: `was_told`", "a.rs: `asked`"]);
}

#[test]
fn subjects_of_commits_are_in_plain_english() {
    if !GIT.is_available() {
        return;
    }
    let mut git = Command::new("git");
    let log = git
        .args(["log", COMMITS, "--format=%s"])
        .current_dir(repository(""))
        .output();
    let log = String::from_utf8(log.expect("git starts").stdout).unwrap();
    let faults = log
        .lines()
        .filter(|subject| !OLD_SUBJECTS.contains(subject) && is_odd_subject(subject));
    assert_eq!(faults.collect::<Vec<_>>(), Vec::<&str>::new());
    assert!(is_odd_subject("graph: nobody watches") && is_odd_subject("watch queues"));
    assert!(!is_odd_subject("graph: follow `besides`") && !is_odd_subject("Merge branch 'graph'"));
}

/// Returns `true` if a subject has an odd word, or does not begin with the area of the change.
fn is_odd_subject(subject: &str) -> bool {
    let is_generated = subject.starts_with("Merge ") || subject.starts_with("Revert ");
    let has_area = subject.split_once(": ").is_some_and(|(area, _)| !area.is_empty());
    ODD.is_match(&CODE_SPAN.replace_all(subject, "`x`")) || !(is_generated || has_area)
}

#[test]
fn templates_manifests_and_scripts_are_in_plain_english() {
    let faults: Vec<String> = (WITH_HASH_COMMENTS.iter())
        .flat_map(|name| faults_in_hash_comments(name, &std::fs::read_to_string(repository(name)).unwrap()))
        .collect();
    assert!(
        faults.is_empty(),
        "see the glossary in ARCHITECTURE.md:\n{}",
        faults.join("\n")
    );
    let text = "a = 1 # nobody\n# Fine: `nobody`.\nb = 'besides'\n";
    assert_eq!(faults_in_hash_comments("a.toml", text), ["a.toml:1: \"nobody\""]);
}

#[test]
fn odd_words_and_openings_are_found() {
    let source =
        "/// Whether nobody\n/// waits.\nfn a() {}\n\n#[test]\nfn it_speaks_of_queues() {}\n// Fine: `nobody`.\n";
    assert_eq!(
        faults("a.rs", source),
        [
            "a.rs:1: \"nobody\"",
            "a.rs:1: begins with \"Whether\"",
            "a.rs: it_speaks_of_queues: \"speaks of\""
        ]
    );
}
