//! Checks statements on what other files own: queues, modules, and the source of functions.

use super::{Checks, FileChecker};
use crate::config::external::{External, Owned, StatedQueue};
use crate::config::{Located, file};
use std::path::PathBuf;
use toml::Spanned;

impl FileChecker<'_> {
    /// Resolves the statements of a file, which share its text.
    pub(super) fn externals(&self, file: &file::File) -> Checks<Vec<External>> {
        let externals = file.externals.iter().map(|own| self.external(own));
        let sources = file.sources.iter().map(|own| self.source(own));
        let all: Vec<(&Spanned<String>, Owned)> = externals.chain(sources).collect::<Checks<_>>()?;
        let text = self.text_of(!all.is_empty());
        let named = all.into_iter().map(|(name, what)| {
            let name = self.names(name, "the name is empty")?;
            Ok(External {
                file: text.clone(),
                name,
                what,
            })
        });
        named.collect()
    }

    fn external<'f>(&self, own: &'f file::External) -> Checks<(&'f Spanned<String>, Owned)> {
        let refuse = |message: &str| self.error(own.span(), message);
        let stated = match (&own.queue, &own.module) {
            (Some(_), None) if own.path.is_some() => return Err(refuse("`path` is for a module")),
            (Some(queue), None) => (queue, Owned::Queue(Box::new(self.stated(own)?))),
            (None, Some(_)) if own.states_queue() => return Err(refuse("a module has no attributes of a queue")),
            (None, Some(module)) => (module, Owned::Module(self.local(own.path.as_ref()))),
            _ => return Err(refuse("name either a `queue` or a `module`")),
        };
        if !has_text(own.reason.as_deref()) && own.path.is_none() {
            return Err(refuse("a reason is missing: who owns it, and where?"));
        }
        Ok(stated)
    }

    fn stated(&self, own: &file::External) -> Checks<StatedQueue> {
        let time = |text: &Option<Spanned<String>>| text.as_ref().map(|text| self.duration(text)).transpose();
        let dead_letter = own.dead_letter.as_ref().map(|written| match written.get_ref() {
            toml::Value::Boolean(exists) => Ok(located(written, exists.then(String::new))),
            toml::Value::String(name) if !name.trim().is_empty() => Ok(located(written, Some(name.clone()))),
            _ => Err(self.error(written.span(), "write `true`, `false`, or the queue's ARN or name")),
        });
        Ok(StatedQueue {
            visibility_timeout: time(&own.visibility_timeout)?,
            retention: time(&own.retention)?,
            fifo: own.fifo.as_ref().map(|value| located(value, *value.get_ref())),
            dead_letter: dead_letter.transpose()?,
        })
    }

    fn source<'f>(&self, own: &'f file::FunctionSource) -> Checks<(&'f Spanned<String>, Owned)> {
        let refuse = |message: &str| Err(self.error(own.function.span(), message));
        match (&own.path, own.elsewhere) {
            (Some(path), None | Some(false)) => Ok((&own.function, Owned::Source(self.local(Some(path))))),
            (None, Some(true)) if has_text(own.reason.as_deref()) => Ok((&own.function, Owned::Source(None))),
            (None, Some(true)) => refuse("a reason is missing: where is the source?"),
            _ => refuse("set either `path`, or `elsewhere = true` with a reason"),
        }
    }

    fn local(&self, path: Option<&Spanned<String>>) -> Option<PathBuf> {
        path.map(|path| source::files::clean(&self.base.join(path.get_ref())))
    }
}

fn has_text(reason: Option<&str>) -> bool {
    reason.is_some_and(|text| !text.trim().is_empty())
}

fn located<V, T>(written: &Spanned<V>, value: T) -> Located<T> {
    let range = written.span();
    Located { value, range }
}
