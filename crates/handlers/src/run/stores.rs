//! Calls that read or write a record of a store: `DynamoDB`, Redis and SQL.

use super::machine::EventKind;
use super::values::Value;
use crate::read::syntax::{Expression, Term};

/// Functions that read one record of a store, and functions that write one.
const READS: [&str; 6] = [
    "GetCommand",
    "GetItemCommand",
    "exists",
    "getItem",
    "get_item",
    "sismember",
];
const WRITES: [&str; 10] = [
    "PutCommand",
    "PutItemCommand",
    "UpdateCommand",
    "UpdateItemCommand",
    "putItem",
    "put_item",
    "set",
    "setnx",
    "updateItem",
    "update_item",
];
/// Words of code that may end a claim: a separate expiry, or a key that differs for each delivery.
pub(super) const ENDS: [&str; 8] = [
    "ApproximateReceiveCount",
    "approximateReceiveCount",
    "expire",
    "expireAt",
    "expireat",
    "pExpire",
    "pexpire",
    "pexpireat",
];
/// Functions that execute SQL.
const SQL: [&str; 5] = ["execute", "query", "raw", "run", "sql"];

/// Returns the words by which a write is conditional.
fn conditions() -> [&'static str; 7] {
    [
        "ConditionExpression",
        "Expected",
        "IfNotExists",
        "NX",
        "nx",
        "setnx",
        "SETNX",
    ]
}

/// Returns the request of a call: the command of `client.send(new GetCommand(…))`, or the call itself.
pub(super) fn request(call: &Expression) -> (&str, &Expression) {
    let Term::Call { callee, arguments, .. } = &call.kind else {
        return ("", call);
    };
    let name = callee.last_name().unwrap_or_default();
    if let ("send", [only]) = (name, arguments.as_slice())
        && let Term::Call {
            callee, is_new: true, ..
        } = &only.kind
    {
        return (callee.last_name().unwrap_or_default(), only);
    }
    (name, call)
}

/// Returns the SQL of a request, in upper case.
fn sql(call: &Expression) -> Option<String> {
    let (name, request) = request(call);
    let Term::Call { arguments, .. } = &request.kind else {
        return None;
    };
    if !SQL.contains(&name) {
        return None;
    }
    let texts = arguments.iter().map_while(|one| match &one.kind {
        Term::Text(text) => Some(&**text),
        _ => None,
    });
    let text = texts.collect::<Vec<_>>().join(" ").to_ascii_uppercase();
    Some(text.split_whitespace().collect::<Vec<_>>().join(" ")).filter(|text| !text.is_empty())
}

/// Returns the kind of access of a call, if it accesses a store.
pub(super) fn event(call: &Expression) -> Option<EventKind> {
    if let Some(text) = sql(call) {
        return match text.split(' ').next() {
            Some("SELECT") => Some(EventKind::Read),
            Some("INSERT") if text.contains("ON CONFLICT") || text.contains("INSERT IGNORE") => Some(EventKind::Claim),
            Some("INSERT" | "UPDATE" | "UPSERT" | "MERGE" | "REPLACE") => Some(EventKind::Write),
            _ => None,
        };
    }
    let (name, request) = request(call);
    if READS.contains(&name) || name == "get" && argument(request, "TableName").is_some() {
        return Some(EventKind::Read);
    }
    if name == "setnx" || WRITES.contains(&name) && request.says(&conditions()) {
        return Some(EventKind::Claim);
    }
    if matches!(name, "put" | "update") && argument(request, "TableName").is_some() {
        return Some(if request.says(&conditions()) {
            EventKind::Claim
        } else {
            EventKind::Write
        });
    }
    let is_redis = matches!(&request.kind, Term::Call { arguments, .. } if arguments.len() >= 2);
    (WRITES.contains(&name) && (name != "set" || is_redis)).then_some(EventKind::Write)
}

/// Returns the result of a conditional write whose record exists, or `None` if it raises an exception.
pub(super) fn refusal(call: &Expression) -> Option<Value> {
    let (name, _) = request(call);
    if sql(call).is_some() {
        return Some(Value::Unknown(0));
    }
    match name {
        "set" | "setnx" => Some(Value::Null),
        _ => None,
    }
}

/// Returns `true` if the record of a claim expires in a way that its condition checks, or the claim is of an unknown
/// kind.
pub(super) fn may_expire(call: &Expression) -> bool {
    if sql(call).is_some() {
        return false;
    }
    let (name, request) = request(call);
    let mut text = String::new();
    request.walk(&mut |one| match &one.kind {
        Term::Text(word) | Term::Name(word) | Term::Member(_, word) => {
            text.push_str(word);
            text.push(' ');
        }
        Term::Object(entries) => {
            for (key, _) in entries {
                text.push_str(key.as_deref().unwrap_or("ttl"));
                text.push(' ');
            }
        }
        Term::Call { named, .. } => {
            for (key, _) in named {
                text.push_str(key.as_deref().unwrap_or("ttl"));
                text.push(' ');
            }
        }
        _ => {}
    });
    let lower = text.to_ascii_lowercase();
    let of_time = ["ttl", "expir", "timeout", "until", "lease"];
    let of_redis = ["ex", "px", "exat", "pxat"];
    of_time.iter().any(|word| lower.contains(word))
        || matches!(name, "set") && lower.split(' ').any(|word| of_redis.contains(&word))
        || lower.contains(" or ")
        || !matches!(name, "set" | "setnx") && !lower.contains("attribute_not_exists")
}

/// Returns `true` if a read and a later write are known to use the same record.
pub(super) fn is_of_same(read: &Expression, write: &Expression, source: &str) -> bool {
    match (sql(read), sql(write)) {
        (Some(read), Some(write)) => {
            let after = |text: &str, word: &str| {
                let rest = text.split(word).nth(1)?;
                let table = rest.trim_start().split([' ', '(']).next()?;
                (!table.is_empty()).then(|| table.to_owned())
            };
            let table = after(&read, " FROM ");
            let written = after(&write, " INTO ").or_else(|| after(&write, "UPDATE "));
            return table.is_some() && table == written;
        }
        (None, None) => {}
        _ => return false,
    }
    if read.first_name() != write.first_name() {
        return false;
    }
    let ((reads, read), (writes, write)) = (request(read), request(write));
    let is_key_value = |name: &str| matches!(name, "exists" | "set" | "sismember");
    if is_key_value(reads) != is_key_value(writes) {
        return false;
    }
    let text = |one: &Expression| {
        source
            .get(one.at.clone())
            .map(|text| text.split_whitespace().collect::<String>())
    };
    if is_key_value(reads) {
        let key = |call: &Expression| match &call.kind {
            Term::Call { arguments, .. } => arguments.first().and_then(text),
            _ => None,
        };
        return key(read).is_some() && key(read) == key(write);
    }
    let table = |call| argument(call, "TableName").and_then(text);
    let (Some(key), Some(item)) = (
        argument(read, "Key"),
        argument(write, "Item").or(argument(write, "Key")),
    ) else {
        return false;
    };
    let (Term::Object(keys), Term::Object(entries)) = (&key.kind, &item.kind) else {
        return false;
    };
    let is_same = |(name, value): &(Option<std::sync::Arc<str>>, Expression)| {
        let mut found = entries.iter().filter(|(other, _)| other == name);
        name.is_some() && found.next().is_some_and(|(_, other)| text(other) == text(value))
    };
    table(read) == table(write) && !keys.is_empty() && keys.iter().all(is_same)
}

/// Returns the argument of a request with this name, or the entry of an object among its arguments.
fn argument<'e>(request: &'e Expression, name: &str) -> Option<&'e Expression> {
    let Term::Call { arguments, named, .. } = &request.kind else {
        return None;
    };
    let entries = arguments.iter().flat_map(|one| match &one.kind {
        Term::Object(entries) => entries.as_slice(),
        _ => &[],
    });
    let mut found = entries.chain(named).filter(|(key, _)| key.as_deref() == Some(name));
    found.next().map(|(_, value)| value)
}
