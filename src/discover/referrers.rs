//! Which units depend on a file beside the one it belongs to: modules that call its module, and units whose text names it
//! or imports what it exports.
//!
//! It looks at texts, not at syntax: what is found is only read in addition, and judged by those who understand it. A name
//! that is put together (`"${each.key}.json"`) is not found. Files of one repository are looked at, up to a number.

use super::Input;
use super::content::readable;
use super::names::{TERRAGRUNT, is_terraform, is_variables, may_be_template, name_of};
use super::recognise::recognise;
use super::walk::Walk;
use crate::files::{Files, clean};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

/// Texts that are looked at, and how large they may be.
const MOST: usize = 50_000;
const LARGEST: u64 = 1 << 20;
/// Files that units read by name, by the end of their own.
const DATA: [&str; 11] = [
    "json", "yaml", "yml", "template", "hcl", "tfvars", "toml", "tpl", "tftpl", "tmpl", "txt",
];
/// Longer names are compared up to here.
const LONGEST_NAME: usize = 256;

/// What is looked for.
struct Sought<'f> {
    /// Directories of modules.
    modules: BTreeSet<PathBuf>,
    /// Files by their names.
    files: BTreeMap<&'f str, Vec<&'f Path>>,
    /// Names of exports.
    exports: Vec<Name>,
}

/// What one text is.
#[derive(Default)]
struct Text {
    input: Option<Input>,
    /// Directories of modules that it calls.
    calls: Vec<PathBuf>,
    /// Whether it names a file or an export that is looked for.
    names: bool,
}

/// The units below `root` that depend on `files`, whose paths are absolute and need not exist.
pub(super) fn of(files: &BTreeSet<PathBuf>, root: &Path, walk: &Walk) -> BTreeSet<Input> {
    let sought = Sought::new(files, walk.files());
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
    // Roots alone are judged, so the callers of the callers belong to them.
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

impl<'f> Sought<'f> {
    fn new(files: &'f BTreeSet<PathBuf>, of: &Files) -> Self {
        let mut sought = Sought {
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
                sought.exports.extend(exports(&text));
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
        let may_be_ours = |import: &Name| self.exports.iter().any(|export| export.may_be(import));
        let imports = !self.exports.is_empty() && names_behind(&text, "ImportValue").iter().any(may_be_ours);
        let names = (imports && may_be_template(name)) || self.names_file(&text, path, root);
        if calls.is_empty() && !names {
            return None;
        }
        let input = if is_terraform(name) || is_variables(name) {
            Some(Input::TerraformModule(directory.to_owned()))
        } else if name == TERRAGRUNT {
            Some(Input::Terragrunt(path.to_owned()))
        } else {
            // A plan names many files and depends on none.
            let input = recognise(path, of).ok().flatten();
            input.filter(|input| !matches!(input, Input::Plan(_) | Input::CdkApp(_)))
        };
        Some(Text { input, calls, names })
    }

    /// Whether `text`, in the file at `path`, names one of the files.
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

/// Whether `written` means `file`, told from one of the directories `from`; what stands before it is not known where it
/// `is_open`.
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

/// Whether the line that `before` ends in is a comment.
fn is_comment(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or(before).trim_start();
    line.starts_with('#') || line.starts_with("//")
}

/// What cannot stand in a path as it is written.
fn is_outside(character: char) -> bool {
    character.is_whitespace() || "\"'`()[]{},=:<>|!$".contains(character)
}

/// Whether units may read a file of this name.
pub(crate) fn is_data(path: &Path) -> bool {
    let ending = path.extension().and_then(std::ffi::OsStr::to_str).unwrap_or("");
    DATA.contains(&ending)
}

fn small(path: &Path, files: &Files) -> Option<String> {
    let bytes = files.read(path, LARGEST).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The directories that `source` arguments name.
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

/// A name as far as it is written: its letters, and `None` for any text between them.
#[derive(Debug, PartialEq, Eq)]
struct Name(Vec<Option<char>>);

impl Name {
    /// Any name.
    fn any() -> Self {
        Name(vec![None])
    }

    /// The name that `text` begins with: a text in quotes or without, with `${…}` in it. What a function puts together is
    /// not looked into.
    fn read(text: &str) -> Self {
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
                    letters.push(None);
                    let _ = left.by_ref().find(|c| *c == '}');
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

    /// Whether both can be one name.
    fn may_be(&self, other: &Name) -> bool {
        // Whether the letters so far can be each beginning of the other.
        let mut fits = vec![true];
        for theirs in &other.0 {
            fits.push(fits.last() == Some(&true) && theirs.is_none());
        }
        for ours in &self.0 {
            let mut next = vec![fits[0] && ours.is_none()];
            for (at, theirs) in other.0.iter().enumerate() {
                next.push(match (ours, theirs) {
                    (Some(one), Some(other)) => one == other && fits[at],
                    // Any text is empty, or takes one letter more.
                    _ => fits[at + 1] || next[at],
                });
            }
            fits = next;
        }
        fits.last() == Some(&true)
    }
}

/// The names under which a template exports.
fn exports(text: &str) -> Vec<Name> {
    let places = text.match_indices("Export").filter_map(|(at, word)| {
        // The name stands in the same line, or in the next one or two.
        let behind = text.get(at + word.len()..)?;
        let end = behind.match_indices('\n').nth(3).map_or(behind.len(), |(at, _)| at);
        let name = behind.get(..end)?.find("Name")?;
        behind.get(name + "Name".len()..)
    });
    places.map(Name::read).collect()
}

/// What stands behind each `word`.
fn names_behind(text: &str, word: &str) -> Vec<Name> {
    let places = text.match_indices(word);
    places
        .filter_map(|(at, word)| text.get(at + word.len()..).map(Name::read))
        .collect()
}

impl Walk {
    /// Texts that may belong to units below `root`, in order.
    fn texts(&self, root: &Path, most: usize) -> Vec<PathBuf> {
        let mut texts = self.files_below(root, |name| {
            is_terraform(name) || name == TERRAGRUNT || (may_be_template(name) && !is_variables(name))
        });
        // By bytes: a comparison of paths takes them apart.
        texts.sort_unstable_by(|a, b| a.as_os_str().cmp(b.as_os_str()));
        texts.truncate(most);
        texts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_told_in_both_syntaxes() {
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
    fn a_file_is_named_by_its_path() {
        let files = BTreeSet::from([PathBuf::from("/r/m/policies/q.json")]);
        let sought = Sought::new(&files, &Files::default());
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
    fn an_import_is_of_an_export_whose_name_it_can_be() {
        let text = "Outputs:\n  Arn:\n    Value: x\n    Export:\n      Name: !Sub \"${AWS::StackName}-orders-arn\"\n";
        let [export] = exports(text).try_into().unwrap();
        let is_it = |text: &str| {
            names_behind(text, "ImportValue")
                .iter()
                .any(|import: &Name| export.may_be(import))
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
        assert!(exports("Export: {Name: orders}\n")[0].may_be(&Name::read("orders\n")));
    }
}
