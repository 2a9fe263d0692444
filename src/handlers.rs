//! What the source of functions says: found by what the configuration says of it, read, and brought into the words of
//! the graph ([`Handler`]).
//!
//! It knows programming languages and libraries for Lambda, and no dialect of a configuration and no rule. Nothing is
//! executed. What is not there, is the output of a tool, or is not understood to the end, is not known, and nothing is
//! said of it.
//!
//! ```text
//! graph::Code ──► locate ──► python, script ──► syntax::Module ──► file, answers ──► graph::Handler
//! where it lies   the file   one a language     one shape for all   what it does       what rules ask
//! ```

mod answers;
mod failures;
mod file;
mod locate;
mod parse;
mod practices;
mod python;
mod reader;
mod records;
mod script;
mod syntax;
mod typed;
mod unawaited;
mod words;

use crate::graph::{Code, Continues, Fact, Graph, Handler, Response};
use crate::source::{Sources, Span};
use file::{Entry, File};
use locate::{Language, Located, Origin, locate};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use syntax::{Module, Place};
use typed::{Returns, Typed};

/// Reads the source of each function that a queue may invoke.
pub(crate) fn read(graph: &mut Graph, sources: &Sources) {
    let mut known: FxHashMap<Code, Option<Arc<Handler>>> = FxHashMap::default();
    graph.learn_handlers(|code| {
        if let Some(known) = known.get(code) {
            return known.clone();
        }
        let found = locate(code, sources).and_then(|located| understood(&located, sources));
        let found = found.map(Arc::new);
        known.insert(code.clone(), found.clone());
        found
    });
}

/// What a source says; `None` where it is not understood.
fn understood(located: &Located, sources: &Sources) -> Option<Handler> {
    if parse::is_built(&located.text) {
        return None;
    }
    let places = Places::new(located, sources);
    let text = &*located.text;
    located.languages.iter().find_map(|language| match language {
        Language::Python => said(&python::read(text)?, &places),
        Language::Script => said(&script::read(text)?, &places),
        Language::Java => {
            let (class, method) = located.name.split_once("::")?;
            Some(typed(&typed::java(text, class, method)?, method, &places))
        }
        Language::CSharp => {
            let (class, method) = located.name.split_once("::")?;
            Some(typed(&typed::csharp(text, class, method)?, method, &places))
        }
        Language::Go => Some(typed(&typed::go(text)?, "the handler", &places)),
    })
}

/// What a module says.
fn said(module: &Module, places: &Places<'_>) -> Option<Handler> {
    let file = File::new(module);
    let entry = file.entry(&places.located.name)?;
    let regions = file.regions(&entry);
    let fact = |at: Option<&Place>, words: &str| at.map(|at| places.fact(at, words));
    let continues = file.going_on(&regions).map(|(at, instead)| Continues {
        fact: places.fact(at, "goes on with the records behind one that failed"),
        instead,
    });
    let handler = Handler {
        name: places.located.name.as_str().into(),
        place: places.span(&entry.function.at),
        response: response(&file, &entry, places),
        swallows: fact(
            file.swallowing(&entry, &regions),
            "a failure ends here, and the message is deleted",
        ),
        unawaited: fact(
            file.unawaited(&entry),
            "nothing waits for this: the function returns before it is done",
        ),
        may_catch: file.may_catch(),
        continues,
        undated: fact(
            file.undated(&entry, &regions),
            "nothing tells it when Lambda ends the invocation",
        ),
        unconditional_write: fact(
            file.unconditional_write(&regions),
            "written without a condition, behind the work",
        ),
        untimed: fact(
            file.untimed(&regions),
            "one message after the other, until the time is out",
        ),
    };
    (!file.is_exhausted()).then_some(handler)
}

/// What the type of a handler says.
fn typed(typed: &Typed, name: &str, places: &Places<'_>) -> Handler {
    Handler {
        name: name.into(),
        place: places.span(&typed.at),
        response: match typed.returns {
            Returns::Failures => Response::Failures(places.fact(&typed.at, "the handler returns the failed messages")),
            Returns::Nothing => Response::Nothing,
            Returns::Unknown => Response::Unknown,
        },
        swallows: None,
        unawaited: None,
        may_catch: typed.may_catch,
        continues: None,
        undated: None,
        unconditional_write: None,
        untimed: None,
    }
}

/// What the handler answers.
fn response(file: &File<'_>, entry: &Entry<'_>, places: &Places<'_>) -> Response {
    let reports = |at: &Place, words: &str| Response::Failures(places.fact(at, words));
    if let Some(middleware) = entry.middleware(file) {
        return reports(&middleware.at, "this middleware returns `batchItemFailures`");
    }
    let answers = file.answers_of(entry.function, true, 0);
    let is_of_stream =
        file.says(&["SequenceNumber", "sequenceNumber", "sequence_number"]) && !file.says(&["messageId", "message_id"]);
    match answers.failures {
        Some(_) if is_of_stream => Response::Unknown,
        Some(at) => reports(&at, "the handler returns `batchItemFailures`"),
        None if answers.is_unknown || !entry.is_transparent() => Response::Unknown,
        None => Response::Nothing,
    }
}

/// Where bytes of a source stand for people.
struct Places<'l> {
    located: &'l Located,
    sources: &'l Sources,
}

impl<'l> Places<'l> {
    fn new(located: &'l Located, sources: &'l Sources) -> Self {
        Places { located, sources }
    }

    /// The first line of what stands at `at`.
    fn span(&self, at: &Place) -> Span {
        let text = &self.located.text;
        let written = text.get(at.clone()).unwrap_or_default();
        let line = written.lines().next().unwrap_or_default().trim_end();
        let at = at.start..at.start + line.len();
        match &self.located.origin {
            Origin::File(path) => Span::new(self.sources.add(path, &**text), at),
            Origin::Written(span) => self.within(*span, line),
        }
    }

    /// The place of a line of a text that is written in the configuration, where it is found there as it is.
    fn within(&self, span: Span, line: &str) -> Span {
        let written = self.sources.text(span);
        match written.find(line).filter(|_| !line.is_empty()) {
            Some(found) => {
                let start = span.start as usize + found;
                Span::new(span.file, start..start + line.len())
            }
            None => span,
        }
    }

    fn fact(&self, at: &Place, words: &str) -> Fact {
        Fact {
            span: self.span(at),
            words: words.into(),
        }
    }
}

#[cfg(test)]
mod tests;
