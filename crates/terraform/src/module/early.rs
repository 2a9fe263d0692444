//! Module sources that are expressions over variables and locals. `OpenTofu` evaluates them before it reads any module.
//!
//! A module is read before its callers are known, so a source is evaluated here with the module's own values. The
//! arguments of the call later determine which of the directories is the right one (`eval/expansion.rs`).

use super::{AllowedDirectory, Call, Module, Modules, Source, is_local};
use crate::eval::Evaluator;
use crate::inputs::RootInputs;
use crate::syntax::ExpressionKind;
use source::Sources;
use std::path::PathBuf;
use std::sync::Arc;

/// Adds the directories that a source may refer to, to each call of `module` with such a source.
pub(crate) fn resolve_sources(
    mut module: Arc<Module>,
    given: &RootInputs,
    sources: &Sources,
    bounds: &AllowedDirectory,
) -> Arc<Module> {
    let is_unresolved = |call: &Call| matches!(call.source, Source::Away(_)) && is_expression(call);
    let unresolved: Vec<Arc<str>> = (module.calls.iter())
        .filter(|(_, call)| is_unresolved(call))
        .map(|(name, _)| name.clone())
        .collect();
    for name in unresolved {
        let found = directories(&module, &name, given, sources, bounds);
        let call = Arc::get_mut(&mut module).and_then(|module| module.calls.get_mut(&name));
        if let Some(call) = call
            && !found.is_empty()
        {
            let block = call.block.clone();
            let source = Source::Early(found);
            *call = Arc::new(Call { block, source });
        }
    }
    module
}

fn is_expression(call: &Call) -> bool {
    let source = call.block.body.attribute("source");
    source.is_some_and(|source| !matches!(source.value.kind, ExpressionKind::Text(_)))
}

fn directories(
    module: &Arc<Module>,
    call: &Arc<str>,
    given: &RootInputs,
    sources: &Sources,
    bounds: &AllowedDirectory,
) -> Vec<PathBuf> {
    let modules = Modules::new();
    let mut evaluator = Evaluator::new(sources, &modules, module.clone(), "");
    evaluator.inputs = Some(given);
    let Some(source) = module
        .calls
        .get(call)
        .and_then(|call| call.block.body.attribute("source"))
    else {
        return Vec::new();
    };
    let scope = evaluator.scope(0);
    let written = evaluator.eval(&source.value, &scope);
    let cases = written.each_case();
    let texts = cases.iter().filter_map(|case| case.to_text());
    let local = texts.filter(|text| is_local(text));
    let paths = local.filter_map(|text| bounds.0.real(&module.directory.join(&*text)).ok());
    paths
        .filter(|path| bounds.0.is_directory(path) && bounds.allow(path))
        .collect()
}
