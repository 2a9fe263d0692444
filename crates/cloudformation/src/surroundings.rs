//! Facts about the other templates of a run that the evaluation of one template needs: exports, fragments of one template,
//! and names that no file of the run declares.

use super::value::Outcomes;
use knowledge::UnitKey;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use trees::{Node, Parsed, Value};

/// A value that a stack publishes under a name in its account and Region.
#[derive(Debug, Clone)]
pub(crate) struct Export {
    pub(crate) name: String,
    /// The exporting unit.
    pub(crate) unit: Arc<str>,
    pub(crate) outcomes: Outcomes<'static>,
}

/// Name that a template uses.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum UsedName {
    Condition(Arc<str>),
    /// Name of a resource or parameter.
    Value(Arc<str>),
}

/// Facts about the other templates that the evaluation of one template needs.
#[derive(Default)]
pub(crate) struct Project {
    pub(crate) exports: BTreeMap<String, Vec<Export>>,
    pub(crate) fragments: FxHashMap<PathBuf, Arc<Fragments>>,
    /// Fragments, and templates that they are put into.
    pub(crate) incomplete: BTreeSet<PathBuf>,
}

/// A template that a build step merges with others.
pub(crate) struct Member {
    pub(crate) path: PathBuf,
    /// The key of its unit.
    pub(crate) unit: Arc<str>,
    pub(crate) parsed: Arc<Parsed>,
}

impl Member {
    /// Returns its first document, which every member has.
    pub(crate) fn root(&self) -> Option<&Node> {
        self.parsed.documents.first()
    }
}

/// Templates that a build step merges into one.
pub(crate) struct Fragments {
    /// Prefix of the keys of their variables, which are shared only among them.
    pub(crate) scope: UnitKey,
    pub(crate) members: Vec<Member>,
}

impl Project {
    pub(crate) fn exports(&self, name: &str) -> &[Export] {
        self.exports.get(name).map_or(&[], Vec::as_slice)
    }

    /// Adds to the fragment at `path` the `Globals` of another fragment, if exactly one of them has `Globals`.
    pub(crate) fn with_globals<'d>(&self, document: Cow<'d, Node>, path: &Path) -> Cow<'d, Node> {
        let Some(group) = self.fragments_of(path).filter(|_| document.get("Globals").is_none()) else {
            return document;
        };
        let others = group.members.iter().filter(|member| member.path != path);
        let mut globals = others.filter_map(|member| member.root()?.entry("Globals"));
        let (Some(only), None) = (globals.next(), globals.next()) else {
            return document;
        };
        let mut document = document.into_owned();
        if let Value::Mapping(entries) = &mut document.value {
            entries.push(only.clone());
        }
        Cow::Owned(document)
    }

    /// Returns `true` if the file at `path` is merged with files that are not part of the project.
    pub(crate) fn is_incomplete(&self, path: &Path) -> bool {
        self.incomplete.contains(path)
    }

    pub(crate) fn fragments_of(&self, path: &Path) -> Option<&Fragments> {
        self.fragments.get(path).map(|group| &**group)
    }
}
