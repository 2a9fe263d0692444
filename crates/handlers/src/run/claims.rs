//! Derives from the paths of a handler what becomes of a claim on a message, and of a message that was processed before.

use super::machine::{Event, EventKind};
use super::scenario::{CLOCKS, Path};
use super::stores;
use crate::facts::Outcome;
use crate::read::syntax::{Expression, Module, Term, TextRange};
use std::sync::Arc;

/// Calls that charge money or write to a person, by their names.
const PAYS: [&str; 12] = [
    "charge",
    "capture",
    "pay",
    "payout",
    "refund",
    "sendEmail",
    "sendMail",
    "send_email",
    "send_mail",
    "send_raw_email",
    "send_sms",
    "transfer",
];

/// Words in a source that handles a claim which is too old, or the end of the invocation.
const OLD: [&str; 7] = ["expir", "lease", "older", "stale", "timeout", "ttl", "until"];

/// Returns an unconditional write after the work, with a read of the same record before it that skips the work.
pub(super) fn unconditional_write(paths: &[Path<'_>], source: &str) -> Option<TextRange> {
    let done = || paths.iter().filter(|path| path.run.failed.is_none());
    let position = |path: &Path<'_>, kind: EventKind| path.run.events.iter().position(|event| event.kind == kind);
    done().find_map(|path| {
        let events = &path.run.events;
        let (read, work) = (position(path, EventKind::Read)?, position(path, EventKind::Work)?);
        let claim = position(path, EventKind::Claim);
        if read > work || claim.is_some_and(|claim| claim < work) {
            return None;
        }
        let (read, skips) = (events[read], |other: &Path<'_>| {
            let has = |kind| other.run.events.iter().any(|event| event.kind == kind);
            let reads = other.run.events.iter().any(|event| event.call == events[read].call);
            reads && !has(EventKind::Work) && !has(EventKind::Write)
        });
        let is_same =
            |event: &&Event<'_>| event.kind == EventKind::Write && stores::is_of_same(read.call, event.call, source);
        let write = events[work..].iter().find(is_same)?;
        done().any(skips).then(|| write.call.at.clone())
    })
}

/// Returns `true` if the work of a path is a payment or a message to a person, without a key against repetition.
pub(super) fn pays(path: &Path<'_>) -> bool {
    let is_payment = |event: &Event<'_>| {
        let Term::Call { callee, .. } = &event.call.kind else {
            return false;
        };
        let name = callee.last_name().unwrap_or_default();
        let is_known = PAYS.contains(&name) || callee.first_name() == Some("stripe") && name.starts_with("create");
        is_known
            && !event
                .call
                .says(&["IdempotencyKey", "idempotencyKey", "idempotency_key"])
    };
    path.run.failed.is_none()
        && path
            .run
            .events
            .iter()
            .any(|event| event.kind == EventKind::Work && is_payment(event))
}

/// Returns the write of a status before the work that makes the next delivery skip the work: the status is read first,
/// and a record with it is skipped. A handler that the end of the invocation stops never changes the status again.
pub(super) fn unreleased_status(paths: &[Path<'_>], module: &Module, source: &str) -> Option<TextRange> {
    let is_old = |word: &Arc<str>| {
        let lower = word.to_ascii_lowercase();
        OLD.iter().any(|old| lower.contains(old))
    };
    if module.says(&CLOCKS) || module.words.iter().any(is_old) {
        return None;
    }
    let position = |path: &Path<'_>, kind: EventKind| path.run.events.iter().position(|event| event.kind == kind);
    let skipping = |read: &Expression, status: &str| {
        paths.iter().any(|path| {
            let events = &path.run.events;
            let reads = events
                .iter()
                .any(|event| event.kind == EventKind::Read && event.call == read);
            let only_reads = events.iter().all(|event| event.kind == EventKind::Read);
            let compares = path.run.compared.iter().any(|text| text.eq_ignore_ascii_case(status));
            reads && only_reads && compares && path.has_returned && path.run.failed.is_none()
        })
    };
    paths.iter().filter(|path| !path.run.is_uncertain).find_map(|path| {
        let events = &path.run.events;
        let (read, work) = (position(path, EventKind::Read)?, position(path, EventKind::Work)?);
        let read = events.get(read).filter(|_| read < work)?.call;
        events[..work].iter().find_map(|event| {
            let is_write = matches!(event.kind, EventKind::Write | EventKind::Claim);
            let is_same = is_write && stores::is_of_same(read, event.call, source);
            let written = path.run.written.iter().filter(|(call, _)| *call == event.call);
            let mut statuses = written
                .flat_map(|(_, text)| text.split('\''))
                .filter(|text| !text.contains(' '));
            (is_same && statuses.any(|status| skipping(read, status))).then(|| event.call.at.clone())
        })
    })
}

/// Returns a conditional write that stays after the work failed, so that the next delivery skips the work.
pub(super) fn unreleased_claim(paths: &[Path<'_>]) -> Option<TextRange> {
    let claims = |path: &Path<'_>, kind: EventKind, call: &Expression| {
        let mut events = path.run.events.iter();
        events.any(|event| event.kind == kind && event.call == call)
    };
    let claimed = paths.iter().flat_map(|path| &path.run.events);
    let mut claimed = claimed.filter(|event| event.kind == EventKind::Claim && !stores::may_expire(event.call));
    claimed.find_map(|claim| {
        let call = claim.call;
        let failed = || {
            let mut all = paths.iter().filter(|path| path.outcome.is_some());
            std::iter::from_fn(move || all.next()).filter(|path| claims(path, EventKind::Claim, call))
        };
        let is_kept = |path: &Path<'_>| {
            let is_redelivered = matches!(path.outcome, Some(Outcome::Raised | Outcome::Reported));
            is_redelivered && !path.run.is_parked && !path.run.is_uncertain
        };
        let again = || paths.iter().filter(|path| claims(path, EventKind::ClaimExists, call));
        let is_skipped = |path: &Path<'_>| {
            let works = path.run.events.iter().any(|event| event.kind == EventKind::Work);
            // A message that the response names is delivered again.
            let is_named = path.named.is_some_and(|named| named != 0);
            path.has_returned && !works && !is_named && !path.run.is_uncertain
        };
        let is_lost = failed().next().is_some() && failed().all(is_kept);
        (is_lost && again().next().is_some() && again().all(is_skipped)).then(|| call.at.clone())
    })
}
