//! Edits of Terraform files: arguments, blocks and references.
//!
//! The text of a file is parsed again, and an edit is made only if all relevant parts of the file can be read. This
//! module evaluates nothing and does not decide which changes to make.

mod alignment;
mod arguments;
mod comments;
mod dead_letter;
mod document;
mod json;
mod module;
mod naming;
mod references;
mod wanted;

use crate::diagnostic::{Change, Edit};
use crate::frontend::comments::Syntax;
pub(in crate::frontend) use comments::realigned;
use document::Document;
use source::{Sources, Span};

/// Returns the edits that apply `change` to a Terraform file.
pub(in crate::frontend) fn edits(change: &Change, sources: &Sources) -> Option<Vec<Edit>> {
    let header = place_of(change);
    let writes_blocks = matches!(change, Change::DeadLetterQueue(_) | Change::Alarm(_) | Change::Arn(_));
    if writes_blocks && module::is_pinned_before_012(header.file, sources) {
        return None; // The edits use syntax that requires Terraform 0.12.
    }
    // A new alarm copies the actions of an existing one, so a module without alarms receives none.
    let is_first = |header: &Span| !module::mentions(header.file, sources, wanted::ALARM);
    match change {
        Change::Alarm(header) if is_first(header) => return None,
        Change::Arn(span) => return references::to_arn(*span, sources).map(|edit| vec![edit]),
        _ => {}
    }
    if Syntax::of(sources.file(header.file).name()) == Some(Syntax::TerraformJson) {
        return json::edits(change, header, sources);
    }
    let document = Document::read(header.file, sources)?;
    match change {
        Change::Number { place, value } if place.written.is_none() => {
            arguments::insert(&document, place, *value, sources).map(|edit| vec![edit])
        }
        Change::ReportFailures(place) if place.written.is_none() => {
            arguments::insert_report(&document, place, sources).map(|edit| vec![edit])
        }
        Change::After(header, other) => arguments::depend(&document, *header, other, sources).map(|edit| vec![edit]),
        Change::Remove(place) => arguments::remove(&document, place),
        Change::DeadLetterQueue(queue) => dead_letter::queue(&document, queue, sources),
        Change::Alarm(header) => dead_letter::alarm(&document, *header, sources).map(|edit| vec![edit]),
        Change::Dimension { alarm, queue } => {
            dead_letter::dimension(&document, *alarm, *queue, sources).map(|edit| vec![edit])
        }
        _ => None,
    }
}

fn place_of(change: &Change) -> Span {
    match change {
        Change::Number { place, .. } | Change::Remove(place) | Change::ReportFailures(place) => place.header,
        Change::DeadLetterQueue(queue) => queue.header,
        Change::Arn(span)
        | Change::After(span, _)
        | Change::Reference(span, _)
        | Change::Alarm(span)
        | Change::Dimension { alarm: span, .. }
        | Change::Unquote(span)
        | Change::Word { at: span, .. }
        | Change::Suppression { at: span, .. } => *span,
    }
}

/// Returns `true` if the text at `span` is nothing but a reference, and the only one to its target.
pub(in crate::frontend) fn is_only_use(span: Span, sources: &Sources) -> bool {
    references::is_only_use(span, sources)
}

#[cfg(test)]
mod tests;
