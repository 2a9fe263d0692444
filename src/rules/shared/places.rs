//! Compares the Regions and accounts of queues that must be in the same one.

use super::compare::fact;
use super::finding::Finding;
use super::findings::Findings;
use super::operands::Known;
use crate::graph::{Link, Resource};

/// Kind of location that two resources must share.
#[derive(Debug, Clone, Copy)]
pub(crate) enum LocationKind {
    Region,
    Account,
}

impl LocationKind {
    /// Returns the name of this kind of location.
    pub(crate) fn name(self) -> &'static str {
        match self {
            LocationKind::Region => "Region",
            LocationKind::Account => "account",
        }
    }

    /// Formats the location `of`: `eu-west-1`, `account 111122223333`.
    pub(crate) fn describe(self, of: &str) -> String {
        match self {
            LocationKind::Region => of.to_owned(),
            LocationKind::Account => format!("account {of}"),
        }
    }

    /// Returns the location of `resource`, if known.
    pub(crate) fn of(self, resource: &Resource) -> Option<&str> {
        match self {
            LocationKind::Region => resource.region.as_deref(),
            LocationKind::Account => resource.account.as_deref(),
        }
    }

    /// Returns the location of the target of `link`, which is declared as `resource`: as written in the link, or else
    /// as declared.
    pub(crate) fn at<'g>(self, link: &'g Link, resource: Option<&'g Resource>) -> Option<&'g str> {
        let written = match self {
            LocationKind::Region => link.region(),
            LocationKind::Account => link.account(),
        };
        written.or_else(|| self.of(resource?))
    }
}

/// Requires every queue and its dead-letter queue to be in the same `place`.
pub(crate) fn require_same_location(findings: &mut Findings<'_>, place: LocationKind) {
    for source in findings.graph.queues() {
        let Some(here) = place.of(&source.resource) else {
            continue; // Nothing to compare with.
        };
        for target in findings.redrive_targets(&source.resource.when, source) {
            let dlq = findings.graph.queue(source.resource.unit, target.value);
            let Some(there) = place.at(target.value, dlq.map(|dlq| &dlq.resource)) else {
                continue;
            };
            let is_same =
                fact(here == there, || format!("both queues are in {}", place.describe(here))).depending_on(&target);
            findings.require(&target.when, source, is_same, || {
                different_locations(&source.resource, &target, place, (here, there)).label(
                    source.resource.header,
                    format!("this queue is in {}", place.describe(here)),
                )
            });
        }
    }
}

/// Creates the finding for `resource`, whose dead-letter queue `target` is in another `place`.
pub(crate) fn different_locations(
    resource: &Resource,
    target: &Known<'_, Link>,
    place: LocationKind,
    (here, there): (&str, &str),
) -> Finding {
    let (name, here, there) = (place.name(), place.describe(here), place.describe(there));
    let headline =
        format!("{resource} is in {here} and its dead-letter queue in {there}, but both have to be in one {name}");
    let label = format!("a queue in {there}{}", target.provenance());
    Finding::new("redrive", headline, target, label).help(format!("use a dead-letter queue in {here}"))
}
