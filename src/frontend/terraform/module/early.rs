//! Sources of modules that are expressions, which `OpenTofu` computes before it reads any module: of variables and locals.
//!
//! A module is read before anything is known of who calls it, so a source is computed here of what its module says itself,
//! and what the call says decides later which of the directories is meant (`eval/expansion.rs`).

use super::super::eval::Evaluator;
use super::super::inputs::Inputs;
use super::super::syntax::Kind;
use super::{Bounds, Call, Module, Modules, Source, is_local};
use crate::source::Sources;
use std::path::PathBuf;
use std::sync::Arc;

/// `module` with the directories that its sources may mean.
pub(super) fn settle(mut module: Arc<Module>, given: &Inputs, sources: &Sources, bounds: &Bounds) -> Arc<Module> {
    let is_open = |call: &Call| matches!(call.source, Source::Away(_)) && is_expression(call);
    let open: Vec<Arc<str>> = (module.calls.iter())
        .filter(|(_, call)| is_open(call))
        .map(|(name, _)| name.clone())
        .collect();
    for name in open {
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
    source.is_some_and(|source| !matches!(source.value.kind, Kind::Text(_)))
}

fn directories(
    module: &Arc<Module>,
    call: &Arc<str>,
    given: &Inputs,
    sources: &Sources,
    bounds: &Bounds,
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
