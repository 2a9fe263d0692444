//! Finds the longest time that a single call may wait, by the time limit that the code gives it:
//!
//! ```text
//! requests.post(url, data=body, timeout=60)      may wait 60 s for an answer
//! bank = axios.create({ timeout: 60_000 })
//! await bank.post("/charges", order)             likewise
//! ```
//!
//! Only calls that certain functions make count, directly or through other functions of the file. A file that limits
//! work in another way, or looks at the remaining time, states nothing.

use super::calls::{Call, Calls, DELETIONS, RECEIVES};
use super::constants::{Constant, Constants, entry};
use super::{Time, milliseconds};
use crate::limits;
use crate::read::syntax::{Expression, Module, Term};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// Words of code that may end a call before its own time limit.
const OTHER_LIMITS: [&str; 13] = [
    "AbortController",
    "alarm",
    "fail_after",
    "func_timeout",
    "getRemainingTimeInMillis",
    "get_remaining_time_in_millis",
    "move_on_after",
    "p-timeout",
    "pTimeout",
    "race",
    "setitimer",
    "timeout_decorator",
    "wait_for",
];
const SECOND: f64 = 1000.0;
const MILLISECOND: f64 = 1.0;
/// Methods that send a request.
const METHODS: [&str; 9] = [
    "delete", "get", "head", "options", "patch", "post", "put", "request", "send",
];
/// Libraries whose calls take a limit, by the name that is called, with the unit of the limit. Their clients have the same
/// option and methods.
const REQUESTS: [(&str, f64); 4] = [
    ("requests", SECOND),
    ("httpx", SECOND),
    ("axios", MILLISECOND),
    ("got", MILLISECOND),
];
/// Options of other clients that limit each of their calls.
const OF_CLIENTS: [(&str, f64); 5] = [
    ("query_timeout", MILLISECOND),
    ("read_timeout", SECOND),
    ("requestTimeout", MILLISECOND),
    ("socketTimeout", MILLISECOND),
    ("statement_timeout", MILLISECOND),
];

/// Returns the longest time that a call may wait, among those that `is_start` accepts and those of the functions that
/// they call.
pub(crate) fn longest<'m>(module: &'m Module, calls: &Calls<'m>, is_start: impl Fn(&Call<'m>) -> bool) -> Option<Time> {
    if module.says(&OTHER_LIMITS) {
        return None;
    }
    let mut reached: FxHashSet<&str> = FxHashSet::default();
    for _ in 0..limits::MAX_CONSTANT_HOPS {
        let known = reached.len();
        let found = calls.all.iter().filter(|call| is_reached(call, &is_start, &reached));
        for call in found.collect::<Vec<_>>() {
            if let Term::Call { callee, arguments, .. } = &call.expression.kind {
                // A function may be passed on: `map(work, records)`.
                let passed = arguments
                    .iter()
                    .filter_map(|argument| argument.name().map(|name| &**name));
                reached.extend(callee.last_name().into_iter().chain(passed));
            }
        }
        if reached.len() == known {
            break;
        }
    }
    let all = calls.all.iter().filter(|call| is_reached(call, &is_start, &reached));
    let all = all.filter_map(|call| limit(&calls.constants, call.expression));
    all.max_by_key(|(milliseconds, _)| *milliseconds)
}

/// Returns the longest time that a call may wait between the receive of a message and its deletion.
pub(super) fn after_receive<'m>(module: &'m Module, calls: &Calls<'m>) -> Option<Time> {
    let receive = calls.all.iter().find(|call| RECEIVES.contains(&call.name()))?;
    let is_later =
        |call: &Call<'m>| call.function == receive.function && call.expression.at.start >= receive.expression.at.end;
    let deletions = calls
        .all
        .iter()
        .filter(|call| is_later(call) && DELETIONS.contains(&call.name()));
    let end = deletions
        .map(|call| call.expression.at.start)
        .max()
        .unwrap_or(usize::MAX);
    // A loop that receives pauses if the queue is empty.
    longest(module, calls, |call| {
        is_later(call) && call.expression.at.start < end && call.name() != "sleep"
    })
}

/// Returns the longest time that a call of the function `handler` may wait, or of the function of that name.
pub(super) fn of_handler<'m>(module: &'m Module, calls: &Calls<'m>, handler: &'m Expression) -> Option<Time> {
    let name = handler.last_name();
    longest(module, calls, |call| {
        let at = &call.expression.at;
        (handler.at.start <= at.start && at.end <= handler.at.end) || (name.is_some() && call.function == name)
    })
}

fn is_reached<'m>(call: &Call<'m>, is_start: impl Fn(&Call<'m>) -> bool, reached: &FxHashSet<&str>) -> bool {
    is_start(call) || call.function.is_some_and(|name| reached.contains(name))
}

/// Returns the time limit of `call`.
fn limit<'m>(constants: &Constants<'m>, call: &'m Expression) -> Option<Time> {
    let Term::Call { callee, arguments, .. } = &call.kind else {
        return None;
    };
    let name = callee.last_name()?;
    let own = |key, unit| option(constants, call, key).and_then(|value| time(constants, value, unit));
    match (callee.first_name()?, name) {
        (_, "urlopen") => own("timeout", SECOND),
        ("time", "sleep") => time(constants, arguments.first()?, SECOND),
        ("fetch", "fetch") => {
            let signal = option(constants, call, "signal")?;
            let Term::Call { callee, arguments, .. } = &signal.kind else {
                return None;
            };
            let is_limit = callee.first_name() == Some("AbortSignal") && callee.last_name() == Some("timeout");
            time(constants, arguments.first().filter(|_| is_limit)?, MILLISECOND)
        }
        (first, _) => {
            let client = match &callee.kind {
                Term::Member(of, _) => created(constants, of),
                _ => None,
            };
            let library = client.and_then(|client| match &client.kind {
                Term::Call { callee, .. } => callee.first_name(),
                _ => None,
            });
            let found = REQUESTS
                .iter()
                .find(|(known, _)| Some(*known) == library.or(Some(first)));
            if let Some((library, unit)) = found {
                let is_request = METHODS.contains(&name) || name == *library;
                let of_client = client.and_then(|client| option(constants, client, "timeout"));
                let value = option(constants, call, "timeout").or(of_client);
                return value
                    .filter(|_| is_request)
                    .and_then(|value| time(constants, value, *unit));
            }
            OF_CLIENTS.iter().find_map(|(key, unit)| {
                let value = nested(constants, client?, key, limits::MAX_CONSTANT_HOPS)?;
                time(constants, value, *unit)
            })
        }
    }
}

/// Returns the call that created the object `of`.
fn created<'m>(constants: &Constants<'m>, of: &'m Expression) -> Option<&'m Expression> {
    match constants.resolve(of) {
        Constant::Compound(
            call @ Expression {
                kind: Term::Call { .. },
                ..
            },
        ) => Some(call),
        _ => None,
    }
}

/// Returns the named argument `key` of `call`, or that entry of an object among its arguments.
fn option<'m>(constants: &Constants<'m>, call: &'m Expression, key: &str) -> Option<&'m Expression> {
    let Term::Call { arguments, named, .. } = &call.kind else {
        return None;
    };
    let of = |entries: &'m [(Option<Arc<str>>, Expression)]| entry(entries, key).ok().flatten();
    let mut objects = arguments
        .iter()
        .filter_map(|argument| match constants.resolve(argument) {
            Constant::Compound(Expression {
                kind: Term::Object(entries),
                ..
            }) => of(entries),
            _ => None,
        });
    of(named).or_else(|| objects.next_back())
}

/// Returns the option `key` of `call`, or of a call among its options: `boto3.client("s3", config=Config(read_timeout=60))`.
fn nested<'m>(constants: &Constants<'m>, call: &'m Expression, key: &str, steps: usize) -> Option<&'m Expression> {
    let steps = steps.checked_sub(1)?;
    option(constants, call, key).or_else(|| {
        let of = |name| {
            let inner = created(constants, option(constants, call, name)?)?;
            nested(constants, inner, key, steps)
        };
        ["config", "requestHandler"].into_iter().find_map(of)
    })
}

/// Returns a duration; the last one of a pair for connecting and reading, and the one for the whole of a request.
fn time<'m>(constants: &Constants<'m>, value: &'m Expression, unit: f64) -> Option<Time> {
    match &value.kind {
        Term::List(parts) => return time(constants, parts.last()?, unit),
        Term::Object(entries) => return time(constants, entry(entries, "request").ok()??, unit),
        _ => {}
    }
    Some((milliseconds(constants.number(value)?, unit)?, value.at.clone()))
}

#[cfg(test)]
mod tests {
    use super::{Calls, longest};
    use crate::read::{python, script};

    /// Returns the longest wait of the function `run` in `text`, in milliseconds.
    fn waits(text: &str, is_script: bool) -> Option<i64> {
        let read = if is_script {
            script::read(text)
        } else {
            python::read(text)
        };
        let module = read.unwrap_or_else(|_| panic!("{text}"));
        let calls = Calls::of(&module);
        longest(&module, &calls, |call| call.function == Some("run")).map(|(time, _)| time)
    }

    #[test]
    fn python_calls_state_limits() {
        for (code, expected) in [
            ("def run(e, c):\n    requests.post(u, timeout=60)", Some(60_000)),
            ("def run(e, c):\n    requests.post(u, timeout=(3, 27))", Some(27_000)),
            (
                "LIMIT = 20\ndef run(e, c):\n    httpx.get(u, timeout=LIMIT * 2)",
                Some(40_000),
            ),
            (
                "s = requests.Session()\ndef run(e, c):\n    s.post(u, timeout=60)",
                Some(60_000),
            ),
            (
                "c = httpx.Client(timeout=45)\ndef run(e, x):\n    c.get(u)",
                Some(45_000),
            ),
            (
                "c = httpx.Client(timeout=45)\ndef run(e, x):\n    c.get(u, timeout=5)",
                Some(5_000),
            ),
            (
                "def run(e, c):\n    urllib.request.urlopen(u, timeout=60)",
                Some(60_000),
            ),
            ("def run(e, c):\n    time.sleep(90)", Some(90_000)),
            (
                "s3 = boto3.client('s3', config=Config(read_timeout=60))\ndef run(e, c):\n    s3.get_object(Key=k)",
                Some(60_000),
            ),
            (
                "def run(e, c):\n    for r in e:\n        work(r)\ndef work(r):\n    requests.get(u, timeout=9)",
                Some(9_000),
            ),
            (
                "def run(e, c):\n    list(map(work, e))\ndef work(r):\n    requests.get(u, timeout=9)",
                Some(9_000),
            ),
            // Nothing calls it, or only the start of the process does.
            (
                "def run(e, c):\n    pass\ndef work(r):\n    requests.get(u, timeout=9)",
                None,
            ),
            ("requests.get(u, timeout=9)\ndef run(e, c):\n    pass", None),
            ("def run(e, c):\n    requests.get(u)", None),
            ("def run(e, c):\n    requests.get(u, timeout=None)", None),
            ("def run(e, c):\n    requests.get(u, timeout=limit)", None),
            ("def run(e, c):\n    cache.get(u, timeout=60)", None),
            (
                "def run(e, c):\n    left = c.get_remaining_time_in_millis()\n    requests.get(u, timeout=60)",
                None,
            ),
        ] {
            assert_eq!(waits(code, false), expected, "{code}");
        }
    }

    #[test]
    fn script_calls_state_limits() {
        for (code, expected) in [
            (
                "async function run(e) { await axios.post(u, b, { timeout: 60000 }); }",
                Some(60_000),
            ),
            (
                "async function run(e) { await axios({ url: u, timeout: 60000 }); }",
                Some(60_000),
            ),
            (
                "const bank = axios.create({ timeout: 45_000 });\nconst run = async (e) => { await bank.post(u); };",
                Some(45_000),
            ),
            (
                "async function run(e) { await fetch(u, { signal: AbortSignal.timeout(60000) }); }",
                Some(60_000),
            ),
            (
                "async function run(e) { await got(u, { timeout: { request: 60000 } }); }",
                Some(60_000),
            ),
            (
                "const pool = new Pool({ statement_timeout: 60000 });\nasync function run(e) { await pool.query(q); }",
                Some(60_000),
            ),
            (
                "const s3 = new S3Client({ requestHandler: new NodeHttpHandler({ requestTimeout: 60000 }) });\n\
                 async function run(e) { await s3.send(c); }",
                Some(60_000),
            ),
            ("async function run(e) { await fetch(u, { signal }); }", None),
            (
                "async function run(e) { await axios.post(u, b, { ...options, timeout: 60000 }); }",
                None,
            ),
            (
                "async function run(e) { await Promise.race([axios.get(u, { timeout: 60000 }), stop]); }",
                None,
            ),
        ] {
            assert_eq!(waits(code, true), expected, "{code}");
        }
    }
}
