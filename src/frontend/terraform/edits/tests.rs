//! Tests of edits, from text to text.
#![allow(clippy::unwrap_used, reason = "tests")]

mod declaring;
mod hostile;
mod inserting;
mod json;
mod references;
mod removing;

use super::*;
use crate::Options;
use crate::diagnostic::{MissingDeadLetterQueue, Place};
use crate::frontend::edits::edits as all_edits;
use crate::testing::{TemporaryDirectory, describe};
use source::FileId;
use std::path::Path;
use std::process::Command;

/// The files of one module.
struct Module {
    sources: Sources,
    files: Vec<(FileId, String)>,
}

impl Module {
    fn of(files: &[(&str, &str)]) -> Module {
        let sources = Sources::default();
        let files = files.iter().map(|(name, text)| {
            let id = sources.add(Path::new("/project").join(name).as_path(), *text);
            (id, (*text).to_owned())
        });
        Module {
            files: files.collect(),
            sources,
        }
    }

    fn one(text: &str) -> Module {
        Module::of(&[("main.tf", text)])
    }

    /// Returns the first span of `part` in the first file.
    fn span(&self, part: &str) -> Span {
        let (id, text) = &self.files[0];
        let at = text.find(part).unwrap_or_else(|| panic!("no {part} in {text}"));
        Span::new(*id, at..at + part.len())
    }

    /// Returns the first file after `change`. Asserts that it still parses, and is still formatted if it was before.
    fn after(&self, change: &Change) -> Option<String> {
        let edits = all_edits(change, &self.sources)?;
        let (id, before) = &self.files[0];
        assert!(edits.iter().all(|edit| edit.span.file == *id));
        let after = applied(before, &edits);
        if Path::new(self.sources.file(*id).path())
            .extension()
            .is_some_and(|ending| ending == "json")
        {
            serde_json::from_str::<serde_json::Value>(&after).unwrap();
        } else {
            let (_, problems) = terraform::syntax::parse(*id, &after);
            assert_eq!(problems, [], "{after}");
            assert!(!loses_format(before, &after), "not formatted any more: {after}");
        }
        Some(after)
    }
}

/// Returns `text` after `edits`, which must not overlap.
fn applied(text: &str, edits: &[Edit]) -> String {
    let mut after = String::new();
    let mut from = 0;
    for edit in edits {
        let range = edit.span.range();
        assert!(from <= range.start, "{edits:?} overlap");
        after.push_str(&text[from..range.start]);
        after.push_str(&edit.text);
        from = range.end;
    }
    after + &text[from..]
}

/// Returns `true` if `terraform fmt` would change `after` but not `before`; always `false` if Terraform is not
/// installed.
fn loses_format(before: &str, after: &str) -> bool {
    let directory = TemporaryDirectory::with_files([("before.tf", before), ("after.tf", after)]);
    let run = Command::new("terraform")
        .args(["fmt", "-list=true", "-write=false"])
        .current_dir(directory.path())
        .output();
    let Ok(run) = run else { return false };
    let listed = String::from_utf8_lossy(&run.stdout).into_owned();
    listed.contains("after.tf") && !listed.contains("before.tf")
}

/// Returns the place of an absent argument in the block with this header.
fn absent(header: Span, name: &str) -> Place {
    Place {
        header,
        name: name.to_owned(),
        written: None,
        origins: Vec::new(),
        value: None,
    }
}

/// Returns the change that adds a dead-letter queue to the queue with this header.
fn missing_dead_letter_queue(header: Span, fifo: bool) -> Change {
    Change::DeadLetterQueue(MissingDeadLetterQueue {
        header,
        fifo,
        max_receive_count: 5,
        retention: 1_209_600,
        to: None,
    })
}

/// Asserts that no default rule reports a finding in `files`, except that the dead-letter queue has no alarm: an alarm
/// is a separate change.
fn nothing_is_found(files: &[(&str, &str)]) {
    let directory = TemporaryDirectory::with_files(files.iter().copied());
    let outcome = crate::check(&Options {
        paths: vec![directory.path().to_owned()],
        ..Options::default()
    });
    let mut rules = outcome.findings.iter().map(|finding| &*finding.rule);
    assert!(
        rules.all(|rule| rule == "dead-letter-queue-unalarmed"),
        "{files:?}\n{}",
        describe(&outcome)
    );
}
