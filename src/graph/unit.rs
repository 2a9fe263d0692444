//! Units, and the nodes of one unit as its frontend lowered it.

use super::order::Order;
use super::published::Publication;
use super::workers::Worker;
use super::{
    Access, Alarm, AlarmSubscriber, DeadLetterUse, Deliveries, EventSourceMapping, EventWithoutQueue, Function,
    FunctionAlias, Invocation, Link, Queue, SetBy, Target, UnknownProperty,
};
use knowledge::{Input, UnitKey};
use source::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Identifier of a unit: its index in [`Graph::units`](super::Graph::units).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnitId(pub u32);

/// Kinds of units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UnitKind {
    /// A Terraform root module, or a module without a caller.
    TerraformModule,
    /// A CloudFormation or SAM template.
    Template,
    /// A synthesised stack of a CDK app, nested or not.
    CdkStack,
    /// A `serverless.yml`.
    ServerlessService,
    /// A Terraform plan as JSON.
    Plan,
    /// A Terraform state, as JSON or as stored.
    State,
    /// A snapshot of what an account has deployed.
    Snapshot,
}

/// A configuration that one tool deploys as one.
#[derive(Debug, Clone)]
pub struct Unit {
    /// Directory or file, relative to the repository root.
    pub name: String,
    /// Kind of unit.
    pub kind: UnitKind,
    /// Parts of it that are not supported, for the summary ("functions and their events are not read").
    pub notes: Vec<String>,
    /// Sources of modules that are not read, each with its calls.
    pub unread_modules: BTreeMap<String, UnreadCalls>,
    /// Key that links of other units use for it: its name, or its call by another unit.
    pub key: UnitKey,
    /// Sources of remote modules that a team acknowledges not to be read.
    pub acknowledged_modules: BTreeSet<String>,
    /// `true` for a module that expects a call, if these files contain none.
    pub is_uncalled: bool,
}

/// Numbers of calls of a module that is not read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UnreadCalls {
    /// All calls.
    pub all: usize,
    /// Calls that receive a queue, or that declare one according to their names.
    pub of_queues: usize,
}

impl Unit {
    /// Creates a unit that no other calls, without notes.
    pub fn new(name: String, kind: UnitKind) -> Self {
        Unit {
            key: UnitKey::new(name.as_str()),
            name,
            kind,
            notes: Vec::new(),
            unread_modules: BTreeMap::new(),
            acknowledged_modules: BTreeSet::new(),
            is_uncalled: false,
        }
    }

    /// Counts a call of the module `source`, which is not read. `is_of_queue` is `true` if it receives
    /// or declares a queue.
    pub fn note_unread(&mut self, source: &str, is_of_queue: bool) {
        let calls = self.unread_modules.entry(source.to_owned()).or_default();
        calls.all += 1;
        calls.of_queues += usize::from(is_of_queue);
    }

    /// Returns a remark on the use of the unit, for its findings.
    pub fn remark(&self) -> Option<&'static str> {
        if self.is_for_local_use() {
            return Some("this is for local use, according to its path");
        }
        self.is_uncalled.then_some("nothing in these files calls this module")
    }

    /// Returns `true` if its path marks it as one that runs on a developer's machine: `local_testing/template.yaml`,
    /// `serverless.localstack.yml`, `template.local.yaml`.
    pub fn is_for_local_use(&self) -> bool {
        let is_local = |part: &str| {
            let words: Vec<String> = part.split(['.', '-', '_']).map(str::to_ascii_lowercase).collect();
            let is_trial = |word: &String| matches!(&**word, "dev" | "development" | "test" | "testing" | "tests");
            words.iter().any(|word| word == "localstack")
                || words.windows(2).any(|pair| pair[0] == "local" && is_trial(&pair[1]))
                || part.to_ascii_lowercase().contains(".local.")
        };
        self.name.split('/').any(is_local)
    }
}

/// A unit as its frontend lowered it. Links use addresses of the same unit.
#[derive(Debug, Clone)]
pub struct UnitGraph {
    /// The unit.
    pub unit: Unit,
    /// Queues.
    pub queues: Vec<Queue>,
    /// Functions.
    pub functions: Vec<Function>,
    /// Aliases of functions.
    pub aliases: Vec<FunctionAlias>,
    /// Event source mappings, except those of streams and other sources that are not queues.
    pub mappings: Vec<EventSourceMapping>,
    /// Alarms on any metric.
    pub alarms: Vec<Alarm>,
    /// Alarms that are declared but do not exist: under a condition that does not hold, or with a `count` of zero.
    pub nonexistent_alarms: Vec<Alarm>,
    /// Subscribers to alarms, other than alarm actions.
    pub alarm_subscribers: Vec<AlarmSubscriber>,
    /// Resources other than mappings that send to queues or consume them.
    pub deliveries: Deliveries,
    /// Resources that run programs, which may consume queues.
    pub workers: Vec<Worker>,
    /// Values that other units may read.
    pub publications: Vec<Publication>,
    /// Policies, roles and keys.
    pub access: Access,
    /// Uses of dead-letter queues by resources other than queues.
    pub dead_letter_uses: Vec<DeadLetterUse>,
    /// Other sources that may invoke functions.
    pub invocations: Vec<Invocation>,
    /// References to queues and roles that are passed to a module or nested stack whose files are not available. It may
    /// consume the queues or alarm on them, and grant more to the roles.
    pub passed_to_missing_code: Vec<Link>,
    /// Other references to queues, whose owners may send to them.
    pub mentioned: Vec<Link>,
    /// References, in place of a queue, to declared resources that are not queues, with their types: `AWS::SNS::Topic`.
    pub not_queues: Vec<(Target, Arc<str>)>,
    /// Properties that their resources do not have.
    pub unknown_properties: Vec<UnknownProperty>,
    /// Events of functions that name no queue.
    pub events_without_queue: Vec<EventWithoutQueue>,
    /// References to queues in calls of modules without an instance, which may contain alarms.
    pub uninstantiated_calls: Vec<(Link, Span)>,
    /// Numbers of resources that belong to a queue according to their types but are not read, by type, each with the
    /// first of them.
    pub unread_kinds: BTreeMap<Arc<str>, (usize, Span)>,
    /// Number of queues that do not exist, by the variable whose default leaves them out.
    pub switched_off: BTreeMap<Arc<str>, usize>,
    /// References between its resources; `None` if they are not known.
    pub order: Option<Order>,
}

impl UnitGraph {
    /// Creates an empty unit.
    pub fn new(unit: Unit) -> Self {
        UnitGraph {
            unit,
            queues: Vec::new(),
            functions: Vec::new(),
            aliases: Vec::new(),
            mappings: Vec::new(),
            alarms: Vec::new(),
            nonexistent_alarms: Vec::new(),
            alarm_subscribers: Vec::new(),
            deliveries: Deliveries::default(),
            workers: Vec::new(),
            publications: Vec::new(),
            access: Access::default(),
            dead_letter_uses: Vec::new(),
            invocations: Vec::new(),
            passed_to_missing_code: Vec::new(),
            mentioned: Vec::new(),
            not_queues: Vec::new(),
            unknown_properties: Vec::new(),
            events_without_queue: Vec::new(),
            uninstantiated_calls: Vec::new(),
            unread_kinds: BTreeMap::new(),
            switched_off: BTreeMap::new(),
            order: None,
        }
    }

    /// Forgets which numbers the inputs `set` of the unit set, because files of an environment set these inputs. If there
    /// are such files, each of them sets the inputs without a default, also those that only one environment needs.
    pub(crate) fn forget_inputs(&mut self, set: &BTreeSet<Arc<str>>) {
        if set.is_empty() {
            return;
        }
        let is_set = |input: &Input| input.is_required || (input.within.is_empty() && set.contains(&input.name));
        let functions = self.functions.iter_mut().map(|function| &mut function.timeout_set_by);
        let mappings = self.mappings.iter_mut().map(|mapping| &mut mapping.window_set_by);
        for set_by in functions.chain(mappings) {
            if matches!(set_by, Some(SetBy::Input(input)) if is_set(input)) {
                *set_by = None;
            }
        }
    }

    /// Counts a resource at `span` whose type `kind` is not read, if it belongs to a queue according to its type:
    /// `awscc_sqs_queue_policy`, `Acme::SQS::Queue::MODULE`.
    pub(crate) fn note_unread_kind(&mut self, kind: &Arc<str>, span: Span) {
        let mut words = kind.split(|c: char| !c.is_ascii_alphanumeric());
        let is_of_queue = words.any(|word| matches!(word, "sqs" | "SQS" | "EventsV2"));
        if is_of_queue {
            self.unread_kinds.entry(kind.clone()).or_insert((0, span)).0 += 1;
        }
    }

    /// Adds a note for each variable that leaves out queues and that no file of an environment sets.
    pub(crate) fn note_switches(&mut self, is_set: impl Fn(&Arc<str>) -> bool) {
        for (name, count) in std::mem::take(&mut self.switched_off) {
            if is_set(&name) {
                continue;
            }
            let (queues, them) = match count {
                1 => ("1 queue exists".to_owned(), "it"),
                _ => (format!("{count} queues exist"), "them"),
            };
            let note = format!("{queues} only with `var.{name}`, whose default leaves {them} out");
            self.unit.notes.push(note);
        }
    }

    /// Releases the spare capacity of the longest lists.
    pub(crate) fn trim(&mut self) {
        self.queues.shrink_to_fit();
        self.functions.shrink_to_fit();
        self.mappings.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::{Unit, UnitKind};

    #[test]
    fn path_marks_a_unit_for_local_use() {
        for (name, is_local) in [
            ("local_testing/template.yaml", true),
            ("app/local-dev", true),
            ("localstack/main", true),
            ("serverless.localstack.yml", true),
            ("template.local.yaml", true),
            ("local/template.yaml", false),
            ("locals.tf", false),
            ("testing/template.yaml", false),
            ("localized_testing/template.yaml", false),
        ] {
            let unit = Unit::new(name.to_owned(), UnitKind::Template);
            assert_eq!(unit.is_for_local_use(), is_local, "{name}");
        }
    }
}
