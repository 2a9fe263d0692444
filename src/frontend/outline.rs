//! Compares the declarations of a text before and after an edit, by its syntax alone.
//!
//! ```text
//! resource "aws_sqs_queue" "q" {       faults: 0
//!   name = "orders"                    declared: resource.aws_sqs_queue.q
//! }
//! ```
//!
//! An edit may change the content of a declaration. If it drops a declaration, or adds a syntax error, a finding may
//! disappear because its resource was lost, and not because it is fixed.

use super::comments::Syntax;
use super::terraform;
use source::Sources;
use std::collections::BTreeSet;
use std::path::Path;
use trees::parsed;
use trees::{Node, Parsed};
use trees::{json, toml};

/// The syntax errors and the declarations of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outline {
    /// Number of syntax errors, including repeated names.
    faults: usize,
    /// Declarations, by kind and name.
    declared: BTreeSet<String>,
}

impl Outline {
    /// Returns the outline of `text`, parsed in the language of the file at `path`.
    pub fn of(path: &Path, text: &str) -> Outline {
        let sources = Sources::default();
        let file = sources.add(path, "");
        let name = sources.file(file).base_name().to_owned();
        match Syntax::of(&name) {
            Some(syntax @ (Syntax::Hcl | Syntax::TerraformJson)) => {
                let (faults, declared) = terraform::outline(file, text, syntax == Syntax::TerraformJson);
                Outline { faults, declared }
            }
            Some(Syntax::Tree | Syntax::Source(_)) => of_tree(&parsed::parse(text, file)),
            None if path.extension().is_some_and(|ending| ending == "toml") => of_tree(&toml::parse(text, file)),
            None => of_tree(&json::parse(text, file)),
        }
    }

    /// Describes the damage of an edit that results in `after`: a new syntax error or a lost declaration.
    pub fn lost_in(&self, after: &Outline) -> Option<String> {
        if after.faults > self.faults {
            return Some("it can no longer be parsed".to_owned());
        }
        let lost = self.declared.difference(&after.declared).next()?;
        Some(format!("`{lost}` is no longer declared"))
    }
}

/// Returns the outline whose declarations are the top-level entries and their direct children.
fn of_tree(parsed: &Parsed) -> Outline {
    let entries = |node: &Node| node.entries().unwrap_or_default().to_vec();
    let mut declared = BTreeSet::new();
    for top in parsed.documents.iter().flat_map(entries) {
        // It contains suppressions, which edits may add and remove.
        if &*top.key != "Metadata" {
            let below = entries(&top.value).into_iter();
            declared.extend(below.map(|entry| format!("{}.{}", top.key, entry.key)));
            declared.insert(top.key.to_string());
        }
    }
    Outline {
        faults: parsed.errors.len() + parsed.limits.len() + parsed.duplicates.len(),
        declared,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost(path: &str, before: &str, after: &str) -> Option<String> {
        let of = |text| Outline::of(Path::new(path), text);
        of(before).lost_in(&of(after))
    }

    #[test]
    fn changed_values_and_new_declarations_are_accepted() {
        let queue = "resource \"aws_sqs_queue\" \"q\" {\n  delay_seconds = 1\n}\n";
        for (path, before, after) in [
            (
                "main.tf",
                queue.to_owned(),
                queue.replace('1', "2") + &queue.replace("\"q\"", "\"r\""),
            ),
            (
                "main.tf",
                format!("resource {{\n{queue}"),
                format!("resource {{\n{}", queue.replace('1', "2")),
            ),
            (
                "t.yaml",
                "Resources:\n  A: {Type: B}\n".to_owned(),
                "Resources:\n  C: {}\n  A: {Type: B, D: 1}\n".to_owned(),
            ),
            (
                "t.json",
                "{\"Metadata\": {\"sqslint\": {}}, \"A\": 1}".to_owned(),
                "{\"A\": 2}".to_owned(),
            ),
            (
                "main.tf.json",
                "{\"locals\": {\"a\": 1}}".to_owned(),
                "{\"locals\": {\"a\": 2, \"b\": 1}}".to_owned(),
            ),
            (
                "samconfig.toml",
                "[a.b]\nc = 1\n".to_owned(),
                "[a.b]\nc = 2\n".to_owned(),
            ),
        ] {
            assert_eq!(lost(path, &before, &after), None, "{path}: {after}");
        }
    }

    #[test]
    fn syntax_errors_and_lost_declarations_are_reported() {
        let queue = "resource \"aws_sqs_queue\" \"q\" {\n  delay_seconds = 1\n}\n";
        let parse = "it can no longer be parsed";
        for (path, before, after, expected) in [
            ("main.tf", queue, &*queue.replace('}', ""), parse),
            (
                "main.tf",
                queue,
                &queue.replace("1\n", "1\n  delay_seconds = 2\n"),
                parse,
            ),
            (
                "main.tf",
                queue,
                &queue.replace("\"q\"", "\"r\""),
                "`resource.aws_sqs_queue.q` is no longer declared",
            ),
            ("dev.tfvars", "a = 1\nb = 2\n", "a = 1 b = 2\n", parse),
            (
                "main.tf.json",
                "{\"locals\": {\"a\": 1}}",
                "{\"locals\": {\"a\": 1}",
                parse,
            ),
            ("x.tfvars.json", "{\"a\": 1}", "{\"a\": 1,}", parse),
            ("t.yaml", "Resources:\n  A: {B: 1}\n", "Resources:\n  A: {B: 1\n", parse),
            (
                "t.yaml",
                "Resources:\n  A: {B: 1}\n",
                "Resources:\n  A: {B: 1}\n  A: {B: 2}\n",
                parse,
            ),
            (
                "t.yaml",
                "Resources:\n  A:\n  B:\n",
                "Resources:\n  A:\n    B:\n",
                "`Resources.B` is no longer declared",
            ),
            (
                "t.json",
                "{\"Resources\": {\"A\": 1}}",
                "{\"Resource\": {\"A\": 1}}",
                "`Resources` is no longer declared",
            ),
            ("samconfig.toml", "[a.b]\nc = 1\n", "[a.b\nc = 1\n", parse),
        ] {
            assert_eq!(lost(path, before, after).as_deref(), Some(expected), "{path}: {after}");
        }
    }
}
