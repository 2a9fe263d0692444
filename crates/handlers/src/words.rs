//! Names in languages and libraries that the analysis knows.

use crate::read::syntax::{Expression, Term};
use rustc_hash::FxHashSet;
use std::sync::LazyLock;

/// A set of words.
pub(crate) type Words = LazyLock<FxHashSet<&'static str>>;

/// Returns the words of a list, which are separated by spaces.
pub(crate) fn words(list: &'static str) -> FxHashSet<&'static str> {
    list.split(' ').collect()
}

/// Functions that call a handler for each record and return the failed ones (Powertools for AWS Lambda).
pub(crate) const BATCH_FUNCTIONS: [&str; 4] = [
    "process_partial_response",
    "async_process_partial_response",
    "processPartialResponse",
    "processPartialResponseSync",
];

/// Classes that collect failures and continue with later records.
pub(crate) const STANDARD_PROCESSORS: [&str; 3] = ["BatchProcessor", "AsyncBatchProcessor", "BatchProcessorSync"];

/// Classes that stop at the first failure.
pub(crate) const FIFO_PROCESSORS: [&str; 2] = ["SqsFifoPartialProcessor", "SqsFifoPartialProcessorAsync"];

/// Key of the failed messages in a response.
pub(crate) const FAILURES: &str = "batchItemFailures";

/// Members of promises, of requests of the AWS SDK, and of tasks and futures in Python.
pub(crate) const PROMISE_MEMBERS: [&str; 10] = [
    "add_done_callback",
    "cancel",
    "cancelled",
    "catch",
    "done",
    "exception",
    "finally",
    "promise",
    "result",
    "then",
];

/// Middleware of middy that creates the response from settled promises.
pub(crate) const MIDDLEWARE: &str = "@middy/sqs-partial-batch-failure";

/// Decorators and wrappers that pass on the return value of a handler.
static TRANSPARENT: Words = Words::new(|| {
    words(
        "async_batch_processor batch_processor asynccontextmanager bind cached_property contextmanager capture captureLambdaHandler capture_lambda_handler \
     captureMethod capture_method event_parser event_source idempotent idempotent_function injectLambdaContext \
     inject_lambda_context logMetrics log_metrics middy staticmethod wraps",
    )
});

/// Functions that only read values or print them.
static FUNCTIONS: Words = Words::new(|| {
    words(
        "Boolean Error Number String abs all any bool captureException capture_exception decodeURIComponent \
     deepcopy dict dumps encodeURIComponent enumerate filter float getattr hasattr int isinstance iter len list \
     loads marshall max min parseFloat parseInt pprint print randomUUID range repr round set sleep sorted str \
     structuredClone sum tuple type unmarshall unquote_plus typeof uuid4 uuidv4 void zip",
    )
});

/// Objects and modules with only such functions.
static OBJECTS: Words = Words::new(|| {
    words(
        "Array Buffer Date JSON Math Number Object String base64 console crypto datetime hashlib \
     itertools json math metrics random re sys time traceback tracer uuid",
    )
});

/// Methods that only read values, on any object.
static METHODS: Words = Words::new(|| {
    words(
        "addDimension addMetadata addMetric add_dimension add_metadata add_metric begins_with captureException \
     captureMessage capture_exception capture_message cursor decode encode endsWith endswith entries eq fetchone \
     format getRemainingTimeInMillis get_remaining_time_in_millis hasOwnProperty hexdigest includes indexOf \
     isoformat items join keys lower lstrip match noticeError notice_error padEnd padStart pop recordException \
     record_exception replace replaceAll rstrip shift slice split startsWith startswith strftime strip substring \
     toFixed toISOString toLowerCase toString toUpperCase total_seconds trim unquote unquote_plus upper values",
    )
});

/// Methods of a span or a segment of a trace.
static SPAN_METHODS: Words = Words::new(|| {
    words(
        "addAnnotation addAttribute addAttributes addError addEvent addMetadata add_event close end finish log_kv \
         put_annotation put_metadata recordException record_exception setAttribute setAttributes setStatus setTag \
         set_attribute set_attributes set_status set_tag",
    )
});

/// Objects whose `get` is a request, not a lookup of a key.
static REQUESTS: Words = Words::new(|| words("axios client got http httpx requests session"));

/// Returns `true` if a call of `callee` has no effect that matters to the analysis.
pub(crate) fn is_harmless(callee: &Expression) -> bool {
    if says_log(callee) {
        return true;
    }
    let root = callee.first_name().unwrap_or_default();
    match &callee.kind {
        Term::Name(name) => FUNCTIONS.contains(&**name),
        Term::Member(of, name) => {
            let is_lookup = &**name == "get" && !REQUESTS.contains(root);
            let is_of_text = matches!(of.kind, Term::Text(_) | Term::Other(_));
            let of_name = of.last_name().unwrap_or_default().to_ascii_lowercase();
            let is_of_span =
                ["span", "segment"].iter().any(|end| of_name.ends_with(end)) && SPAN_METHODS.contains(&**name);
            is_lookup || is_of_text || is_of_span || OBJECTS.contains(root) || METHODS.contains(&**name)
        }
        _ => false,
    }
}

/// Returns `true` if a decorator or wrapper passes on the result of a handler.
pub(crate) fn is_transparent(wrapper: &Expression) -> bool {
    let name = match &wrapper.kind {
        Term::Call { callee, .. } => callee.last_name(),
        _ => wrapper.last_name(),
    };
    name.is_some_and(|name| TRANSPARENT.contains(name))
}

/// Returns `true` if calls of `root` or its members are requests to another machine.
pub(crate) fn is_request(root: &str) -> bool {
    matches!(root, "axios" | "fetch" | "got" | "httpx" | "requests" | "urllib")
}

/// Returns `true` if a part of the callee has the name of a log.
pub(crate) fn says_log(callee: &Expression) -> bool {
    match &callee.kind {
        Term::Name(name) => is_log(name),
        Term::Member(of, name) => is_log(name) || says_log(of),
        Term::Call { callee, .. } => says_log(callee),
        _ => false,
    }
}

/// Ends of the names of logs: `log`, `logging`, `log_error`.
const LEVELS: [&str; 8] = ["", "ging", "debug", "error", "exception", "info", "warn", "warning"];

/// Returns `true` for names of logs.
fn is_log(name: &str) -> bool {
    let lower = name.to_ascii_lowercase().replace('_', "");
    let is_of_level = |level| LEVELS.contains(&level);
    lower.strip_prefix("log").is_some_and(is_of_level) || lower == "warn" || lower.ends_with("logger")
}
