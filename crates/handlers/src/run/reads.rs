//! Notes which keys of a record the code reads, and which fields of the message in its body.
//!
//! ```text
//! message = json.loads(record["Body"])    a key that Lambda's event lacks: it has `body`
//! ship(json.loads(record["body"])["id"])  a field of the message; SNS's envelope has none of the name
//! json.loads(message["Message"])          a field of the envelope
//! for one in message["Records"]:          an event of S3; its test event has none
//! ```
//!
//! A read counts unless other code got the message before it and may have decided the path, or a `try` around the read
//! alone ends its failure.

use super::machine::Machine;
use super::scenario::Path;
use super::values::{ALL, Flow, Mask, OWN, Value};
use crate::facts::{Outcome, SNS_ENVELOPE};
use crate::limits;
use crate::read::syntax::{Expression, Module, TextRange};
use crate::words::{is_harmless, says_log};
use indexmap::IndexSet;
use std::sync::Arc;

/// Bit of an unknown value that is the body of a record.
pub(super) const BODY: Mask = 1 << 3;
/// Bit of an unknown value that is the message in a body.
pub(super) const MESSAGE: Mask = 1 << 4;
/// Bit of a field of SNS's envelope.
const ENVELOPED: Mask = 1 << 5;
/// Bit of the field `Records` of a message.
const EVENTS: Mask = 1 << 6;

/// Keys of a message from `ReceiveMessage`, with those of Lambda's event.
const KEYS: [(&str, &str); 6] = [
    ("Attributes", "attributes"),
    ("Body", "body"),
    ("MD5OfBody", "md5OfBody"),
    ("MessageAttributes", "messageAttributes"),
    ("MessageId", "messageId"),
    ("ReceiptHandle", "receiptHandle"),
];

/// Fields of S3's test event, and a word of its name.
const TEST_EVENT: [&str; 4] = ["Bucket", "Event", "HostId", "Service"];

/// Functions that show a value and decide nothing.
const SHOWS: [&str; 6] = ["dumps", "len", "print", "str", "stringify", "String"];

/// Reads of records and their messages in a run.
#[derive(Debug, Clone, Default)]
pub(super) struct Reads {
    all: Vec<Read>,
    /// Fields that a condition asks about.
    tested: Mask,
    /// `true` once code elsewhere got a record or its message.
    is_shared: bool,
    /// `true` if some reads are missing.
    is_cut: bool,
    /// Addresses of the `try` statements that run, innermost last.
    pub(super) tries: Vec<usize>,
    /// `try` statements that ran when the work failed.
    pub(super) failed_within: Vec<usize>,
}

/// A read of a key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Read {
    kind: Kind,
    key: Arc<str>,
    at: TextRange,
    /// `try` around it.
    within: Option<usize>,
    is_certain: bool,
}

/// Kinds of reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    OfRecord,
    OfMessage,
    /// A use of a field that fails if the message has none.
    Needed,
    /// A field that is parsed.
    Parsed,
}

/// A key with the code that reads it.
pub(crate) type KeyRead = (Arc<str>, TextRange);

/// Keys and fields that a handler reads on any of its paths.
#[derive(Debug, Default)]
pub(crate) struct HandlerReads {
    /// Key of a record that only `ReceiveMessage` has, and the one of the event.
    pub(crate) unknown_key: Option<(KeyRead, &'static str)>,
    /// Field of a message that SNS's envelope lacks, if none of the envelope's is read.
    pub(crate) field: Option<KeyRead>,
    /// Field `Message`, if no other is read; the flag is set if it is parsed.
    pub(crate) envelope: Option<(KeyRead, bool)>,
    /// Field `Records`, if the code fails without it.
    pub(crate) events: Option<KeyRead>,
}

impl Machine<'_> {
    /// Notes a read of `key`. In Python a key that a record lacks raises an exception.
    pub(super) fn note_read(&mut self, of: &Value, key: &str, at: &TextRange) -> Result<(), Flow> {
        match of {
            Value::Record(record) => {
                self.add_read(Kind::OfRecord, key, at);
                if lacks(key) && !self.module.is_script {
                    return Err(Flow::Raise(Value::Error(Some("KeyError".into()), 1 << record)));
                }
            }
            Value::Unknown(mask) if mask & MESSAGE != 0 => {
                self.add_read(Kind::OfMessage, key, at);
                if key == "Records" && !self.module.is_script {
                    self.add_read(Kind::Needed, key, at);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn add_read(&mut self, kind: Kind, key: &str, at: &TextRange) {
        let reads = &self.run.reads;
        let is_known = reads
            .all
            .iter()
            .any(|one| one.kind == kind && *one.key == *key && one.at == *at);
        if self.is_loading || is_known {
            return;
        }
        let read = Read {
            kind,
            key: key.into(),
            at: at.clone(),
            within: reads.tries.last().copied(),
            is_certain: !self.run.is_uncertain && (!reads.is_shared || kind == Kind::OfRecord),
        };
        let reads = &mut self.run.reads;
        reads.is_cut |= reads.all.len() >= limits::MAX_NOTED_TEXTS;
        if !reads.is_cut {
            reads.all.push(read);
        }
    }

    /// Notes that a value is used in a way that fails without one.
    pub(super) fn note_needed(&mut self, value: &Value, at: &Expression) {
        if matches!(value, Value::Unknown(mask) if mask & EVENTS != 0) {
            self.add_read(Kind::Needed, "Records", &at.at);
        }
    }

    /// Notes the use of `of` by a read of its member, unless it is `of?.member`.
    pub(super) fn note_member_of(&mut self, value: &Value, of: &Expression) {
        if !self.module.optional.contains(&of.at.end) {
            self.note_needed(value, of);
        }
    }

    /// Notes that a condition asks about a value.
    pub(super) fn note_tested(&mut self, value: &Value) {
        if let Value::Unknown(mask) = value {
            self.run.reads.tested |= mask & !ALL;
        }
    }

    /// Notes that code asks whether a message has `key`, or whether a body contains this text.
    pub(super) fn note_asked(&mut self, key: &Value, of: &Value) {
        if let (Value::Text(key), Value::Unknown(mask)) = (key, of) {
            self.run.reads.is_shared |= mask & BODY != 0;
            if mask & MESSAGE != 0 {
                self.run.reads.tested |= field(key);
                self.add_read(Kind::OfMessage, key, &(0..0));
            }
        }
    }

    /// Notes the values that code elsewhere gets.
    pub(super) fn note_shared(&mut self, callee: &Expression, receiver: &Value, all: &[Value]) {
        if self.is_loading || says_log(callee) || callee.last_name().is_some_and(|name| SHOWS.contains(&name)) {
            return;
        }
        self.note_changed(receiver);
        let asks = |name: &str| ["has", "is"].iter().any(|verb| name.starts_with(verb));
        let asks = is_harmless(callee) || callee.last_name().is_some_and(asks);
        for value in all.iter().chain([receiver]) {
            if asks {
                self.note_tested(value);
            }
            for key in all.iter().take(4) {
                self.note_asked(key, value);
            }
            self.run.reads.is_shared |= match value {
                Value::Event | Value::Record(_) => true,
                Value::Unknown(mask) => mask & (BODY | MESSAGE) != 0,
                _ => false,
            };
        }
    }

    /// Returns the value of a text in JSON, if it is that of a message.
    pub(super) fn parsed(&mut self, text: &Value, at: &Expression) -> Option<Value> {
        match text {
            Value::Unknown(mask) if mask & ENVELOPED != 0 => {
                self.add_read(Kind::Parsed, "Message", &at.at);
                Some(Value::Unknown(mask & ALL))
            }
            Value::Unknown(mask) if mask & BODY != 0 => Some(Value::Unknown(mask & ALL | MESSAGE)),
            Value::Unknown(mask) => Some(Value::Unknown(mask & ALL)),
            _ => None,
        }
    }

    /// Notes a read by `get`, which raises no exception.
    pub(super) fn note_looked_up(&mut self, of: &Value, key: &str, at: &Expression) {
        let kind = match of {
            Value::Event => return,
            Value::Record(_) => Kind::OfRecord,
            _ => Kind::OfMessage,
        };
        self.add_read(kind, key, &at.at);
    }

    /// Notes that the code changes a record or a message, whose keys may then be its own.
    pub(super) fn note_changed(&mut self, of: &Value) {
        self.run.reads.is_cut |= matches!(of, Value::Record(_));
        self.run.reads.is_shared |= matches!(of, Value::Unknown(mask) if mask & MESSAGE != 0);
    }
}

/// Returns `true` for keys that only messages from `ReceiveMessage` have.
pub(super) fn lacks(key: &str) -> bool {
    KEYS.iter().any(|(received, _)| *received == key)
}

/// Returns the field `key` of a value that is not known.
pub(super) fn member(of: &Value, key: &str) -> Value {
    match of {
        Value::Unknown(mask) if mask & MESSAGE != 0 => Value::Unknown(mask & ALL | field(key)),
        Value::Unknown(mask) => Value::Unknown(mask & (ALL | OWN)),
        _ => Value::Unknown(0),
    }
}

fn field(key: &str) -> Mask {
    match key {
        "Records" => EVENTS,
        _ if SNS_ENVELOPE.contains(&key) => ENVELOPED,
        _ => 0,
    }
}

/// Returns `true` for calls that parse JSON.
pub(super) fn parses(root: &str, name: &str) -> bool {
    matches!(
        (root, name),
        ("JSON", "parse")
            | (
                "json" | "loads" | "orjson" | "rapidjson" | "simplejson" | "ujson",
                "loads"
            )
    )
}

/// Derives from all paths what the code reads. `outcome` is that of a message whose work fails; nothing is derived unless
/// the paths are `understood`.
pub(super) fn reads(paths: &[Path<'_>], module: &Module, outcome: Outcome, understood: bool) -> HandlerReads {
    if !understood || paths.iter().any(|path| path.run.reads.is_cut) {
        return HandlerReads::default();
    }
    // Most paths read the same.
    let distinct: IndexSet<&Read> = paths.iter().flat_map(|path| &path.run.reads.all).collect();
    let all = || distinct.iter().copied();
    let tested = paths.iter().fold(0, |tested, path| tested | path.run.reads.tested);
    let has = |kind: Kind, key: &str| all().any(|read| read.kind == kind && *read.key == *key);
    // A `try` without the work ends a failure of the read, and nothing else.
    let is_of_work = |read: &Read| {
        let contains = |within: usize| paths.iter().any(|path| path.run.reads.failed_within.contains(&within));
        read.within.is_none_or(contains)
    };
    let certain = |kind: Kind| all().filter(move |read| read.kind == kind && read.is_certain);
    let found = |read: &Read| (read.key.clone(), read.at.clone());
    let unknown_key = certain(Kind::OfRecord).find_map(|read| {
        let (_, known) = KEYS.iter().find(|(received, _)| *received == &*read.key)?;
        (!has(Kind::OfRecord, known)).then(|| (found(read), *known))
    });
    let of_envelope = |read: &Read| SNS_ENVELOPE.contains(&&*read.key);
    let reads_envelope = all().any(|read| read.kind == Kind::OfMessage && of_envelope(read));
    let mut fields = certain(Kind::OfMessage).filter(|read| !of_envelope(read));
    let field_read = fields.find(|read| is_of_work(read)).filter(|_| !reads_envelope);
    let mut envelope = certain(Kind::OfMessage).filter(|read| &*read.key == "Message" && is_of_work(read));
    let reads_others = all().any(|read| read.kind == Kind::OfMessage && !of_envelope(read));
    let envelope = envelope.next().filter(|_| !reads_others && tested & ENVELOPED == 0);
    let is_parsed = |read: &Read| (found(read), has(Kind::Parsed, "Message"));
    let knows_test = TEST_EVENT.iter().any(|key| has(Kind::OfMessage, key))
        || module.words.iter().any(|word| word.contains("TestEvent"));
    let is_known = matches!(outcome, Outcome::Raised | Outcome::Reported) && tested & EVENTS == 0 && !knows_test;
    let mut events = certain(Kind::Needed).filter(|read| &*read.key == "Records" && is_of_work(read));
    HandlerReads {
        unknown_key,
        field: field_read.map(found),
        envelope: envelope.map(is_parsed),
        events: events.next().filter(|_| is_known).map(found),
    }
}
