//! Applies what configurations state of queues, modules and sources that other files own, and reports statements that
//! match nothing.

use super::declarations::{Missing, names_of};
use super::policies::Policies;
use crate::config::{ConfigText, Duration, External, Located, Owned, StatedQueue};
use crate::graph::external::{ExternalQueue, unstated};
use crate::graph::{Attribute, CodeSource, Form, Function, Link, Seconds, Target, UnitGraph};
use source::{Sources, Span};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Applies the statements to the units of an environment. `missing` collects those that match nothing in any.
pub(super) fn apply(parts: &mut [UnitGraph], policies: &Policies, sources: &Sources, missing: &mut Missing) {
    let of = |part: &UnitGraph| policies.of(&part.unit.name).externals.as_slice();
    if parts.iter().all(|part| of(part).is_empty()) {
        return;
    }
    let queues = parts.iter().flat_map(|part| &part.queues);
    let declared = queues.flat_map(|queue| names_of(&queue.resource, &queue.name).map(str::to_owned));
    let declared: BTreeSet<String> = declared.collect();
    for part in parts {
        let all = of(part);
        let queues = add_queues(part, all, &declared, sources);
        for external in all {
            let name = &external.name.value;
            let unused = match &external.what {
                Owned::Queue(_) if queues.contains(&external.name.range.start) => None,
                Owned::Queue(_) => {
                    let is_own = |own: &&String| name.matches(own) || name.written.ends_with(&format!(":{own}"));
                    Some(match declared.iter().find(is_own) {
                        Some(own) => format!("a file declares the queue `{own}`, so it has no effect:"),
                        None => "no reference to an undeclared queue matches".to_owned(),
                    })
                }
                Owned::Module(path) => {
                    let unread = std::mem::take(&mut part.unit.unread_modules).into_iter();
                    let (acknowledged, unread): (BTreeMap<_, _>, BTreeMap<_, _>) =
                        unread.partition(|(source, _)| name.matches(source));
                    part.unit.unread_modules = unread;
                    // A module that is read from its directory is not among them.
                    let is_unused = acknowledged.is_empty() && path.is_none();
                    part.unit.acknowledged_modules.extend(acknowledged.into_keys());
                    is_unused.then(|| "no call of an unread module matches".to_owned())
                }
                Owned::Source(path) => {
                    let is_named =
                        |one: &&mut Function| names_of(&one.resource, &one.name).any(|own| name.matches(own));
                    let mut named = part.functions.iter_mut().filter(is_named).peekable();
                    let is_unused = named.peek().is_none();
                    named.for_each(|function| set_source(function, path.as_deref()));
                    is_unused.then(|| "no function matches".to_owned())
                }
            };
            missing.note(external.file.as_ref(), &external.name, unused);
        }
    }
}

/// Adds the queues that the unit refers to. Returns the offsets of their statements.
fn add_queues(
    part: &mut UnitGraph,
    all: &[External],
    declared: &BTreeSet<String>,
    sources: &Sources,
) -> BTreeSet<usize> {
    let used: RefCell<BTreeSet<usize>> = RefCell::default();
    part.add_external_queues(|written, name| {
        let stated = all.iter().filter(|_| !declared.contains(name)).find_map(|external| {
            let pattern = &external.name.value;
            let Owned::Queue(queue) = &external.what else {
                return None;
            };
            (pattern.matches(written) || pattern.matches(name)).then_some((external, queue))
        });
        let (external, queue) = stated?;
        used.borrow_mut().insert(external.name.range.start);
        attributes(external, queue, sources)
    });
    used.into_inner()
}

/// Converts the facts for the graph, with their locations; `None` for a statement on a command line.
fn attributes(external: &External, queue: &StatedQueue, sources: &Sources) -> Option<ExternalQueue> {
    let ConfigText { path, text } = external.file.as_ref()?;
    let file = sources.find_read(path).unwrap_or_else(|| sources.add(path, &**text));
    let seconds = |name: &'static str, time: &Option<Located<Duration>>| {
        let time = time.as_ref()?;
        let seconds = i64::try_from(time.value.milliseconds() / 1000).unwrap_or(i64::MAX);
        Some(Attribute::set(
            name,
            Seconds(seconds),
            Span::new(file, time.range.clone()),
        ))
    };
    let fifo = queue.fifo.as_ref();
    let redrive = queue.dead_letter.as_ref().map(|stated| {
        let span = Span::new(file, stated.range.clone());
        let target = stated.value.as_deref().map(|name| {
            if name.is_empty() {
                return unstated("dead-letter", span);
            }
            let form = if name.starts_with("arn:") {
                Form::Arn
            } else {
                Form::Name
            };
            let target = Target::External(name.into());
            Attribute::set("dead-letter", Link { target, form }, span)
        });
        (target, span)
    });
    Some(ExternalQueue {
        span: Span::new(file, external.name.range.clone()),
        visibility_timeout: seconds("visibility-timeout", &queue.visibility_timeout),
        retention: seconds("retention", &queue.retention),
        fifo: fifo.map(|fifo| Attribute::set("fifo", fifo.value, Span::new(file, fifo.range.clone()))),
        redrive,
    })
}

/// Sets the source of `function`. A file is that of the handler, whatever the configuration calls it.
fn set_source(function: &mut Function, path: Option<&Path>) {
    let code = &mut function.code;
    let file = path.filter(|path| path.extension().is_some());
    let stem = file.and_then(|file| file.file_stem()?.to_str());
    let entry = code.handler.as_ref().and_then(|name| name.rsplit_once('.'));
    if let (Some(stem), Some((_, entry))) = (stem, entry) {
        code.handler = Some(format!("{stem}.{entry}"));
    }
    code.source = Some(path.map_or(CodeSource::Elsewhere, |path| CodeSource::Path(path.to_owned())));
}

#[cfg(test)]
mod tests;
