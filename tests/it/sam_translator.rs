//! Compares the graph of SAM templates with the graph of the translator's output: queues, functions, mappings, and the
//! nodes around them. The translator is a Python package that `.ci/run` installs. The templates are those of
//! `fixtures/sam`, of a collection of projects next to the checkout, if present, and of the directory that
//! `SAM_TEMPLATES` names.

use crate::inputs::check_files;
use conditions::Condition;
use needs::SAM_TRANSLATOR;
use serde_json::Value;
use sqslint::graph::access::{Grant, PolicyDocument, Principal, Statement};
use sqslint::graph::{Attribute, Graph, Link, Resource, State, Target};
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Expected differences: part of the path, part of the line, and the reason.
const EXPLAINED: [(&str, &str, &str); 4] = [
    ("stream_processor.yaml", "invoked StreamProcessor", "as in the next row"),
    (
        "stream_processor.yaml",
        "mapping StreamProcessorStream: ? parameter",
        "the type of the event determines that the source is a stream; the mapping only has a parameter",
    ),
    (
        "sam/role.yaml",
        "function Sometimes: ",
        "the transform inserts the parameter's default into the branch in which it has another value",
    ),
    (
        "sam/alias.yaml",
        "CodeDeployServiceRole",
        "the role of gradual deployments does not concern queues",
    ),
];

fn manifest() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Collects the templates below `directory` that use SAM types.
fn templates(directory: &Path, all: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(directory) else {
        return;
    };
    let mut entries: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            templates(&path, all);
        } else if path
            .extension()
            .is_some_and(|e| ["yaml", "yml", "json", "template"].iter().any(|known| e == *known))
            && std::fs::read_to_string(&path).is_ok_and(|text| text.contains("AWS::Serverless"))
        {
            all.push(path);
        }
    }
}

/// Runs the translator; its output has one line per path.
fn translations(python: &Path, paths: &[PathBuf]) -> Vec<Value> {
    let mut run = Command::new(python)
        .arg(manifest().join("tests/it/sam_translator.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = run.stdin.take().unwrap();
    let lines: String = paths.iter().map(|path| format!("{}\n", path.display())).collect();
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()).unwrap());
    let output = run.wait_with_output().unwrap();
    writer.join().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns a line of a fragment as if no other file set `Globals` for it: the translator takes a fragment for a
/// complete template.
fn as_if_whole(line: &str) -> String {
    let open = |key: &str| format!("? `Globals` in a file that was not read may set `{key}`");
    line.replace(&open("Timeout"), "Seconds(3)")
        .replace(&open("ReservedConcurrentExecutions"), "None")
}

/// Returns the graph of `text` as the only file.
fn graph(text: &str) -> Graph {
    check_files([("template.yaml", text)]).graph
}

fn world(when: &Condition) -> String {
    when.describe()
        .map_or(String::new(), |when| format!(" [{}]", plain_name(&when)))
}

/// Removes the digests from names of conditions that the translator generates: `NOTIsProd` plus a digest becomes
/// `not IsProd`.
fn plain_name(when: &str) -> String {
    let is_digest = |text: &str| text.len() == 10 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let word = |word: &str| {
        let mut bare = word;
        while let Some((name, digest)) = bare.len().checked_sub(10).and_then(|at| bare.split_at_checked(at))
            && is_digest(digest)
        {
            bare = name;
        }
        bare.replacen("NOT", "not ", 1).replacen("AND", " and ", 1)
    };
    let names = when.split(' ').map(word).collect::<Vec<_>>().join(" ");
    names.replace("not not ", "")
}

fn value<T>(attribute: &Attribute<T>, show: impl Fn(&T) -> String) -> String {
    let cases = attribute.cases.iter().map(|case| {
        let shown = match &case.state {
            State::Set(known) | State::Default(known) => show(known),
            State::Unresolved(reason) => format!("? {reason}"),
        };
        format!("{shown}{}", world(&case.when))
    });
    let cases: BTreeSet<String> = cases.collect();
    cases.into_iter().collect::<Vec<_>>().join(" | ")
}

fn plain<T: Debug>(attribute: &Attribute<T>) -> String {
    value(attribute, |known| format!("{known:?}"))
}

fn written(link: &Link) -> String {
    let (Target::Resource(text)
    | Target::External(text)
    | Target::Dangling(text)
    | Target::OtherUnit { address: text, .. }) = &link.target;
    text.to_string()
}

fn link(attribute: &Attribute<Link>) -> String {
    value(attribute, written)
}

fn optional(attribute: &Attribute<Option<Link>>) -> String {
    value(attribute, |known| known.as_ref().map_or("none".to_owned(), written))
}

/// Formats a statement if it concerns queues or keys.
fn statement(statement: &Statement) -> Option<String> {
    let actions = value(&statement.actions, |actions| actions.join(" "));
    let concerns = actions.to_lowercase().split(' ').any(|action| {
        let starts = ["sqs:", "kms:", "?", "*"];
        starts.iter().any(|start| action.starts_with(start))
    });
    let resources: Vec<String> = statement.resources.iter().map(link).collect();
    let conditions = statement.conditions.as_ref().map(|all| {
        let one = |condition: &sqslint::graph::access::StatementCondition| {
            let values: Vec<String> = condition.values.iter().map(link).collect();
            format!("{} {} {values:?}", condition.operator, condition.key)
        };
        let all: BTreeSet<String> = all.iter().map(one).collect();
        all.into_iter().collect::<Vec<_>>().join(", ")
    });
    let principal = |principal: &Principal| format!("{}:{}", principal.kind, principal.id.as_deref().unwrap_or("?"));
    let principals = value(&statement.principals, |all| {
        all.iter().map(principal).collect::<Vec<_>>().join(" ")
    });
    let (effect, negated) = (
        plain(&statement.effect),
        statement.negates != sqslint::graph::access::Negates::default(),
    );
    let when = world(&statement.when);
    concerns.then(|| format!("{effect} {actions} by {principals} on {resources:?} if {conditions:?} {negated}{when}"))
}

/// Formats the statements of a document about queues and keys, if any.
fn document(document: &PolicyDocument) -> String {
    let mut statements: Vec<String> = document.statements.iter().filter_map(statement).collect();
    statements.sort();
    statements.extend(document.opaque.as_ref().map(|reason| format!("opaque: {reason}")));
    statements.join("; ")
}

/// Formats the graph as lines, without locations and SAM-specific spelling.
fn lines(graph: &Graph) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    let mut line = |resource: &Resource, what: &str, parts: &[String]| {
        let when = world(&resource.when);
        all.insert(format!("{what} {}{when}: {}", resource.address, parts.join(", ")));
    };
    for queue in graph.queues() {
        let redrive = value(&queue.redrive, |policy| {
            policy.as_ref().map_or("none".to_owned(), |policy| {
                format!("{} {}", link(&policy.target), plain(&policy.max_receive_count))
            })
        });
        let parts = [
            plain(&queue.name),
            plain(&queue.fifo),
            plain(&queue.visibility_timeout),
            plain(&queue.retention),
            plain(&queue.delay),
            optional(&queue.key),
            redrive,
        ];
        line(&queue.resource, "queue", &parts);
    }
    for function in graph.functions() {
        let failures = function.failure_targets.iter();
        let failures: BTreeSet<String> = failures
            .map(|failure| format!("{}{}", link(&failure.target), world(&failure.when)))
            .collect();
        let parts = [
            plain(&function.name),
            plain(&function.timeout),
            plain(&function.reserved_concurrency),
            plain(&function.managed_instances),
            plain(&function.durable_execution_timeout),
            plain(&function.recursive_loop),
            optional(&function.role),
            format!("{failures:?}"),
        ];
        line(&function.resource, "function", &parts);
    }
    mappings(graph, &mut line);
    for alarm in graph.alarms() {
        let metrics: Vec<String> = alarm.metrics.iter().map(|metric| link(&metric.queue)).collect();
        line(&alarm.resource, "alarm", &metrics);
    }
    deliveries(graph, &mut line);
    access(graph, &mut line);
    for used in graph.queues().iter().flat_map(|queue| graph.dead_letter_uses_of(queue)) {
        all.insert(format!(
            "use by {}: {}{}",
            used.resource,
            link(&used.target),
            world(&used.when)
        ));
    }
    for function in graph.functions().iter().filter(|f| !graph.invocations_of(f).is_empty()) {
        all.insert(format!("invoked {}", function.resource.address));
    }
    for queue in graph
        .queues()
        .iter()
        .filter(|queue| graph.is_passed_to_missing_code(queue))
    {
        all.insert(format!("handed out {}", queue.resource.address));
    }
    all
}

fn mappings(graph: &Graph, line: &mut impl FnMut(&Resource, &str, &[String])) {
    for mapping in graph.mappings() {
        let filters = value(&mapping.filters, |all| {
            all.iter().map(plain).collect::<Vec<_>>().join(" ")
        });
        let pollers = value(&mapping.provisioned_pollers, |pollers| {
            let both = |pollers: &sqslint::graph::ProvisionedPollers| {
                format!("{} {}", plain(&pollers.minimum), plain(&pollers.maximum))
            };
            pollers.as_deref().map_or(String::new(), both)
        });
        let stream: Vec<&str> = mapping.stream_settings.iter().map(|setting| &*setting.name).collect();
        let parts = [
            link(&mapping.queue),
            link(&mapping.function),
            plain(&mapping.qualifier),
            plain(&mapping.batch_size),
            plain(&mapping.window),
            plain(&mapping.report_batch_item_failures),
            plain(&mapping.maximum_concurrency),
            plain(&mapping.enabled),
            filters,
            pollers,
            optional(&mapping.failure_destination),
            stream.join(" "),
        ];
        line(&mapping.resource, "mapping", &parts);
    }
}

fn deliveries(graph: &Graph, line: &mut impl FnMut(&Resource, &str, &[String])) {
    let deliveries = graph.deliveries();
    for pipe in &deliveries.pipes {
        let parts = [link(&pipe.source), link(&pipe.target), plain(&pipe.batch_size)];
        line(&pipe.resource, "pipe", &parts);
    }
    for topic in &deliveries.topics {
        line(&topic.resource, "topic", &[plain(&topic.name), plain(&topic.fifo)]);
    }
    for subscription in &deliveries.subscriptions {
        let redrive = value(&subscription.redrive, |policy| {
            let shown = policy
                .as_ref()
                .map(|policy| (link(&policy.target), policy.faults.len()));
            format!("{shown:?}")
        });
        let parts = [
            link(&subscription.topic),
            plain(&subscription.protocol),
            link(&subscription.endpoint),
            plain(&subscription.raw_message_delivery),
            redrive,
        ];
        line(&subscription.resource, "subscription", &parts);
    }
    for target in &deliveries.targets {
        let parts = [
            format!("{:?}", target.sender),
            link(&target.source),
            link(&target.target),
            optional(&target.dead_letter),
            optional(&target.role),
            plain(&target.message_group_id),
            plain(&target.maximum_event_age),
            plain(&target.enabled),
        ];
        line(&target.resource, "target", &parts);
    }
}

fn access(graph: &Graph, line: &mut impl FnMut(&Resource, &str, &[String])) {
    let access = graph.access();
    for policy in &access.queue_policies {
        let parts = [link(&policy.queue), value(&policy.document, document)];
        line(&policy.resource, "queue policy", &parts);
    }
    for role in &access.roles {
        line(&role.resource, "role", &[plain(&role.name)]);
    }
    // Returns `true` for declared policies without statements about queues or keys.
    let is_idle = |granted: &Attribute<Link>| {
        let mut policies = access.managed_policies.iter();
        let declared = policies.find(|policy| link(granted) == *policy.resource.address);
        declared.is_some_and(|policy| value(&policy.document, document).is_empty())
    };
    for policy in &access.role_policies {
        let grant = match &policy.grant {
            Grant::Document(granted) => value(granted, document),
            Grant::Managed(granted) if is_idle(granted) => String::new(),
            Grant::Key => String::new(),
            // A policy's name and its ARN refer to the same policy.
            Grant::Managed(granted) => link(granted).rsplit('/').next().unwrap().to_owned(),
        };
        if !grant.is_empty() {
            line(
                &policy.resource,
                "grant",
                &[link(&policy.role), grant, world(&policy.when)],
            );
        }
    }
    for policy in &access.managed_policies {
        let granted = value(&policy.document, document);
        if !granted.is_empty() {
            line(&policy.resource, "managed policy", &[granted]);
        }
    }
    for key in &access.keys {
        let policy = value(&key.policy, |policy| policy.as_ref().map_or(String::new(), document));
        line(&key.resource, "key", &[policy]);
    }
    for alias in &access.key_aliases {
        line(&alias.resource, "key alias", &[plain(&alias.name), link(&alias.key)]);
    }
}

#[test]
fn sam_templates_match_the_translator() {
    let Some(python) = SAM_TRANSLATOR.found() else {
        return;
    };
    let mut paths = Vec::new();
    templates(&manifest().join("fixtures/sam"), &mut paths);
    let shared = ["../shared/corpus/dev", "../../shared/corpus/dev"].map(|place| manifest().join(place));
    if let Some(shared) = shared.iter().find(|place| place.is_dir()) {
        templates(shared, &mut paths);
    }
    if let Some(more) = std::env::var_os("SAM_TEMPLATES") {
        templates(Path::new(&more), &mut paths);
    }
    let (mut compared, mut refused, mut wrong) = (0, Vec::new(), Vec::new());
    for answer in translations(&python, &paths) {
        let path = answer["path"].as_str().unwrap();
        let shown = path.rsplit_once("corpus/dev/").map_or(path, |(_, rest)| rest);
        let is_fixture = shown.contains("fixtures/sam/");
        if let Some(reason) = answer["refused"].as_str() {
            assert!(!is_fixture, "{shown}: {reason}");
            refused.push(format!("{shown}: {reason}"));
            continue;
        }
        let given = match &answer["source"] {
            Value::Null => std::fs::read_to_string(path).unwrap(),
            source => source.to_string(),
        };
        let (ours, theirs) = (lines(&graph(&given)), lines(&graph(&answer["template"].to_string())));
        let ours: BTreeSet<String> = ours.iter().map(|line| as_if_whole(line)).collect();
        assert!(!is_fixture || ours.len() > 1, "{shown}: {ours:?}");
        compared += 1;
        let only_ours = ours.difference(&theirs).map(|line| format!("{shown}\n  ours   {line}"));
        let only_theirs = theirs.difference(&ours).map(|line| format!("{shown}\n  theirs {line}"));
        let is_explained = |line: &String| {
            let explains = |(at, part, _): &(&str, &str, &str)| shown.ends_with(at) && line.contains(part);
            EXPLAINED.iter().any(explains)
        };
        wrong.extend(only_ours.chain(only_theirs).filter(|line| !is_explained(line)));
    }
    println!(
        "{compared} templates compared, {} refused by the transform",
        refused.len()
    );
    for reason in &refused {
        println!("refused {reason}");
    }
    for line in &wrong {
        println!("{line}");
    }
    assert!(compared > 0, "there are fixtures");
    assert!(wrong.is_empty(), "{} lines differ", wrong.len());
}
