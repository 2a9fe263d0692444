//! Remote modules: the code that `terraform init` fetched (`registry/installed.rs`), otherwise descriptions of widely
//! used modules (`registry/description.rs`), with the spans of the call (`registry/place.rs`).
//!
//! Nothing is fetched. A call stays unresolved, with the reason, if its module is neither installed nor described, if
//! no description covers the version, or if it sets an argument that the description does not know.

mod address;
mod description;
mod installed;
mod place;
mod version;

pub use installed::Installed;
pub(crate) use installed::read_installed;

use super::module::{Module, Source, declare_described};
use super::syntax::{Block, ExpressionKind};
use address::Address;
use description::Description;
use place::Relocation;
use std::path::Path;
use std::sync::Arc;

/// Arguments of a call that are not variables of the module.
const META: [&str; 6] = ["source", "version", "count", "for_each", "providers", "depends_on"];

/// Returns the description of a module with a remote `source`, or the reason why it has none.
pub fn remote(call: &Block, source: &Arc<str>, directory: &Path) -> Source {
    let elsewhere = || Source::Away(format!("its source is `{source}`").into());
    let Some(address) = Address::read(source) else {
        return elsewhere();
    };
    let constraint = match constraint(call) {
        Ok(constraint) => constraint,
        Err(reason) => return Source::Away(reason),
    };
    match description::find(&address, constraint.as_deref()) {
        None => elsewhere(),
        Some(Err(reason)) => Source::Away(reason),
        Some(Ok(description)) => describe(call, description, &address, directory),
    }
}

/// Returns `true` if every version that `constraint` allows is lower than `version`.
pub(crate) fn ends_before(constraint: &str, version: [u64; 3]) -> bool {
    version::Range::read(constraint).is_some_and(|range| range.is_before(version))
}

/// Returns the `version` argument, which Terraform requires to be a literal.
pub(crate) fn constraint(call: &Block) -> Result<Option<Arc<str>>, Arc<str>> {
    match call.body.attribute("version").map(|attribute| &attribute.value.kind) {
        None | Some(ExpressionKind::Null) => Ok(None),
        Some(ExpressionKind::Text(text)) => Ok(Some(text.clone())),
        Some(_) => Err("its `version` is not a literal".into()),
    }
}

fn describe(call: &Block, description: &Description, address: &Address, directory: &Path) -> Source {
    let file = call.header.file;
    let variables = description.variables(file);
    let unknown = call
        .body
        .attributes
        .iter()
        .find(|argument| !META.contains(&&*argument.name) && !variables.contains(&*argument.name));
    if let Some(argument) = unknown {
        let reason = format!(
            "the description of `{}` has no variable `{}`",
            address.shown(),
            argument.name
        );
        return Source::Away(reason.into());
    }
    let blocks = description.blocks(file);
    let mut placing = Relocation::new(call, blocks);
    let mut module = Module {
        directory: directory.to_owned(),
        ..Module::default()
    };
    for block in blocks {
        declare_described(&mut module, placing.block(block));
    }
    module.described = Some(placing.spelling);
    Source::Described(Arc::new(module))
}
