//! Reads a snapshot: a list of what an account has deployed, in the properties of CloudFormation.
//!
//! ```text
//! {"sqslint_snapshot": 1, "account": "111122223333", "time": "2026-11-23T10:00:00Z", "resources": [
//!   {"Type": "AWS::SQS::Queue", "Id": "arn:aws:sqs:eu-west-1:111122223333:orders",
//!    "Properties": {"QueueName": "orders", "VisibilityTimeout": 30}}]}
//! ```
//!
//! The resources of each Region become one template whose logical ids are the ids of the snapshot, so everything else
//! reads them like any other template. `"unread": [{"Unread": "arn:…", "Reason": "…"}]` lists what the account does not
//! permit to read. Answers of Cloud Control's `get-resource` are read, too: their properties are a
//! JSON text. Those of `list-resources` have only identifiers, from which nothing follows.

use crate::parameters::Values;
use crate::unit::{Unit, UnreadStack};
use source::reading::Problem;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use trees::{Entry, Node, Value, json};

/// Key whose value is the version of the format.
const MARK: &str = "sqslint_snapshot";
/// The version that is read.
const VERSION: i64 = 1;
/// Maximum number of Regions; AWS has fewer than half as many.
const MAX_REGIONS: usize = 100;

/// The resources of one Region as a template.
pub(crate) struct Region {
    pub(crate) root: Node,
    pub(crate) values: Values,
}

/// Reads the snapshot in `document`. `unit` receives what concerns all of it.
pub(crate) fn regions(document: &Node, unit: &mut Unit) -> Vec<Region> {
    let snapshot = Snapshot::read(document, &mut unit.problems);
    unit.taken = document.get("time").and_then(Node::as_str).map(Arc::from);
    let unread = document.get("unread").and_then(Node::items).unwrap_or_default();
    unit.unread.extend(unread.iter().filter_map(|one| {
        let reason = one.get("Reason").and_then(Node::as_str);
        Some(UnreadStack {
            unit: unit.name.clone(),
            id: one.get("Unread")?.as_str()?.into(),
            reason: reason.unwrap_or("the account does not permit it").into(),
            span: one.span,
        })
    }));
    if snapshot.without_properties > 0 {
        unit.notes.push(format!(
            "{} resources have only identifiers, as in answers of `list-resources`",
            snapshot.without_properties
        ));
    }
    let mut regions = snapshot.regions;
    if regions.len() > MAX_REGIONS {
        let message = format!("it has resources of more than {MAX_REGIONS} Regions");
        unit.problems.push(Problem::limit(document.span, message));
    }
    // Roles belong to no Region.
    let everywhere = if regions.len() > 1 { regions.remove(&None) } else { None };
    let everywhere = everywhere.into_iter().flatten().map(|role| (role.key.clone(), role));
    let everywhere: BTreeMap<_, _> = everywhere.collect();
    let account = snapshot.account;
    let regions = regions.into_iter().take(MAX_REGIONS).map(|(region, resources)| {
        let resources = Node::new(document.span, Value::Mapping(linked(resources, &everywhere)));
        Region {
            root: Node::new(document.span, Value::Mapping(vec![entry("Resources", resources)])),
            values: Values {
                region,
                account: account.clone(),
                ..Values::default()
            },
        }
    });
    regions.collect()
}

/// Replaces each string that is the id of one of `resources` by a reference to it, so that it links to this resource and
/// to no other with its name, and adds the resources of `everywhere` that they name.
fn linked(mut resources: Vec<Entry>, everywhere: &BTreeMap<Arc<str>, Entry>) -> Vec<Entry> {
    let own: BTreeSet<Arc<str>> = resources.iter().map(|resource| resource.key.clone()).collect();
    let mut used = BTreeSet::new();
    for resource in &mut resources {
        refer(&mut resource.value, &mut |id| {
            let is_role = everywhere.contains_key(id);
            if is_role {
                used.insert(id.clone());
            }
            is_role || own.contains(id)
        });
    }
    for mut role in used.iter().filter_map(|id| everywhere.get(id)).cloned() {
        refer(&mut role.value, &mut |id| own.contains(id));
        resources.push(role);
    }
    resources
}

/// Replaces the strings in `node` for which `is_id` returns `true` by references.
fn refer(node: &mut Node, is_id: &mut impl FnMut(&Arc<str>) -> bool) {
    let span = node.span;
    match &mut node.value {
        Value::Sequence(items) => items.iter_mut().for_each(|item| refer(item, is_id)),
        Value::Mapping(entries) => {
            // The two queues of a redrive policy name each other, which only matters before they exist.
            let entries = entries.iter_mut().filter(|entry| &*entry.key != "RedriveAllowPolicy");
            entries.for_each(|entry| refer(&mut entry.value, is_id));
        }
        Value::String(id) if is_id(id) => {
            let parts = [id.clone(), "Arn".into()].map(|text| Node::new(span, Value::String(text)));
            let parts = Node::new(span, Value::Sequence(parts.into()));
            node.value = Value::Mapping(vec![entry("Fn::GetAtt", parts)]);
        }
        _ => {}
    }
}

/// The resources of a snapshot as those of templates, by Region.
#[derive(Default)]
struct Snapshot {
    account: Option<Arc<str>>,
    regions: BTreeMap<Option<Arc<str>>, Vec<Entry>>,
    /// Number of resources without properties.
    without_properties: usize,
}

impl Snapshot {
    fn read(document: &Node, problems: &mut Vec<Problem>) -> Self {
        let mut snapshot = Snapshot {
            account: document.get("account").and_then(Node::as_str).map(Arc::from),
            ..Snapshot::default()
        };
        if let Some(mark) = document.get(MARK) {
            if mark.value != Value::Integer(VERSION) {
                let message = format!("this version of sqslint reads snapshots of version {VERSION}");
                problems.push(Problem::invalid(mark.span, message));
                return snapshot;
            }
            for resource in document.get("resources").and_then(Node::items).unwrap_or_default() {
                match own(resource) {
                    Some(entry) => snapshot.add(entry),
                    None => problems.push(Problem::invalid(
                        resource.span,
                        "a resource of a snapshot has a `Type`, an `Id` and `Properties`",
                    )),
                }
            }
            return snapshot;
        }
        let single = document.get("ResourceDescription").map(std::slice::from_ref);
        let several = document.get("ResourceDescriptions").and_then(Node::items);
        let kind = document.get("TypeName");
        for described in single.or(several).unwrap_or_default() {
            match kind.and_then(|kind| described_by_cloud_control(kind, described)) {
                Some(Ok(entry)) => snapshot.add(entry),
                Some(Err(problem)) => problems.push(problem),
                None => snapshot.without_properties += 1,
            }
        }
        snapshot
    }

    /// Adds a resource to its Region.
    fn add(&mut self, resource: Entry) {
        let mut parts = resource.key.split(':').skip(3);
        let mut known = || parts.next().filter(|part| !part.is_empty()).map(Arc::from);
        let (region, account) = (known(), known());
        if self.account.is_none() {
            self.account = account;
        }
        self.regions.entry(region).or_default().push(resource);
    }
}

/// Returns a resource of a snapshot as one of a template.
fn own(resource: &Node) -> Option<Entry> {
    let (kind, id) = (resource.entry("Type")?, resource.get("Id")?);
    kind.value.as_str()?;
    let properties = resource.entry("Properties")?;
    properties.value.entries()?;
    Some(Entry::new(
        id.as_str()?,
        id.span,
        Node::new(resource.span, Value::Mapping(vec![kind.clone(), properties.clone()])),
    ))
}

/// Returns a resource that Cloud Control describes as one of a template; `None` if only its identifiers are given.
fn described_by_cloud_control(kind: &Node, described: &Node) -> Option<Result<Entry, Problem>> {
    let written = described.get("Properties")?;
    let properties = match json::parse_value(written.as_str()?, written.span) {
        Ok(properties) => properties,
        Err(error) => return Some(Err(Problem::invalid(error.span, error.message))),
    };
    let arns = ["Arn", "EventSourceMappingArn", "TopicArn", "SubscriptionArn"];
    let id: Arc<str> = arns.iter().find_map(|key| properties.get(key)?.as_str())?.into();
    let value = Value::Mapping(vec![entry("Type", kind.clone()), entry("Properties", properties)]);
    let span = described.span;
    Some(Ok(Entry::new(id, span, Node { span, value })))
}

fn entry(key: &str, value: Node) -> Entry {
    Entry::new(key, value.span, value)
}
