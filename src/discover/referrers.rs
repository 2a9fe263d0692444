//! Finds units that depend on a file without containing it: modules that call its module, and units whose text names
//! the file or imports a value that it exports.
//!
//! The search looks at text, not at syntax, because units that it finds are merely read in addition to others. It
//! misses names that are assembled (`"${each.key}.json"`). An export whose name contains that of its stack counts only if
//! the stack is known, because every importer of `${AnyStack}-Arn` shares its suffix with every exporter. It is limited to one repository and to a number of files.

use super::Input;
use super::content::readable;
use super::names::{TERRAGRUNT, is_terraform, is_variables, may_be_template, name_of};
use super::recognise::recognise;
use super::walk::Walk;
use rayon::prelude::*;
use source::files::{Files, clean};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

/// Maximum number of texts searched, and their maximum size in bytes.
const MOST: usize = 50_000;
const LARGEST: u64 = 1 << 20;
/// Extensions of files that units read by name.
const DATA: [&str; 11] = [
    "json", "yaml", "yml", "template", "hcl", "tfvars", "toml", "tpl", "tftpl", "tmpl", "txt",
];
/// Files that name the stacks of a template in the same directory.
const SAM_CONFIGURATIONS: [&str; 3] = ["samconfig.toml", "samconfig.yaml", "samconfig.yml"];
/// Parameter of templates whose value is the name of the stack.
const STACK_NAME: &str = "AWS::StackName";
/// Words for the attribute that an export returns.
const GENERIC: [&str; 6] = ["arn", "id", "name", "ref", "url", "value"];
/// Maximum length up to which names are compared.
const LONGEST_NAME: usize = 256;

/// Targets of the search.
struct Targets<'f> {
    /// Directories of modules.
    modules: BTreeSet<PathBuf>,
    /// Files by their names.
    files: BTreeMap<&'f str, Vec<&'f Path>>,
    /// Names of exports.
    exports: Vec<Export>,
}

/// Properties of one text.
#[derive(Default)]
struct Text {
    input: Option<Input>,
    /// Directories of the modules that it calls.
    calls: Vec<PathBuf>,
    /// `true` if the text names one of the files or exports.
    names: bool,
}

/// Returns the units below `root` that depend on `files`, whose paths are absolute and need not exist.
pub(super) fn of(files: &BTreeSet<PathBuf>, root: &Path, walk: &Walk) -> BTreeSet<Input> {
    let sought = Targets::new(files, walk.files());
    if sought.modules.is_empty() && sought.files.is_empty() {
        return BTreeSet::new();
    }
    let candidates = walk.texts(root, MOST);
    let texts: Vec<Text> = candidates
        .par_iter()
        .filter_map(|path| sought.look_at(path, root, walk.files()))
        .collect();
    let mut callers: BTreeMap<&PathBuf, Vec<&Input>> = BTreeMap::new();
    for text in &texts {
        for called in &text.calls {
            callers.entry(called).or_default().extend(&text.input);
        }
    }
    let named: BTreeSet<&Input> = texts
        .iter()
        .filter(|text| text.names)
        .flat_map(|text| &text.input)
        .collect();
    let mut found: BTreeSet<Input> = named.into_iter().cloned().collect();
    // Only root modules are checked, so the callers of callers are included, too.
    let mut next: Vec<PathBuf> = sought.modules.iter().cloned().collect();
    next.extend(found.iter().filter_map(module_of));
    let mut seen: BTreeSet<PathBuf> = next.iter().cloned().collect();
    while let Some(directory) = next.pop() {
        for caller in callers.get(&directory).into_iter().flatten() {
            if let Some(above) = module_of(caller)
                && seen.insert(above.clone())
            {
                next.push(above);
            }
            found.insert((*caller).clone());
        }
    }
    found
}

fn module_of(input: &Input) -> Option<PathBuf> {
    match input {
        Input::TerraformModule(directory) => Some(directory.clone()),
        _ => None,
    }
}

impl<'f> Targets<'f> {
    fn new(files: &'f BTreeSet<PathBuf>, of: &Files) -> Self {
        let mut sought = Targets {
            modules: BTreeSet::new(),
            files: BTreeMap::new(),
            exports: Vec::new(),
        };
        for path in files {
            let name = name_of(path);
            if is_terraform(name) {
                sought.modules.extend(path.parent().map(Path::to_owned));
            } else if is_data(path) {
                sought.files.entry(name).or_default().push(path);
            }
            if may_be_template(name) {
                let text = small(path, of).unwrap_or_default();
                let stacks = stacks_of(path, of);
                sought.exports.extend(exports(&text, &stacks));
            }
        }
        sought
    }

    fn look_at(&self, path: &Path, root: &Path, of: &Files) -> Option<Text> {
        let bytes = of.read_walked(path, LARGEST).ok()?;
        let text = readable(&bytes);
        let name = name_of(path);
        let directory = path.parent()?;
        let is_called_for = is_terraform(name) || name == TERRAGRUNT;
        let calls = if is_called_for {
            sources(&text, directory, of)
        } else {
            Vec::new()
        };
        let is_ours = |rest: &str| self.exports.iter().any(|export| export.may_be_imported(rest, &text));
        let imports = !self.exports.is_empty() && texts_after(&text, "ImportValue").any(is_ours);
        let names = (imports && may_be_template(name)) || self.names_file(&text, path, root);
        if calls.is_empty() && !names {
            return None;
        }
        let input = if is_terraform(name) || is_variables(name) {
            Some(Input::TerraformModule(directory.to_owned()))
        } else if name == TERRAGRUNT {
            Some(Input::Terragrunt(path.to_owned()))
        } else {
            // A plan names many files, but depends on none of them.
            let input = recognise(path, of).ok().flatten();
            input.filter(|input| !matches!(input, Input::Plan(_) | Input::Snapshot(_) | Input::CdkApp(_)))
        };
        Some(Text { input, calls, names })
    }

    /// Returns `true` if `text`, in the file at `path`, names one of the files.
    fn names_file(&self, text: &str, path: &Path, root: &Path) -> bool {
        let directory = path.parent().unwrap_or(root);
        self.files.iter().any(|(name, files)| {
            text.match_indices(name).any(|(at, _)| {
                let (before, rest) = text.split_at(at);
                let after = rest.get(name.len()..).and_then(|rest| rest.chars().next());
                if is_comment(before) {
                    return false;
                }
                if after.is_some_and(|after| after.is_alphanumeric() || matches!(after, '.' | '_' | '-')) {
                    return false;
                }
                let start = before.rfind(is_outside).map_or(0, |at| at + 1);
                let is_open = before.get(..start).is_some_and(|before| before.ends_with('}'));
                let written = text.get(start..at + name.len()).unwrap_or(name);
                let others = files.iter().filter(|file| **file != path);
                let mut others = others.map(|file| names(written, is_open, file, &[directory, root]));
                others.any(|is_named| is_named)
            })
        })
    }
}

/// Returns `true` if `written` refers to `file`, relative to one of the directories `from`. If `is_open`, an unknown
/// prefix precedes `written`.
fn names(written: &str, is_open: bool, file: &Path, from: &[&Path]) -> bool {
    if is_open {
        let end = clean(Path::new(written.trim_start_matches('/')));
        return file.ends_with(
            end.components()
                .filter(|part| matches!(part, Component::Normal(_)))
                .collect::<PathBuf>(),
        );
    }
    let written = written.trim_start_matches('/');
    from.iter().any(|from| clean(&from.join(written)) == *file)
}

/// Returns `true` if the last line of `before` is a comment.
fn is_comment(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or(before).trim_start();
    line.starts_with('#') || line.starts_with("//")
}

/// Returns `true` for characters that end a path in a text.
fn is_outside(character: char) -> bool {
    character.is_whitespace() || "\"'`()[]{},=:<>|!$".contains(character)
}

/// Returns `true` if units may read a file with this extension.
pub(crate) fn is_data(path: &Path) -> bool {
    let ending = path.extension().and_then(std::ffi::OsStr::to_str).unwrap_or("");
    DATA.contains(&ending)
}

fn small(path: &Path, files: &Files) -> Option<String> {
    let bytes = files.read(path, LARGEST).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the directories that `source` arguments name.
fn sources(text: &str, directory: &Path, files: &Files) -> Vec<PathBuf> {
    let words = text.match_indices("source");
    let found = words.filter_map(|(at, word)| {
        if text.get(..at).is_some_and(is_comment) {
            return None;
        }
        let rest = text.get(at + word.len()..)?;
        let rest = rest.strip_prefix('"').unwrap_or(rest).trim_start();
        let rest = rest.strip_prefix(['=', ':'])?.trim_start().strip_prefix('"')?;
        let (path, _) = rest.split_once('"')?;
        let is_local = path.starts_with("./") || path.starts_with("../") || path == "." || path == "..";
        if !is_local || path.contains('\n') {
            return None;
        }
        let path = clean(&directory.join(path.replace("//", "/")));
        Some(files.real(&path).unwrap_or(path))
    });
    found.collect()
}

/// Known part of a name: its characters, with `None` for each unknown text between them.
#[derive(Debug, PartialEq, Eq)]
struct Name(Vec<Option<char>>);

impl Name {
    /// Returns a name of which nothing is known.
    fn any() -> Self {
        Name(vec![None])
    }

    /// Reads the name at the start of `text`, with or without quotes, which may contain `${…}`: texts that `value` knows
    /// or not. Results of functions are unknown.
    fn read(text: &str, value: &dyn Fn(&str) -> Option<String>) -> Self {
        let mut rest = text;
        loop {
            let before = rest.len();
            rest = rest.trim_start_matches(|c: char| c.is_whitespace() || "\"':{>|-".contains(c));
            for tag in ["!Sub", "Fn::Sub"] {
                rest = rest.strip_prefix(tag).unwrap_or(rest);
            }
            if rest.len() == before {
                break;
            }
        }
        if rest.is_empty()
            || rest.starts_with(['!', '['])
            || rest.starts_with("Fn::")
            || rest.starts_with("Ref:")
            || rest.starts_with("Ref\"")
        {
            return Name::any();
        }
        let mut letters = Vec::new();
        let mut left = rest.chars();
        while let Some(letter) = left.next() {
            match letter {
                '$' if left.as_str().starts_with('{') => {
                    let name: String = left.by_ref().skip(1).take_while(|c| *c != '}').collect();
                    match value(name.trim()) {
                        Some(known) => letters.extend(known.chars().map(Some)),
                        None => letters.push(None),
                    }
                }
                '"' | '\'' | '\n' | '\r' | ',' | '}' | ' ' | '#' => break,
                _ => letters.push(Some(letter)),
            }
            if letters.len() >= LONGEST_NAME {
                letters.push(None);
                break;
            }
        }
        Name(letters)
    }

    /// Returns `true` if both can be the same name.
    fn may_be(&self, other: &Name) -> bool {
        // Dynamic programming over prefixes: `fits[n]` is `true` if the characters so far can equal the first `n` of
        // `other`.
        let mut fits = vec![true];
        for theirs in &other.0 {
            fits.push(fits.last() == Some(&true) && theirs.is_none());
        }
        for ours in &self.0 {
            let mut next = vec![fits[0] && ours.is_none()];
            for (at, theirs) in other.0.iter().enumerate() {
                next.push(match (ours, theirs) {
                    (Some(one), Some(other)) => one == other && fits[at],
                    // Unknown text is empty, or covers one more character.
                    _ => fits[at + 1] || next[at],
                });
            }
            fits = next;
        }
        fits.last() == Some(&true)
    }
}

impl Name {
    /// Returns `true` unless the known parts of both share only words that exports of any stack end with: an importer of
    /// `${AnyStack}-Arn` may refer to another template.
    fn shares_a_word(&self, other: &Name) -> bool {
        if self == other && !self.0.contains(&None) {
            return true;
        }
        let others = other.words();
        let mut shared = self.words().into_iter().filter(|word| others.contains(word));
        shared.any(|word| !GENERIC.contains(&word.as_str()))
    }

    /// Returns the words of the known parts, in lower case: `queue` and `arn` of `${…}-QueueArn`.
    fn words(&self) -> Vec<String> {
        let mut words = vec![String::new()];
        let mut is_lower = false;
        for letter in &self.0 {
            let letter = letter.filter(|letter| letter.is_alphanumeric());
            if letter.is_none_or(|letter| letter.is_uppercase() && is_lower) {
                words.push(String::new());
            }
            is_lower = letter.is_some_and(char::is_lowercase);
            words
                .last_mut()
                .into_iter()
                .for_each(|word| word.extend(letter.map(|letter| letter.to_ascii_lowercase())));
        }
        words.retain(|word| !word.is_empty());
        words
    }
}

/// Name under which a template exports a value.
struct Export {
    name: Name,
    /// `true` if the name contains that of the stack.
    is_of_stack: bool,
}

impl Export {
    /// Returns `true` if the import whose name starts `rest`, in the template `text`, may be one of this export.
    fn may_be_imported(&self, rest: &str, text: &str) -> bool {
        if self.is_of_stack {
            return self.name == Name::read(rest, &|parameter| default_of(parameter, text));
        }
        let import = Name::read(rest, &|_| None);
        self.name.may_be(&import) && self.name.shares_a_word(&import)
    }
}

/// Returns the default of a parameter of the template `text`.
fn default_of(parameter: &str, text: &str) -> Option<String> {
    let mut places = text.match_indices(parameter);
    places.find_map(|(at, _)| {
        let line = text.get(..at)?.rsplit('\n').next()?;
        let rest = text.get(at + parameter.len()..)?.trim_start_matches(['"', '\'']);
        let rest = rest
            .strip_prefix(':')
            .filter(|_| !line.ends_with(char::is_alphanumeric))?;
        let indent = |line: &str| line.len() - line.trim_start().len();
        let is_within = |other: &&str| other.trim().is_empty() || indent(other) > indent(line);
        let declaration: String = match rest.trim_start().strip_prefix('{') {
            Some(entries) => entries.split('}').next()?.to_owned(),
            None => rest
                .lines()
                .skip(1)
                .take_while(is_within)
                .map(|line| format!("{line}\n"))
                .collect(),
        };
        let value = texts_after(&declaration, "Default").next()?;
        Name::read(value, &|_| None).0.into_iter().collect()
    })
}

/// Returns the names of the stacks that the configuration of SAM next to the template at `path` deploys.
fn stacks_of(path: &Path, files: &Files) -> Vec<String> {
    let places = SAM_CONFIGURATIONS.iter().map(|name| path.with_file_name(name));
    let texts = places.filter_map(|place| small(&place, files));
    let names = texts.flat_map(|text| {
        let names =
            texts_after(&text, "stack_name").map(|rest| Name::read(rest.trim_start_matches([' ', '=']), &|_| None));
        names
            .filter_map(|name| name.0.into_iter().collect())
            .collect::<Vec<String>>()
    });
    names.collect()
}

/// Returns the names under which a template exports values, in each of its `stacks`.
fn exports(text: &str, stacks: &[String]) -> Vec<Export> {
    let places = text.match_indices("Export").filter_map(|(at, word)| {
        // The name follows on the same line or on one of the next two.
        let following = text.get(at + word.len()..)?;
        let end = following
            .match_indices('\n')
            .nth(3)
            .map_or(following.len(), |(at, _)| at);
        let name = following.get(..end)?.find("Name")?;
        following.get(name + "Name".len()..)
    });
    let names = places.flat_map(|place| {
        let is_of_stack = Cell::new(false);
        let name = Name::read(place, &|value| {
            is_of_stack.set(is_of_stack.get() || value == STACK_NAME);
            None
        });
        if !is_of_stack.get() {
            let is_of_stack = false;
            return vec![Export { name, is_of_stack }];
        }
        let of = |stack: &String| Export {
            name: Name::read(place, &|value| (value == STACK_NAME).then(|| stack.clone())),
            is_of_stack: true,
        };
        stacks.iter().map(of).collect()
    });
    names.collect()
}

/// Returns the text after each occurrence of `word`.
fn texts_after<'t>(text: &'t str, word: &str) -> impl Iterator<Item = &'t str> {
    let places = text.match_indices(word);
    places.filter_map(|(at, word)| text.get(at + word.len()..))
}

impl Walk {
    /// Returns the texts that may belong to units below `root`, in order.
    fn texts(&self, root: &Path, most: usize) -> Vec<PathBuf> {
        let mut texts = self.files_below(root, |name| {
            is_terraform(name) || name == TERRAGRUNT || (may_be_template(name) && !is_variables(name))
        });
        // Compares bytes, because comparing paths splits them into components.
        texts.sort_unstable_by(|a, b| a.as_os_str().cmp(b.as_os_str()));
        texts.truncate(most);
        texts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_found_in_hcl_and_json() {
        let here = Path::new("/nowhere/live");
        let text = r#"module "q" { source = "../q" } module "r" { source="hashicorp/x" }"#;
        assert_eq!(sources(text, here, &Files::default()), [PathBuf::from("/nowhere/q")]);
        let text = r#"{"module": {"q": {"source": "./q//deep"}}}"#;
        assert_eq!(
            sources(text, here, &Files::default()),
            [PathBuf::from("/nowhere/live/q/deep")]
        );
    }

    #[test]
    fn references_to_a_file_need_its_path() {
        let files = BTreeSet::from([PathBuf::from("/r/m/policies/q.json")]);
        let sought = Targets::new(&files, &Files::default());
        let says = |text: &str| sought.names_file(text, Path::new("/r/m/main.tf"), Path::new("/r"));
        assert!(says(r#"file("${path.module}/policies/q.json")"#));
        assert!(says(r#"file("policies/q.json")"#));
        assert!(says("TemplateURL: ./policies/q.json\n"));
        assert!(!says(r#"file("${path.module}/other/q.json")"#));
        assert!(!says(r#"file("q.json")"#));
        assert!(!says("  # policies/q.json is old"));
        assert!(!says(r#"file("policies/q.json.bak")"#));
    }

    #[test]
    fn import_depends_on_exports_with_a_possible_name() {
        let text = "Outputs:\n  Arn:\n    Value: x\n    Export:\n      Name: !Sub \"${Env}-orders-arn\"\n";
        let [export] = <[Export; 1]>::try_from(exports(text, &[])).ok().unwrap();
        let is_it = |text: &str| {
            let mut imports = texts_after(text, "ImportValue").map(|rest| Name::read(rest, &|_| None));
            imports.any(|import| export.name.may_be(&import))
        };
        for import in [
            "!ImportValue prod-orders-arn\n",
            "Fn::ImportValue: !Sub '${Env}-orders-arn'\n",
            "Fn::ImportValue:\n  Fn::Sub: ${Stack}-${Queue}-arn\n",
            r#"{"Fn::ImportValue": {"Fn::Sub": "${Stack}-orders-arn"}}"#,
            "!ImportValue {Ref: Name}\n",
            "Fn::ImportValue: !Join ['-', [a, b]]\n",
        ] {
            assert!(is_it(import), "{import}");
        }
        for import in [
            "!ImportValue prod-orders-url\n",
            "!ImportValue orders-arn-topic # -orders-arn\n",
            "Fn::ImportValue: !Sub '${Env}-invoices'\n",
            r#"{"Fn::ImportValue": "orders"}"#,
        ] {
            assert!(!is_it(import), "{import}");
        }
        assert!(exports("Export: {Name: orders}\n", &[])[0].may_be_imported("orders\n", ""));
    }

    #[test]
    fn import_from_a_stack_needs_its_whole_name() {
        let text = "Export: {Name: !Sub '${AWS::StackName}-RoleArn'}\n";
        assert!(exports(text, &[]).is_empty(), "the stack is unknown");
        let exports = exports(text, &["dev".to_owned(), "prod".to_owned()]);
        for (import, parameters, expected) in [
            ("prod-RoleArn\n", "", true),
            ("test-RoleArn\n", "", false),
            ("!Sub '${Stack}-RoleArn'", "Parameters: {Stack: {Type: String}}", false),
            (
                "!Sub '${Stack}-RoleArn'",
                "Parameters: {Stack: {Type: String, Default: prod}}",
                true,
            ),
            (
                "!Sub '${Stack}-RoleArn'",
                "Parameters:\n  Stack:\n    Default: dev\n    Type: String\n",
                true,
            ),
            (
                "!Sub '${Stack}-RoleArn'",
                r#"{"Parameters": {"Stack": {"Default": "dev"}}}"#,
                true,
            ),
            (
                "!Sub '${Stack}-RoleArn'",
                "Parameters:\n  Stack:\n    Type: String\n  Other:\n    Default: dev\n",
                false,
            ),
            (
                "!Sub '${Stack}-RoleArn'",
                "Parameters: {MyStack: {Default: dev}}",
                false,
            ),
            ("!Sub '${Stack}-Arn'", "Parameters: {Stack: {Default: dev}}", false),
        ] {
            let is_ours = exports.iter().any(|export| export.may_be_imported(import, parameters));
            assert_eq!(is_ours, expected, "{import} {parameters}");
        }
    }
}
