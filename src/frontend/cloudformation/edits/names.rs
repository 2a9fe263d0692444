//! Chooses names for added dead-letter queues and alarms, in the style of existing names in the file.

use super::Page;
use crate::graph::FIFO_SUFFIX;
use crate::graph::limits::QUEUE_NAME_LENGTH;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use source::{FileId, Sources};
use std::hash::BuildHasher;
use std::sync::Arc;
use trees::{Entry, Node, Value};

/// Suffixes of logical ids of dead-letter queues.
const IDS: [&str; 4] = ["DLQ", "DeadLetterQueue", "Dlq", "DeadLetter"];
/// Suffixes of their physical names, longest first.
const ENDINGS: [&str; 10] = [
    "-dead-letter-queue",
    "_dead_letter_queue",
    "-dead-letter",
    "_dead_letter",
    "-deadletter",
    "-dlq",
    "_dlq",
    "-DLQ",
    "_DLQ",
    "DLQ",
];

/// Names in a section of resources.
pub(super) struct Section {
    ids: FxHashSet<Arc<str>>,
    /// Suffix of the logical ids of dead-letter queues, and whether it follows `Queue`.
    style: (&'static str, bool),
    /// Suffix of their physical names.
    ending: Option<&'static str>,
}

impl Section {
    pub(super) fn of(resources: &Node) -> Self {
        let known: FxHashSet<&str> = queues(resources).map(|(id, _)| id).collect();
        let style = queues(resources).find_map(|(id, _)| {
            let ending = IDS.iter().find(|ending| id.ends_with(**ending))?;
            let base = id.strip_suffix(ending)?;
            let keeps = known.contains(base) && base.ends_with("Queue");
            let drops = known.contains(format!("{base}Queue").as_str());
            (!base.is_empty()).then_some((*ending, keeps && !drops))
        });
        let entries = resources.entries().unwrap_or_default().iter();
        Section {
            ids: entries.map(|entry| entry.key.clone()).collect(),
            style: style.unwrap_or(("DLQ", false)),
            ending: ending_of_others(resources),
        }
    }
}

/// Names that are keys, or are quoted, in the files of the run except one.
pub(super) struct OtherNames {
    own: FileId,
    all: Arc<Names>,
}

/// Hashes of the names in all files, each with the file if it is the only one. Of two names with one hash, one may be
/// taken to be used.
struct Names(FxHashMap<u64, Option<FileId>>);

impl OtherNames {
    pub(super) fn of(own: FileId, sources: &Sources) -> Self {
        let all = sources.derived(|sources| {
            let mut names = FxHashMap::default();
            for (file, source) in sources.all() {
                for name in names_in(source.text()) {
                    let known = names.entry(hash(name)).or_insert(Some(file));
                    *known = known.filter(|known| *known == file);
                }
            }
            Names(names)
        });
        OtherNames { own, all }
    }

    /// Returns `true` if another file may contain the name `id`.
    pub(super) fn contains(&self, id: &str) -> bool {
        let is_elsewhere = |file: &Option<FileId>| *file != Some(self.own);
        !id.chars().all(is_in_name) || self.all.0.get(&hash(id)).is_some_and(is_elsewhere)
    }
}

fn hash(name: &str) -> u64 {
    FxBuildHasher.hash_one(name)
}

fn is_in_name(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '-')
}

/// Returns the names in `text` that a colon follows or that are in double quotes.
fn names_in(text: &str) -> impl Iterator<Item = &str> {
    let mut end = 0;
    let names = text.split(|letter| !is_in_name(letter)).map(move |name| {
        let start = end;
        end = start + name.len();
        // Every name but the last is followed by another letter.
        let next = text.get(end..).and_then(|rest| rest.chars().next());
        let is_quoted = next == Some('"') && text.get(..start).is_some_and(|before| before.ends_with('"'));
        end += next.map_or(0, char::len_utf8);
        (name, next == Some(':') || is_quoted)
    });
    names
        .filter(|(name, is_name)| *is_name && !name.is_empty())
        .map(|(name, _)| name)
}

impl Page<'_> {
    /// Returns an unused logical id for the dead-letter queue of `id`.
    pub(super) fn dead_letter_id(&self, resources: &Node, id: &str) -> Option<String> {
        let (ending, keeps) = self.section(resources).style;
        let base = id
            .strip_suffix("Queue")
            .filter(|base| !keeps && !base.is_empty())
            .unwrap_or(id);
        let others = IDS.iter().map(|ending| format!("{base}{ending}"));
        let mut all = std::iter::once(format!("{base}{ending}")).chain(others);
        all.find(|candidate| self.is_free(resources, candidate))
    }

    /// Returns an unused logical id for the alarm on the queue `id`.
    pub(super) fn alarm_id(&self, resources: &Node, id: &str) -> Option<String> {
        let mut all = ["Alarm", "DepthAlarm", "MessagesAlarm"]
            .iter()
            .map(|ending| format!("{id}{ending}"));
        all.find(|candidate| self.is_free(resources, candidate))
    }

    fn is_free(&self, resources: &Node, id: &str) -> bool {
        let sections = [Some(self.root), self.root.get("resources")].into_iter().flatten();
        let mut sections = sections.flat_map(|all| ["Parameters", "Conditions", "Mappings"].map(|name| all.get(name)));
        let is_elsewhere = || self.others.as_ref().is_some_and(|others| others.contains(id));
        !self.section(resources).ids.contains(id)
            && !sections.any(|section| section.is_some_and(|section| section.get(id).is_some()))
            && !is_elsewhere()
    }

    /// Returns the text after the key for the name of the dead-letter queue, including the colon, or `None` if the
    /// source queue has no name or one that cannot be extended here.
    pub(super) fn dead_letter_name(&self, resources: &Node, name: &Entry, fifo: bool) -> Option<String> {
        let text = match &name.value.value {
            Value::String(_) => &name.value,
            Value::Mapping(entries) => match entries.as_slice() {
                [function] if &*function.key == "Fn::Sub" && function.value.as_str().is_some() => &function.value,
                _ => return None,
            },
            _ => return None,
        };
        let decoded = text.as_str()?;
        let base = decoded.strip_suffix(FIFO_SUFFIX).filter(|_| fifo).unwrap_or(decoded);
        // The value of a variable may end with `.fifo`.
        if base.is_empty() || (fifo && base == decoded) {
            return None;
        }
        let ending = self.section(resources).ending.unwrap_or_else(|| ending_like(base));
        let is_known = !decoded.contains("${");
        let whole = format!("{base}{ending}");
        if (is_known && whole.len() + FIFO_SUFFIX.len() > QUEUE_NAME_LENGTH) || self.editor.text.contains(&whole) {
            return None;
        }
        let written = self.editor.text.get(text.span.range())?;
        let at = text.span.start as usize + written.rfind(base)? + base.len();
        let from = name.key_span.end as usize;
        let (before, after) = (
            self.editor.text.get(from..at)?,
            self.editor.text.get(at..name.value.span.end as usize)?,
        );
        Some(format!("{before}{ending}{after}"))
    }
}

/// Returns the ids and properties of the queues among `resources`.
fn queues(resources: &Node) -> impl Iterator<Item = (&str, Option<&Node>)> {
    let entries = resources.entries().unwrap_or_default().iter();
    let queues = entries.filter(|entry| entry.value.get("Type").and_then(Node::as_str) == Some("AWS::SQS::Queue"));
    queues.map(|entry| (&*entry.key, entry.value.get("Properties")))
}

/// Returns the suffix in the name of another dead-letter queue.
fn ending_of_others(resources: &Node) -> Option<&'static str> {
    queues(resources).find_map(|(_, properties)| {
        let name = properties?.get("QueueName")?;
        let name = name.as_str().or_else(|| name.get("Fn::Sub")?.as_str())?;
        let name = name.strip_suffix(FIFO_SUFFIX).unwrap_or(name);
        ENDINGS.into_iter().find(|ending| name.ends_with(ending))
    })
}

/// Returns a suffix in the style of the name.
fn ending_like(name: &str) -> &'static str {
    // Names of variables do not show the style.
    let mut own = String::new();
    let mut rest = name;
    while let Some((before, following)) = rest.split_once("${") {
        own.push_str(before);
        rest = following.split_once('}').map_or("", |(_, following)| following);
    }
    own.push_str(rest);
    let has_upper = own.contains(|c: char| c.is_ascii_uppercase());
    match (own.contains('-'), own.contains('_')) {
        (false, true) => "_dlq",
        (false, false) if has_upper => "DLQ",
        _ => "-dlq",
    }
}
