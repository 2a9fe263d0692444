//! Calls of code elsewhere: the work on a message, which may fail.

use super::calls::Arguments;
use super::machine::{Choice, Event, EventKind, Failure, Machine};
use super::stores;
use super::values::{ALL, Evaluated, Flow, Mask, OWN, Object, Value};
use crate::read::syntax::{Expression, Term};
use crate::words::{is_harmless, is_request, says_log};

/// Functions of Node.js that return no promise.
const SYNCHRONOUS: [&str; 16] = [
    "appendFileSync",
    "copyFileSync",
    "deflateSync",
    "execFileSync",
    "execSync",
    "existsSync",
    "gunzipSync",
    "gzipSync",
    "inflateSync",
    "mkdirSync",
    "readFileSync",
    "readdirSync",
    "rmSync",
    "spawnSync",
    "unlinkSync",
    "writeFileSync",
];

/// Functions and methods of `fetch`, `axios` and `got` that return a promise.
const REQUESTS: [&str; 10] = [
    "axios", "delete", "fetch", "get", "got", "head", "patch", "post", "put", "request",
];

impl<'m> Machine<'m> {
    /// Calls code of other files.
    #[expect(clippy::too_many_lines, reason = "one step per effect of a call")]
    pub(super) fn elsewhere(
        &mut self,
        whole: &'m Expression,
        callee: &'m Expression,
        receiver: &Value,
        arguments: &Arguments,
        is_new: bool,
        is_awaited: bool,
    ) -> Evaluated {
        let all: Vec<Value> = arguments.all().cloned().collect();
        let given = self.masks(&all) | self.mask(receiver);
        self.note_shared(callee, receiver, &all);
        let name = callee.last_name().unwrap_or_default();
        if let Some(queue) = self.queue_object(name, arguments) {
            return Ok(queue);
        }
        self.note_request(whole, name, receiver, arguments);
        if matches!(receiver, Value::Client) && self.is_loading || callee.first_name() == Some("boto3") {
            return Ok(Value::Client);
        }
        let is_harmless = has_no_effect(whole, callee, &all);
        if !self.is_loading && !is_harmless {
            let passed: Vec<&Value> = all.iter().filter(|one| !self.is_callback(callee, one)).collect();
            for value in passed {
                self.escape(value, 2);
            }
        }
        if is_new && name.ends_with("Command") {
            let mut texts = Vec::new();
            for value in &all {
                self.texts(value, 5, &mut texts);
            }
            self.run.command = texts;
        }
        if is_new || name.starts_with(char::is_uppercase) && !is_awaited {
            let is_error = name.ends_with("Error") || name.ends_with("Exception") || name.ends_with("Failed");
            // What gets a function of this file may call it later.
            let calls_back = all.iter().any(|one| matches!(one, Value::Function(_))) || name == "Proxy";
            let own = if calls_back || self.calls_own { OWN } else { 0 };
            return Ok(if is_error {
                Value::Error(Some(name.into()), given)
            } else {
                Value::Unknown(given | own)
            });
        }
        if is_harmless {
            if all.iter().any(|one| self.may_have_effects(one)) {
                self.doubt();
            }
            return Ok(Value::Unknown(given));
        }
        let function = all.iter().find_map(|value| match value {
            Value::Function(id) => Some(*id),
            _ => None,
        });
        if let (Value::Function(id), true, "use" | "onError") = (receiver, self.is_loading, name) {
            return Ok(self.with_middleware(*id, name, arguments, whole));
        }
        if let (Some(function), true) = (function, self.is_loading) {
            // `middy(handler)`, `instrument(handler)`
            return Ok(self.around(function, whole));
        }
        if name == "makeIdempotent" && function.is_none() {
            self.idempotent.push(whole);
            return Ok(Value::Idempotent(self.idempotent.len() - 1));
        }
        if let (Value::Function(id), true) = (receiver, self.is_loading) {
            return Ok(match name {
                "bind" => {
                    let values = arguments.values.get(1..).unwrap_or_default().to_vec();
                    self.bound(*id, arguments.get(0), values)
                }
                _ => self.around(*id, whole),
            });
        }
        if self.is_loading {
            return Ok(Value::Unknown(0));
        }
        let record = if given == 0 { self.current } else { given };
        let part = self.part_used(callee, &all);
        if part.is_some_and(Mask::is_power_of_two) {
            self.run.first.get_or_insert(whole.at.clone());
        }
        let given = part.unwrap_or(given);
        self.run.used |= part.unwrap_or(record);
        self.note(callee, record, is_awaited);
        // Code of the repository that other code than the work on a message calls after the failure may raise it again.
        let is_repeated = self.run.events.iter().any(|event| event.call == whole);
        let is_after = self.run.failed.is_some_and(|failure| failure.call != whole);
        if is_after && self.calls_own && !is_repeated && record & ALL & !self.failing == 0 {
            self.doubt();
        }
        let kind = stores::event(whole).unwrap_or(EventKind::Work);
        if matches!(kind, EventKind::Write | EventKind::Claim)
            && !self.run.written.iter().any(|(call, _)| *call == whole)
        {
            let mut texts = std::mem::take(&mut self.run.command);
            for value in &all {
                self.texts(value, 5, &mut texts);
            }
            self.run.written.extend(texts.into_iter().map(|text| (whole, text)));
        }
        if let Some(refused) = self.refused(whole, kind, record)? {
            return Ok(refused);
        }
        let had_failed = self.run.failed.is_some();
        if let Some(callback) = all.last().filter(|last| self.is_callback(callee, last)) {
            let result = match self.work(whole, given, record, true) {
                Ok(value) => vec![Value::Nil, value],
                Err(Flow::Raise(raised)) => vec![raised],
                Err(other) => return Err(other),
            };
            return self.call(callback, result, Vec::new(), whole);
        }
        let done = self.work(whole, given, record, is_awaited);
        if !had_failed {
            self.note_function(whole, &all);
        }
        let done = done?;
        if record & self.failing != 0 {
            self.event(kind, whole);
        }
        Ok(done)
    }

    /// Returns `true` for a function of this file that code of Node.js calls with an error first, `(err, data) => …`, if
    /// something waits for it: Lambda for a handler that is not asynchronous, or a promise that it settles.
    fn is_callback(&self, callee: &Expression, value: &Value) -> bool {
        let is_waited_for = !self.unsettled.is_empty() || !self.frames.iter().any(|frame| frame.is_async);
        if !is_waited_for
            || self.is_loading
            || matches!(callee.last_name(), Some("on" | "once" | "addListener" | "use"))
        {
            return false;
        }
        let Value::Function(id) = value else { return false };
        let Object::Function(closure) = &self.heap[*id] else {
            return false;
        };
        let first = closure
            .function
            .parameters
            .first()
            .and_then(|first| first.pattern.name());
        self.module.is_script && first.is_some_and(|name| matches!(&**name, "err" | "error" | "e" | "er"))
    }

    /// Passes a value to code elsewhere, which may change it, call it, and wait for it.
    pub(super) fn escape(&mut self, value: &Value, depth: usize) {
        let parts = match value {
            Value::Function(_) | Value::Callback | Value::Settle(..) => {
                self.run.is_uncertain = true;
                return;
            }
            Value::Promise(id) => {
                if let Object::Promise {
                    is_observed, result, ..
                } = &mut self.heap[*id]
                {
                    *is_observed = true;
                    self.run.is_uncertain |= result.is_err();
                }
                return;
            }
            Value::List(id) | Value::Object(id) if *id != self.records && depth > 0 => {
                self.set_open(*id);
                if let Object::Entries { entries, .. } = &mut self.heap[*id] {
                    for (_, value) in entries {
                        if matches!(value, Value::Null | Value::Nil | Value::Bool(_) | Value::Number(_)) {
                            *value = Value::Unknown(0);
                        }
                    }
                }
                match &self.heap[*id] {
                    Object::List { .. } => self.known_items(*id),
                    Object::Entries { entries, .. } if self.counts(entries.len()) => {
                        entries.iter().map(|(_, value)| value.clone()).collect()
                    }
                    _ => return,
                }
            }
            _ => return,
        };
        for part in parts {
            self.escape(&part, depth - 1);
        }
    }

    /// Returns the records that an imported function uses, if it is known and gets the event first.
    fn part_used(&self, callee: &Expression, all: &[Value]) -> Option<Mask> {
        let used = self.module.records_used.get(&**callee.name()?)?;
        let others = all.strip_prefix(&[Value::Event])?;
        Some(used | self.masks(others))
    }

    /// Notes that other code gets records.
    fn note(&mut self, callee: &Expression, record: Mask, is_awaited: bool) {
        let root = callee.first_name().unwrap_or_default();
        let waits = is_awaited || is_request(root) || matches!(self.variable(root), Some(Value::Client));
        if let Some(at) = self.loops.last()
            && waits
        {
            self.run.waits.get_or_insert(at.clone());
        }
        if self.run.failed.is_some() {
            // A call without a record may still work on the current one.
            if record & !self.failing != 0 {
                self.run.used_after |= record & !self.failing;
            }
        }
    }

    /// Returns the result of a conditional write whose record exists, on the paths where it does.
    fn refused(&mut self, whole: &'m Expression, kind: EventKind, record: Mask) -> Result<Option<Value>, Flow> {
        let is_claim = kind == EventKind::Claim && record & self.failing != 0 && self.run.failed.is_none();
        if !is_claim || self.chosen(Choice::Claim, whole, 2) == 0 {
            return Ok(None);
        }
        self.event(EventKind::ClaimExists, whole);
        self.run.progress.decided = record;
        match stores::refusal(whole) {
            // A result without rows.
            Some(Value::Unknown(_)) if self.module.is_script => {
                let rows = self.list(Vec::new());
                let entries = vec![
                    (Some("rowCount".into()), Value::Number(0.0)),
                    (Some("rows".into()), rows),
                ];
                Ok(Some(self.object(entries, whole.at.clone())))
            }
            Some(value) => Ok(Some(value)),
            None => Err(Flow::Raise(Value::Claimed)),
        }
    }

    /// Notes the function whose `call` with these values has failed, if it can be analysed: it gets the event, or only a
    /// message.
    fn note_function(&mut self, call: &'m Expression, values: &[Value]) {
        let Term::Call { callee, named, .. } = &call.kind else {
            return;
        };
        let has_message = match values {
            [Value::Event, ..] => true,
            values => self.masks(values) & self.failing != 0,
        };
        let is_simple = matches!(values, [_]) && named.is_empty();
        if let Some(failure) = &mut self.run.failed {
            failure.is_simple = is_simple;
            failure.has_event = values.contains(&Value::Event);
            failure.function = callee.name().filter(|_| has_message);
        }
    }

    fn event(&mut self, kind: EventKind, call: &'m Expression) {
        self.run.events.push(Event { kind, call });
    }

    /// Does work, which fails if it is the chosen work of the chosen message.
    pub(super) fn work(&mut self, site: &'m Expression, given: Mask, record: Mask, is_awaited: bool) -> Evaluated {
        let address = std::ptr::from_ref(site) as usize;
        if record & self.failing != 0 {
            match &self.run.failed {
                Some(failure) if failure.site == address => return self.failed(failure.is_late, site),
                // A call that was made before is repeated.
                Some(_) if self.run.events.iter().any(|event| event.call == site) => {}
                Some(_) => self.run.is_parked |= given & self.failing != 0,
                None if self.fails_parsing => {}
                None => {
                    let is_async = self.module.is_script || self.frames.last().is_some_and(|frame| frame.is_async);
                    let returns_promise = self.returns_promise(site);
                    let may_be_late = is_async && !is_awaited && returns_promise != Some(false);
                    let is_certain = may_be_late && returns_promise.is_some();
                    let options = if may_be_late && !is_certain { 3 } else { 2 };
                    let chosen = self.chosen(Choice::Fail, site, options);
                    if chosen > 0 {
                        let is_late = is_certain || chosen == 2;
                        let (root, name) = match &site.kind {
                            Term::Call { callee, .. } => (callee.first_name(), callee.last_name()),
                            _ => (None, None),
                        };
                        let (root, name) = (root.unwrap_or_default(), name.unwrap_or_default());
                        let is_client = matches!(self.variable(root), Some(Value::Client));
                        self.run.failed = Some(Failure {
                            site: address,
                            call: site,
                            is_request: is_client || is_request(root) || is_command(site),
                            is_late,
                            may_be_early: is_late && !is_certain,
                            is_own: self.calls_own || self.replaced.contains(name),
                            has_event: false,
                            is_simple: false,
                            function: None,
                        });
                        self.run.reads.failed_within = self.run.reads.tries.clone();
                        return self.failed(is_late, site);
                    }
                }
            }
        }
        Ok(Value::Unknown(given))
    }

    /// Fails because the body of the message is malformed.
    pub(super) fn fail_parsing(&mut self, call: &'m Expression) -> Flow {
        self.run.failed = Some(Failure {
            site: std::ptr::from_ref(call) as usize,
            call,
            is_request: false,
            is_late: false,
            may_be_early: false,
            is_own: false,
            has_event: false,
            is_simple: false,
            function: None,
        });
        Flow::Raise(Value::Failure)
    }

    /// Returns whether `call` returns a promise, by the declaration of an imported function, or as one of Node.js or of
    /// a library for requests; `None` if this is unknown.
    fn returns_promise(&self, call: &Expression) -> Option<bool> {
        let Term::Call { callee, .. } = &call.kind else {
            return None;
        };
        if let Some(known) = callee.name().and_then(|name| self.module.promises.get(name)) {
            return Some(*known);
        }
        let name = callee.last_name()?;
        if SYNCHRONOUS.contains(&name) {
            return Some(false);
        }
        let is_library = match callee.first_name() {
            Some("axios" | "got") => true,
            // An import may have the name of the global function.
            Some("fetch") => self.variable("fetch").is_none(),
            _ => false,
        };
        let is_request = is_library && REQUESTS.contains(&name);
        let is_sent = name == "send" && is_command(call);
        let is_promised = name == "promise" || self.promised == std::ptr::from_ref(call) as usize;
        (self.module.is_script && (is_request || is_sent || is_promised)).then_some(true)
    }

    /// Raises the failure, or returns a promise that is rejected later.
    fn failed(&mut self, is_late: bool, site: &Expression) -> Evaluated {
        if !is_late {
            return Err(Flow::Raise(Value::Failure));
        }
        let promise = self.promise(Err(Value::Failure), true, site.at.clone());
        if let (Value::Promise(id), None) = (&promise, self.run.late) {
            self.run.late = Some(*id);
        }
        Ok(promise)
    }
}

/// Returns `true` if a call has no effect that matters. A log may call a function that it gets, and so may a tracer.
fn has_no_effect(whole: &Expression, callee: &Expression, all: &[Value]) -> bool {
    let is_function = matches!(callee.last_name(), Some("apply" | "call"));
    if is_function
        && all
            .iter()
            .any(|value| matches!(value, Value::List(_) | Value::Object(_)))
    {
        // `Array.prototype.push.call(failures, failure)`
        return false;
    }
    let may_call = says_log(callee) || callee.first_name() == Some("tracer");
    let gets_function = all.iter().any(|value| matches!(value, Value::Function(_)));
    is_harmless(callee) && !(may_call && gets_function) && stores::event(whole).is_none()
}

/// Returns `true` if a call gets a command of the AWS SDK.
fn is_command(call: &Expression) -> bool {
    let Term::Call { arguments, .. } = &call.kind else {
        return false;
    };
    arguments.first().is_some_and(|one| {
        matches!(&one.kind, Term::Call { callee, is_new: true, .. }
            if callee.last_name().is_some_and(|name| name.ends_with("Command")))
    })
}
