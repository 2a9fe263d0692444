#![doc = include_str!("../README.md")]

mod facts;
mod find;
mod limits;
mod missing;
mod poll;
mod read;
mod run;
mod words;

pub use facts::{
    Code, CodeSource, ContinuesAfterFailure, Defect, Fact, Handler, KeyRead, Outcome, PolledQueue, RecordReads,
    Response, SNS_ENVELOPE, StatedTime, Unread,
};
pub use poll::{Loss, LossKind, PollingProgram, Programs, Renewal};

use find::locate::{self, FoundSource, Located, Made, Origin, locate};
use find::search::Search;
use find::versions;
use indexmap::IndexSet;
use read::language::Language;
use read::nesting::Refusal;
use read::syntax::{Function, Module, TextRange};
use read::{python, scan, script};
use run::imported;
use run::machine::Machine;
use run::reads::HandlerReads;
use run::scenario::{self, Facts};
use rustc_hash::FxHashMap;
use source::{Sources, Span};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// Reader of the functions of one repository. Each source is read once.
pub struct Reader<'s> {
    sources: &'s Sources,
    search: Search<'s>,
    known: FxHashMap<Code, Result<Arc<Handler>, Unread>>,
    /// Number of bytes that were analysed of each file. A file is analysed once per handler.
    analysed: FxHashMap<PathBuf, usize>,
}

impl<'s> Reader<'s> {
    /// Creates a reader of the files of `sources`.
    pub fn new(sources: &'s Sources) -> Self {
        Reader {
            sources,
            search: Search::new(sources),
            known: FxHashMap::default(),
            analysed: FxHashMap::default(),
        }
    }

    /// Returns the programs of the repository that poll queues.
    pub fn programs(&self) -> Programs {
        poll::programs(&self.search, self.sources, scenario::hides_failures)
    }

    /// Returns the programs in the source of the function at `code` that poll queues, if the source deletes messages.
    /// `is_only` is `true` if no other function has a handler of its name.
    pub fn polls(&self, code: &Code, is_only: bool) -> Vec<PollingProgram> {
        match located(code, is_only, &self.search, self.sources) {
            Ok(located) if poll::may_poll(&located.text) => {
                let places = Places::new(&located, self.sources);
                match syntax_of(&located, "", self.sources) {
                    Ok(Syntax::Parsed(module)) => poll::programs_of(&module, &|at| places.span(at)),
                    _ => Vec::new(),
                }
            }
            _ => Vec::new(),
        }
    }

    /// Reads the functions at `codes`. If the flag of one is set, no other function has a handler of its name, and the
    /// repository is searched for it. The handlers of one file are analysed together, so that it is parsed once.
    pub fn read<'c>(&mut self, codes: impl IntoIterator<Item = (&'c Code, bool)>) {
        let mut sources: BTreeMap<Origin, Vec<(&Code, Located)>> = BTreeMap::new();
        let mut held = 0;
        for (code, is_only) in codes {
            if self.known.contains_key(code) {
                continue;
            }
            let located = located(code, is_only, &self.search, self.sources);
            let located = located.and_then(|located| self.admitted(located));
            let unread = match located {
                Ok(located) => {
                    held += located.text.len();
                    sources.entry(located.origin.clone()).or_default().push((code, located));
                    // Until its source is analysed.
                    Unread::NotSearched
                }
                Err(unread) => unread,
            };
            self.known.insert(code.clone(), Err(unread));
            if held > limits::MAX_HELD {
                self.analyse(std::mem::take(&mut sources), false);
                held = 0;
            }
        }
        self.analyse(sources, false);
    }

    /// Analyses the handlers of several sources, and once those of other files that make them or get their events.
    fn analyse(&mut self, sources: BTreeMap<Origin, Vec<(&Code, Located)>>, is_followed: bool) {
        let mut others: BTreeMap<Origin, Vec<(&Code, Located)>> = BTreeMap::new();
        for handlers in sources.into_values() {
            let (codes, located): (Vec<&Code>, Vec<Located>) = handlers.into_iter().unzip();
            let found = understood(&located, self.sources);
            for ((code, located), found) in codes.into_iter().zip(located).zip(found) {
                let following: Vec<Located> = match &found {
                    _ if is_followed => Vec::new(),
                    Err(Unread::NotJudged(_)) => locate::factory(&located, self.sources).into_iter().collect(),
                    Ok((_, delegates)) => {
                        let each = delegates.iter().filter_map(|(function, made)| {
                            let found = imported::function(&located, function, self.sources);
                            found.map(|found| Located { made: *made, ..found })
                        });
                        each.collect()
                    }
                    Err(_) => Vec::new(),
                };
                for other in following {
                    if let Ok(other) = self.admitted(other) {
                        others.entry(other.origin.clone()).or_default().push((code, other));
                    }
                }
                if let Made::OfMessage(is_only) = located.made {
                    self.merge(code, is_only, found.ok().map(|(of_message, _)| of_message));
                    continue;
                }
                // Nothing is better than what is known already.
                if found.is_ok() || !matches!(self.known.get(code), Some(Ok(_))) {
                    self.known
                        .insert(code.clone(), found.map(|(handler, _)| Arc::new(handler)));
                }
            }
        }
        if !others.is_empty() {
            self.analyse(others, true);
        }
    }

    /// Adds to the facts about the handler at `code` where a function that it calls for each message ends its failures.
    fn merge(&mut self, code: &Code, is_only: bool, of_message: Option<Handler>) {
        let Some(Ok(known)) = self.known.get_mut(code) else {
            return;
        };
        let outcome = of_message.as_ref().map_or(Outcome::Unknown, |found| found.outcome);
        if matches!(outcome, Outcome::Raised | Outcome::NoWork) {
            return;
        }
        let known = Arc::make_mut(known);
        let swallowed = of_message.and_then(|found| found.swallowed_failure);
        let is_lost = is_only && outcome == Outcome::Deleted && swallowed.is_some();
        known.outcome = if is_lost { Outcome::Deleted } else { Outcome::Unknown };
        known.outcome_alone = known.outcome;
        known.swallowed_failure = swallowed.filter(|_| is_lost);
    }

    /// Returns the facts about the function at `code`, if it was read.
    pub fn handler(&self, code: &Code) -> Option<Result<Arc<Handler>, Unread>> {
        self.known.get(code).cloned()
    }

    /// Returns the source, unless its file has too many handlers.
    fn admitted(&mut self, located: Located) -> Result<Located, Unread> {
        if let Origin::File(path) = &located.origin {
            let analysed = self.analysed.entry(path.clone()).or_default();
            *analysed += located.text.len();
            if *analysed > limits::MAX_ANALYSED_PER_FILE {
                let shown = self.sources.shown_of(path);
                return Err(Unread::Refused(
                    format!("`{shown}` has too many handlers: not all are read").into(),
                ));
            }
        }
        Ok(located)
    }
}

/// Locates the source of a function.
fn located(code: &Code, is_only: bool, search: &Search<'_>, sources: &Sources) -> Result<Located, Unread> {
    if code.source == Some(CodeSource::Elsewhere) {
        return Err(Unread::NotSearched);
    }
    let not_found = |why: String| Unread::NotFound(why.into());
    match locate(code, is_only, search, sources) {
        Some(FoundSource::Source(located)) => Ok(located),
        Some(FoundSource::Unreadable(path, why)) => {
            let reason = format!("`{}` was not read: {why}", sources.shown_of(&path));
            Err(Unread::Refused(reason.into()))
        }
        Some(FoundSource::Missing(paths)) => {
            // Several spellings of a handler lead to one path.
            let shown: IndexSet<String> = (paths.iter())
                .map(|path| format!("`{}`", sources.shown_of(path)))
                .collect();
            let shown: Vec<String> = shown.into_iter().collect();
            Err(not_found(format!("source not found (looked for {})", shown.join(", "))))
        }
        None => Err(not_found(
            "source not found (the configuration does not locate it)".to_owned(),
        )),
    }
}

/// Facts about a handler, and the imported functions that decide the rest.
type Understood = (Handler, Vec<(Arc<str>, Made)>);

/// Analyses the handlers of one source.
fn understood(handlers: &[Located], sources: &Sources) -> Vec<Result<Understood, Unread>> {
    let Some(first) = handlers.first() else {
        return Vec::new();
    };
    let shown = match &first.origin {
        Origin::File(path) => format!("`{}`", sources.shown_of(path)),
        Origin::Written(_) => "the source in the configuration".to_owned(),
    };
    let not_judged = |why: String| Unread::NotJudged(format!("{shown} is {why}").into());
    let each = handlers.iter();
    let text = &*first.text;
    match syntax_of(first, &shown, sources) {
        Err(unread) => each.map(|_| Err(unread.clone())).collect(),
        Ok(Syntax::Parsed(module)) => {
            let loaded = Machine::load(&module);
            let facts = each.map(|located| {
                if let Some(missing) = Places::new(located, sources).missing(&module) {
                    return Err(missing);
                }
                let facts = scenario::facts(&loaded, &located.name, located.made, text);
                let facts = facts.map(|mut facts| {
                    let delegates = std::mem::take(&mut facts.delegates);
                    let is_missing = |name: &Arc<str>| imported::function(located, name, sources).is_none();
                    if facts.outcome == Outcome::Raised && facts.own.iter().any(is_missing) {
                        (facts.outcome, facts.outcome_alone) = (Outcome::Unknown, Outcome::Unknown);
                    }
                    let names = [Some(&*located.name), facts.function.name.as_deref()];
                    let wait = poll::longest_wait(&module, &names.map(Option::unwrap_or_default));
                    let places = Places::new(located, sources);
                    let wait = wait.map(|(milliseconds, at)| StatedTime {
                        milliseconds,
                        span: places.span(&at),
                    });
                    (
                        Handler {
                            wait,
                            ..places.handler(facts)
                        },
                        delegates,
                    )
                });
                facts.ok_or_else(|| not_judged(format!("not understood, or has no handler `{}`", located.name)))
            });
            facts.collect()
        }
        Ok(Syntax::Unparsed(language)) => {
            let facts = each.map(|located| {
                let scanned = scan::handler(text, &located.name);
                let scanned = scanned.map(|scanned| (Places::new(located, sources).scanned(&scanned), Vec::new()));
                scanned.ok_or_else(|| not_judged(format!("not judged in {}", language.name())))
            });
            facts.collect()
        }
    }
}

/// Syntax of a source.
enum Syntax {
    Parsed(Module),
    /// Source in a language that is not parsed.
    Unparsed(Language),
}

/// Parses a source in the first of its languages that fits.
fn syntax_of(located: &Located, shown: &str, sources: &Sources) -> Result<Syntax, Unread> {
    let text = &*located.text;
    if is_built(text) {
        return Err(Unread::NotJudged(format!("{shown} is generated by a tool").into()));
    }
    let mut refusal = None;
    for language in &located.languages {
        let read = match language {
            Language::Python => python::read(text),
            Language::Script => script::read(text),
            other => return Ok(Syntax::Unparsed(*other)),
        };
        match read {
            Ok(mut module) => {
                if let Origin::File(path) = &located.origin {
                    if module.is_script {
                        module.promises = imported::promises(path, text, sources);
                    }
                    let says = module.says(&words::STANDARD_PROCESSORS) || module.says(&words::FIFO_PROCESSORS);
                    module.empties_full_batch =
                        says && versions::empties_full_batch(path, module.is_script, sources.files());
                    module.records_used = imported::records_used(path, text, sources);
                    module.own = imported::own(path, &module, sources);
                }
                return Ok(Syntax::Parsed(module));
            }
            Err(why) => refusal = refusal.or(Some(why)),
        }
    }
    let why = match refusal {
        Some(Refusal::TooDeep) => "it is nested too deeply",
        _ => "it has a syntax error, or syntax that sqslint does not know",
    };
    let reason = format!("{shown} was not read: {why}");
    Err(Unread::NotParsed(reason.into()))
}

/// Markers in the output of bundlers and compilers.
const OF_TOOLS: [&str; 6] = [
    "__webpack_require__",
    "__commonJS",
    "__defProp = Object.defineProperty",
    "Object.defineProperty(exports, \"__esModule\"",
    "Object.defineProperty(exports, '__esModule'",
    "//# sourceMappingURL=",
];

/// Returns `true` if `text` is generated from another source.
fn is_built(text: &str) -> bool {
    text.lines().any(|line| line.len() > limits::MAX_LINE_LENGTH) || OF_TOOLS.iter().any(|mark| text.contains(mark))
}

/// Converts byte ranges of a source to spans.
struct Places<'l> {
    located: &'l Located,
    sources: &'l Sources,
}

impl<'l> Places<'l> {
    fn new(located: &'l Located, sources: &'l Sources) -> Self {
        Places { located, sources }
    }

    /// Returns the span of the first line of `at`.
    fn span(&self, at: &TextRange) -> Span {
        let text = &self.located.text;
        let written = text.get(at.clone()).unwrap_or_default();
        let line = written.lines().next().unwrap_or_default().trim_end();
        let at = at.start..at.start + line.len();
        match &self.located.origin {
            Origin::File(path) => Span::new(self.sources.add(path, &**text), at),
            Origin::Written(span) => self.within(*span, line),
        }
    }

    /// Returns the span of a line of inline code in the configuration, or of the whole code if the line is not found
    /// literally.
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

    fn fact(&self, at: &TextRange, words: &str) -> Fact {
        Fact {
            span: self.span(at),
            words: words.into(),
        }
    }

    /// Returns the name of the function that a finding points at: its own, that of the variable it is assigned to, or the
    /// handler's. The handler may be a wrapper of it: `export const main = middy(fulfil)`.
    fn name_of<'n>(&'n self, function: &'n Function) -> &'n str {
        let before = self.located.text.get(..function.at.start).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        let declared = line.trim_end().strip_suffix('=').unwrap_or_default();
        let words = declared.split([':', ' ', '\t']).filter(|word| !word.is_empty());
        let variable = words
            .skip_while(|word| !matches!(*word, "const" | "let" | "var"))
            .nth(1);
        let own = function.name.as_deref().or(variable);
        own.unwrap_or(&self.located.name)
    }

    /// Converts the facts of an executed handler.
    fn handler(&self, facts: Facts<'_>) -> Handler {
        let fact = |at: Option<TextRange>, words: &str| at.map(|at| self.fact(&at, words));
        let queues = |are_polled: bool| {
            let found = facts.queues.iter().filter(|(.., is_polled)| *is_polled == are_polled);
            found.map(|(queue, at, _)| (queue.clone(), self.span(at))).collect()
        };
        let unconverted = facts.unmarshalable.as_ref().map(|(at, what)| {
            let defect = if facts.is_never_converted {
                Defect::NeverJson
            } else {
                Defect::NotAlwaysJson
            };
            (
                defect,
                self.fact(at, &format!("{}: it is, or contains, {what}", defect.words())),
            )
        });
        Handler {
            name: self.name_of(facts.function).into(),
            place: self.span(&facts.function.at),
            has_body: true,
            response: match facts.response {
                scenario::Response::Failures(at) => {
                    Response::Failures(self.fact(&at, "the handler returns `batchItemFailures`"))
                }
                scenario::Response::Nothing => Response::Nothing,
                scenario::Response::Empty | scenario::Response::Unknown => Response::Unknown,
            },
            outcome: facts.outcome,
            malformed_response: facts.malformed.map(|(at, why)| self.fact(&at, &why)),
            misplaced_failures: facts.misplaced.map(|(at, why)| self.fact(&at, &why)),
            outcome_alone: facts.outcome_alone,
            caught_call: facts.caught_call.map(|(name, at)| self.fact(&at, &name)),
            swallowed_failure: fact(facts.swallowed, "a failure ends here, and the message is deleted"),
            unawaited: fact(
                facts.unawaited,
                "nothing waits for this: the function returns before it is done",
            ),
            first_record_only: fact(facts.first_only, "only one record of the batch is used"),
            deletes_processed: facts.deletes,
            continues: facts.continues.map(|(at, instead)| ContinuesAfterFailure {
                fact: self.fact(&at, "continues with the records after one that failed"),
                instead,
            }),
            deadline_unaware_idempotency: fact(facts.undated, "it is not informed when Lambda ends the invocation"),
            unconditional_write: fact(facts.unconditional_write, "written without a condition, after the work"),
            pays_unconditionally: facts.pays_unconditionally,
            unreleased_claim: fact(facts.unreleased_claim, "the claim stays if the work fails"),
            unchecked_time_left: fact(facts.untimed, "one message after the other, until the time is out"),
            wait: None,
            reads: self.reads(facts.reads),
            sends_to: queues(false),
            polls: queues(true),
            defects: (facts.defects.into_iter())
                .map(|(defect, at)| (defect, self.fact(&at, defect.words())))
                .chain(unconverted)
                .collect(),
        }
    }

    /// Returns the reason that the source certainly lacks the handler, if it does.
    fn missing(&self, module: &Module) -> Option<Unread> {
        let name = &self.located.name;
        let is_own = self.located.is_certain && self.located.made == Made::Here;
        let functions = is_own.then(|| missing::functions_instead(module, &self.located.text, name))??;
        let shown = match &self.located.origin {
            Origin::File(path) => format!("`{}`", self.sources.shown_of(path)),
            Origin::Written(_) => "the source in the configuration".to_owned(),
        };
        let functions: Vec<String> = functions.iter().map(|name| format!("`{name}`")).collect();
        Some(Unread::NoFunction {
            words: format!("{shown} defines no function `{name}`").into(),
            file: self.span(&(0..self.located.text.len())),
            functions: functions.join(", ").into(),
        })
    }

    fn reads(&self, reads: HandlerReads) -> RecordReads {
        let read = |(key, at)| KeyRead {
            key,
            span: self.span(&at),
        };
        RecordReads {
            unknown_key: reads.unknown_key.map(|(unknown, known)| (read(unknown), known)),
            field: reads.field.map(read),
            envelope: reads.envelope.map(|(envelope, is_parsed)| (read(envelope), is_parsed)),
            events: reads.events.map(read),
        }
    }

    /// Converts the signature of a handler in a language that is not parsed.
    fn scanned(&self, scanned: &scan::Scanned) -> Handler {
        let failures = |at: &TextRange| Response::Failures(self.fact(at, "the handler returns the failed messages"));
        // A class and its method are already named.
        let of_program = Some(&*scanned.name).filter(|_| !self.located.name.contains("::"));
        Handler {
            name: of_program.unwrap_or(&self.located.name).into(),
            place: self.span(&scanned.at),
            has_body: false,
            response: match scanned.returns_failures {
                Some(true) => failures(&scanned.at),
                Some(false) => Response::Nothing,
                None => Response::Unknown,
            },
            outcome: Outcome::Unknown,
            malformed_response: None,
            misplaced_failures: None,
            outcome_alone: Outcome::Unknown,
            caught_call: None,
            swallowed_failure: None,
            unawaited: None,
            first_record_only: None,
            deletes_processed: scanned.deletes,
            continues: None,
            deadline_unaware_idempotency: None,
            unconditional_write: None,
            pays_unconditionally: false,
            unreleased_claim: None,
            unchecked_time_left: None,
            wait: None,
            reads: RecordReads::default(),
            sends_to: Vec::new(),
            polls: Vec::new(),
            defects: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests;
