//! Flags queues of one deployment that have the same name in the same account and Region.

use super::prelude::*;
use std::collections::BTreeMap;

pub(super) static RULE: Rule = rule!(
    "queue-name-duplicate",
    Category::Queue,
    Severity::Error,
    "two resources declare a queue of the same name: both manage one queue, or the deployment fails"
);

type Named<'g> = (&'g Queue, Known<'g, Option<String>>);

fn check(findings: &mut Findings<'_>) {
    let mut by_name: BTreeMap<_, Vec<Named<'_>>> = BTreeMap::new();
    for queue in findings.graph.queues() {
        let resource = &queue.resource;
        // A queue that may not exist may be an alternative to another one.
        if !resource.is_single() {
            continue;
        }
        for name in findings.known(&resource.when, queue, &queue.name) {
            let Some(text) = name.value else { continue };
            let place = (resource.unit, &resource.placement, &resource.region, &resource.account);
            by_name.entry((place, text)).or_default().push((queue, name));
        }
    }
    for same in by_name.values() {
        for (at, (queue, name)) in same.iter().enumerate() {
            // Two conditions may give one queue the same name.
            let mut earlier = same.iter().take(at).filter(|(first, _)| !std::ptr::eq(*first, *queue));
            let rival = earlier.find(|(_, other)| name.when.is_possible_with(&other.when));
            let is_alone = fact(rival.is_none(), || "no other queue has this name".to_owned());
            if let Some((first, other)) = rival {
                findings.require(&name.when.and(&other.when), queue, is_alone, || {
                    duplicate(first, other, queue, name)
                });
            } else {
                findings.satisfied(&name.when, queue, is_alone.depending_on(name));
            }
        }
    }
}

fn duplicate(
    first: &Queue,
    other: &Known<'_, Option<String>>,
    queue: &Queue,
    name: &Known<'_, Option<String>>,
) -> Finding {
    let text = name.value.as_deref().unwrap_or_default();
    let headline = format!(
        "{queue} has the name `{text}` of {first}: SQS gives both the same queue, which is deleted with either, or fails with \
         \"A queue already exists with the same name and a different value for attribute\""
    );
    let help = "rename one of the queues, or remove it and refer to the other";
    Finding::new(
        "name",
        headline,
        name,
        format!("a queue with the name `{text}`{}", name.provenance()),
    )
    .label(other, format!("{first} has this name, too"))
    .help(help)
}
