//! State that the runs over the parts of a project share, in an editor.

use crate::diagnostic::DEFAULT_ENVIRONMENT;
use crate::graph::{CommonNode, Graph, UnitGraph};
use rustc_hash::FxHashSet;
use source::{Cache, FileId, Ids, SourceFile, Sources};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// State that a run shares with others over the same files. A batch run shares nothing.
#[derive(Debug, Default, Clone)]
pub(crate) struct Session {
    /// Results of earlier runs.
    pub(crate) cache: Option<Arc<Cache>>,
    /// Ids of files, which all runs of a project share.
    pub(crate) ids: Option<Arc<Ids>>,
    pub(crate) outside: Outside,
    /// Flag that cancels the run.
    pub(crate) is_cancelled: Option<Arc<AtomicBool>>,
}

/// Nodes of parts that a run does not check.
#[derive(Debug, Default, Clone)]
pub(crate) struct Outside {
    nodes: Vec<SharedNode>,
    /// Names of their units.
    units: FxHashSet<String>,
}

impl FromIterator<SharedNode> for Outside {
    fn from_iter<I: IntoIterator<Item = SharedNode>>(nodes: I) -> Self {
        let nodes = Vec::from_iter(nodes);
        let units = nodes.iter().map(|one| one.node.unit.name.clone()).collect();
        Outside { nodes, units }
    }
}

/// A node that concerns all parts of a project.
#[derive(Debug, Clone)]
pub(crate) struct SharedNode {
    /// Environment in which the node was judged.
    environment: Option<String>,
    pub(crate) node: CommonNode,
    /// Texts that its spans point into.
    texts: Arc<Vec<(FileId, Arc<SourceFile>)>>,
}

impl SharedNode {
    /// Returns what the node means for other parts. Of several nodes with the same meaning, one suffices.
    pub(crate) fn meaning(&self) -> (Option<&str>, bool, u64) {
        (
            self.environment.as_deref(),
            self.node.concerns_roles(),
            self.node.digest,
        )
    }

    /// Collects the nodes of the part that a run has checked from its graphs by environment.
    pub(super) fn all<'g>(
        graphs: impl Iterator<Item = (&'g Option<String>, &'g Graph)>,
        session: &Session,
        sources: &Sources,
    ) -> Vec<SharedNode> {
        let mut all = Vec::new();
        let mut texts = None;
        for (environment, graph) in graphs {
            let nodes = CommonNode::all(graph).into_iter();
            all.extend(
                nodes
                    .filter(|node| !session.is_outside(&node.unit.name))
                    .map(|node| SharedNode {
                        environment: environment.clone().filter(|name| name != DEFAULT_ENVIRONMENT),
                        node,
                        texts: texts.get_or_insert_with(|| Arc::new(sources.all())).clone(),
                    }),
            );
        }
        all
    }
}

impl Session {
    /// Returns the nodes of other parts in an environment. Parts that do not declare it are the same in all of them.
    pub(super) fn outside(&self, environment: Option<&String>) -> Vec<UnitGraph> {
        let is_of = |one: &&SharedNode| {
            let own = one.environment.as_ref();
            own.zip(environment).is_none_or(|(own, name)| own == name)
        };
        CommonNode::units(self.outside.nodes.iter().filter(is_of).map(|one| &one.node))
    }

    /// Returns `true` if this run does not check `unit`.
    pub(super) fn is_outside(&self, unit: &str) -> bool {
        self.outside.units.contains(unit)
    }

    /// Adds the texts of other parts for the spans of their nodes.
    pub(super) fn add_texts(&self, sources: &Sources) {
        self.outside.nodes.iter().for_each(|one| sources.add_files(&one.texts));
    }
}
