//! Regions and accounts: where resources are, and what two of them have to have in common.

use super::compare::fact;
use super::finding::Finding;
use super::findings::Findings;
use super::operands::Known;
use crate::graph::{Graph, Link, Queue, Resource};

/// What a resource is in.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Place {
    Region,
    Account,
}

impl Place {
    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Place::Region => "Region",
            Place::Account => "account",
        }
    }

    /// In words: `eu-west-1`, `account 111122223333`.
    pub(crate) fn said(self, of: &str) -> String {
        match self {
            Place::Region => of.to_owned(),
            Place::Account => format!("account {of}"),
        }
    }

    /// That of `resource`, where it is known.
    pub(crate) fn of(self, resource: &Resource) -> Option<&str> {
        match self {
            Place::Region => resource.region.as_deref(),
            Place::Account => resource.account.as_deref(),
        }
    }

    /// That of what is at the end of `link`, which is declared as `resource`: as the link says it, else as it is declared.
    pub(crate) fn at<'g>(self, link: &'g Link, resource: Option<&'g Resource>) -> Option<&'g str> {
        let written = match self {
            Place::Region => link.region(),
            Place::Account => link.account(),
        };
        written.or_else(|| self.of(resource?))
    }
}

/// Requires of every queue and its dead-letter queue to be in one `place`.
pub(crate) fn together(graph: &Graph, findings: &mut Findings<'_>, place: Place) {
    for source in graph.queues() {
        let Some(here) = place.of(&source.resource) else {
            continue; // Nothing to compare with.
        };
        for target in findings.redrive_targets(&source.resource.when, source) {
            let dlq = graph.queue(source.resource.unit, target.value);
            let Some(there) = place.at(target.value, dlq.map(|dlq| &dlq.resource)) else {
                continue;
            };
            let is_same = fact(here == there, || format!("both queues are in {}", place.said(here))).given(&target);
            findings.require(&target.when, source, is_same, || {
                apart(source, &target, place, (here, there))
            });
        }
    }
}

fn apart(source: &Queue, target: &Known<'_, Link>, place: Place, (here, there): (&str, &str)) -> Finding {
    let (name, here, there) = (place.name(), place.said(here), place.said(there));
    let headline = format!(
        "{} is in {here} and its dead-letter queue in {there}, but both have to be in one {name}",
        source.resource.shown()
    );
    let label = format!("a queue in {there}{}", target.provenance());
    Finding::new("redrive", headline, target, label)
        .label(source.resource.header, format!("this queue is in {here}"))
        .help(format!("use a dead-letter queue in {here}"))
}
