//! Variables and events of services. Whole services are compared with the framework's own output in
//! `tests/it/serverless.rs`.

#![allow(clippy::unwrap_used)]

use crate::frontend::Loaded;
use crate::frontend::cloudformation::{Document, load_all};
use crate::graph::{Attribute, Link, State, Target, UnitGraph};
use crate::inputs::UnitInputs;
use crate::testing::TemporaryDirectory;
use source::Sources;
use std::fmt::Write as _;

fn load_files(files: &[(&str, &str)]) -> Loaded {
    let directory = TemporaryDirectory::with_files(files.iter().copied());
    let root = directory.path().canonicalize().unwrap();
    let sources = Sources::new(None, root.clone());
    let files = [(root.join("svc/serverless.yml"), Document::Service)].into();
    let (loaded, _) = load_all(&files, &UnitInputs::default(), &sources);
    loaded.into_iter().next().unwrap()
}

fn load(text: &str) -> UnitGraph {
    let loaded = load_files(&[("svc/serverless.yml", text)]);
    assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
    loaded.graph
}

fn seconds(attribute: &Attribute<crate::graph::Seconds>) -> String {
    let [case] = &*attribute.cases else {
        return format!("{} cases", attribute.cases.len());
    };
    let value = match &case.state {
        State::Set(value) => value.0.to_string(),
        State::Default(value) => format!("default {}", value.0),
        State::Unresolved(reason) => return reason.to_string(),
    };
    let origins: Vec<&str> = case.origins.iter().map(|origin| &*origin.what).collect();
    if origins.is_empty() {
        value
    } else {
        format!("{value} from {}", origins.join(", "))
    }
}

fn target(attribute: &Attribute<Link>) -> String {
    match attribute.known().map(|link| &link.target) {
        Some(Target::Resource(id)) => id.to_string(),
        Some(Target::OtherUnit { address: text, .. } | Target::External(text) | Target::Dangling(text)) => {
            format!("external {text}")
        }
        None => attribute.unresolved_reason().unwrap().1.to_string(),
    }
}

/// Returns a service in which the visibility timeout of `Q` is `value`.
fn with_value(value: &str) -> String {
    format!(
        "service: svc
provider: {{name: aws, stage: '${{opt:stage, \"dev\"}}', timeout: 10}}
params:
  default: {{wait: 3, both: 1}}
  dev: {{both: 2}}
custom:
  number: 45
  text: '46'
  list: [7, 8]
  again: ${{self:custom.number}}
  stages: {{dev: {{v: 50}}, prod: {{v: 60}}}}
  secret: ${{env:SECRET}}
  loop: ${{self:custom.pool}}
  pool: ${{self:custom.loop}}
  nothing: null
  code: ${{file(code.js):x}}
  tree: ${{file(values.yml)}}
resources:
  Resources:
    Q:
      Type: AWS::SQS::Queue
      Properties:
        VisibilityTimeout: {value}
"
    )
}

#[test]
fn variables_resolve_with_provenance() {
    let values = "a: {b: 70, c: '${self:custom.number}'}\nupwards: '${file(../outside.yml):x}'\n";
    for (value, expected) in [
        ("${self:custom.number}", "45 from `custom.number`"),
        ("'${self:custom.text}'", "46 from `custom.text`"),
        ("${self:custom.again}", "45 from `custom.again`, `custom.number`"),
        ("${self:custom.list.1}", "8 from `custom.list.1`"),
        ("${self:custom.stages.${sls:stage}.v}", "50 from `custom.stages.dev.v`"),
        (
            "${self:custom.stages.${opt:stage, self:provider.stage}.v}",
            "50 from `custom.stages.dev.v`",
        ),
        ("${self:custom.none, 5}", "5"),
        ("${self:custom.nothing, 6}", "6"),
        ("${opt:wait, 12}", "12 from the default of `${opt:wait}`"),
        (
            "${opt:wait, ${self:custom.number}}",
            "45 from `custom.number`, the default of `${opt:wait}`",
        ),
        ("${param:wait}", "3 from `params.default.wait`"),
        ("${param:both}", "2 from `params.dev.both`"),
        ("${param:none, 4}", "4 from the default of `${param:none}`"),
        ("${file(values.yml):a.b}", "70 from `file(values.yml):a.b`"),
        (
            "${file(./values.yml):a.c}",
            "45 from `file(./values.yml):a.c`, `custom.number`",
        ),
        ("${self:custom.tree.a.b}", "70 from `custom.tree.a.b`"),
        ("${self:custom.number}0", "450 from `custom.number`"),
        ("${opt:wait}", "`${opt:wait}` is set when the service is deployed"),
        (
            "${env:WAIT}",
            "`${env:WAIT}` is read from the environment of a deployment",
        ),
        (
            "${env:WAIT, 30}",
            "`${env:WAIT, 30}` is read from the environment of a deployment",
        ),
        (
            "${self:custom.secret}",
            "`${env:SECRET}` is read from the environment of a deployment",
        ),
        (
            "${self:custom.secret, 4}",
            "`${self:custom.secret, 4}` is not set in the service",
        ),
        ("${self:custom.none}", "`${self:custom.none}` is not set in the service"),
        ("${self:custom.loop}", "`${self:custom.loop}` is not set in the service"),
        (
            "${self:custom.code, 4}",
            "`${self:custom.code, 4}` is not set in the service",
        ),
        ("${ssm:/a/b}", "`${ssm:/a/b}` is read from the parameter store"),
        (
            "${cf:stack.Out, 4}",
            "`${cf:stack.Out, 4}` is an output of a deployed stack",
        ),
        ("${file(code.js):x}", "`${file(code.js):x}` is computed by code"),
        (
            "${file(gone.yml):x, 4}",
            "`${file(gone.yml):x, 4}` is not in the project",
        ),
        (
            "${file(../outside.yml):x}",
            "`${file(../outside.yml):x}` is not in the project",
        ),
        ("${file(/etc/passwd)}", "`${file(/etc/passwd)}` is not in the project"),
        (
            "${file(values.yml):upwards}",
            "`${file(../outside.yml):x}` is not in the project",
        ),
        ("${unheardOf:x}", "`${unheardOf:x}` is known only to a plugin"),
        (
            "\\${self:custom.number}",
            "`\\${self:custom.number}` is not a whole number",
        ),
    ] {
        let text = with_value(value);
        let loaded = load_files(&[
            ("svc/serverless.yml", &text),
            ("svc/values.yml", values),
            ("svc/code.js", "module.exports = {x: 1}"),
            ("outside.yml", "x: 1\n"),
        ]);
        assert!(loaded.diagnostics.is_empty(), "{value}: {:?}", loaded.diagnostics);
        assert_eq!(seconds(&loaded.graph.queues[0].visibility_timeout), expected, "{value}");
    }
}

#[test]
fn function_tags_include_those_of_the_provider() {
    let service = |provider: &str, function: &str| {
        let text =
            format!("service: s\nprovider: {{name: aws{provider}}}\nfunctions:\n  f: {{handler: a.b{function}}}\n");
        let graph = load(&text);
        let tags = &graph.functions[0].tags;
        let Some(tags) = tags.known() else {
            return "not known".to_owned();
        };
        let shown = tags
            .entries
            .iter()
            .map(|tag| format!("{}={}", tag.key(), tag.value.known().unwrap()));
        let open = tags.opaque.iter().map(|_| "and more".to_owned());
        shown.chain(open).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(service("", ""), "");
    assert_eq!(service(", tags: {owner: shop}", ""), "owner=shop");
    assert_eq!(service("", ", tags: {owner: shop}"), "owner=shop");
    assert_eq!(
        service(", tags: {owner: all, cost: '1'}", ", tags: {owner: shop}"),
        "owner=shop cost=1"
    );
    for open in [
        service(", tags: \"${param:x}\"", ""),
        service(", tags: \"${param:x}\"", ", tags: {owner: shop}"),
        service(", tags: {owner: shop}", ", tags: \"${param:x}\""),
    ] {
        assert!(matches!(&*open, "not known" | "and more"), "{open}");
    }
}

#[test]
fn function_timeout_defaults_to_that_of_the_provider() {
    let service = |provider: &str, function: &str| {
        let text =
            format!("service: s\nprovider: {{name: aws{provider}}}\nfunctions:\n  f: {{handler: a.b{function}}}\n");
        let graph = load(&text);
        assert_eq!(&*graph.functions[0].timeout.name, "timeout");
        seconds(&graph.functions[0].timeout)
    };
    assert_eq!(service("", ""), "default 6");
    assert_eq!(service(", timeout: 20", ""), "20 from `provider.timeout`");
    assert_eq!(service(", timeout: 20", ", timeout: 30"), "30");
    assert_eq!(service(", timeout: 20", ", timeout: 0"), "20 from `provider.timeout`");
    assert_eq!(
        service("", ", timeout: '${env:T}'"),
        "`${env:T}` is read from the environment of a deployment"
    );
}

#[test]
fn arns_with_unresolved_variables_link_to_queues() {
    let graph = load(
        "service: s
provider: {name: aws, stage: '${opt:stage}'}
functions:
  f:
    handler: a.b
    events:
      - sqs: arn:aws:sqs:${aws:region}:${aws:accountId}:${self:service}-${env:NAME}
      - sqs: {arn: !Sub 'arn:aws:sqs:${AWS::Region}:${AWS::AccountId}:${self:service}-${self:provider.stage}'}
resources:
  Resources:
    A: {Type: AWS::SQS::Queue, Properties: {QueueName: '${self:service}-${env:NAME}'}}
    B: {Type: AWS::SQS::Queue, Properties: {QueueName: '${self:service}-${self:provider.stage}'}}
",
    );
    let targets: Vec<String> = graph.mappings.iter().map(|mapping| target(&mapping.queue)).collect();
    assert_eq!(targets, ["A", "B"]);
}

#[test]
fn other_events_become_invocations_and_dead_letter_uses() {
    let graph = load(
        "service: s
provider: {name: aws}
functions:
  f:
    handler: a.b
    onError: !GetAtt D.Arn
    url: true
    events:
      - sns: orders
      - sns: {arn: !Ref T, topicName: t, redrivePolicy: {deadLetterTargetRef: D}}
      - eventBridge: {schedule: rate(1 hour), deadLetterQueueArn: !GetAtt D.Arn}
      - http: GET /
      - stream: arn:aws:dynamodb:eu-west-1:1:table/t/stream/1
      - ${file(events.js)}
  quiet: {handler: a.c}
resources:
  Resources:
    D: {Type: AWS::SQS::Queue}
    T: {Type: AWS::SNS::Topic}
    P: {Type: AWS::Lambda::Permission, Properties: {FunctionName: !Ref QuietLambdaFunction}}
",
    );
    let mut uses: Vec<&str> = graph.dead_letter_uses.iter().map(|used| &*used.resource).collect();
    uses.sort_unstable();
    assert_eq!(
        uses,
        ["FLambdaFunction", "FSnsSubscriptionT", "Sdevfrule3EventBridgeRule"]
    );
    assert!(graph.mappings.is_empty());
    let mut invoked = String::new();
    for invocation in &graph.invocations {
        let _ = writeln!(invoked, "{} {}", invocation.resource, target(&invocation.function));
    }
    for by in [
        "FLambdaPermissionUrl",
        "FLambdaPermissionOrdersSNS",
        "FLambdaPermissionHttp4",
        "FLambdaPermissionEvent6",
    ] {
        assert!(invoked.contains(&format!("{by} FLambdaFunction\n")), "{by}: {invoked}");
    }
    assert!(invoked.contains("P QuietLambdaFunction\n"), "{invoked}");
    assert_eq!(&*graph.functions[0].failure_targets[0].name, "onError");
}

#[test]
fn unread_parts_are_noted_on_the_unit() {
    for (text, expected) in [
        (
            "service: s\nprovider: aws\nfunctions: ${file(functions.js)}\n",
            "some of its functions are not read: `${file(functions.js)}` is computed by code",
        ),
        (
            "service: s\nprovider: aws\nfunctions:\n  - a: {handler: a.b}\n  - ${env:X}\n",
            "some of its functions are not read: `${env:X}` is read from the environment of a deployment",
        ),
        (
            "service: s\nprovider: aws\nresources: ['${file(gone.yml)}', {Resources: {}}]\n",
            "part of its `resources` is not read: `${file(gone.yml)}` is not in the project",
        ),
        (
            "service: s\nprovider: {name: google}\nfunctions: {a: {handler: a.b}}\n",
            "its provider is `google`, not AWS",
        ),
    ] {
        assert_eq!(load(text).unit.notes, [expected], "{text}");
    }
}

#[test]
fn included_files_are_part_of_the_service() {
    let loaded = load_files(&[
        (
            "svc/serverless.yml",
            "service: s\nprovider: aws\nfunctions: ${file(functions.yml)}\ncustom: ${file(broken.yml)}\nresources:\n  Resources: {Q: {Type: AWS::SQS::Queue, Properties: {DelaySeconds: '${self:custom.x}'}}}\n",
        ),
        (
            "svc/functions.yml",
            "f:\n  handler: a.b\n  events:\n    - sqs: {arn: !GetAtt Q.Arn, batchSize: 3}\n",
        ),
        ("svc/broken.yml", "a: [1\n"),
    ]);
    assert_eq!(loaded.graph.mappings.len(), 1);
    assert_eq!(loaded.graph.mappings[0].batch_size.known(), Some(&3));
    assert_eq!(loaded.diagnostics.len(), 1, "{:?}", loaded.diagnostics);
    assert!(loaded.diagnostics[0].headline.contains("broken.yml"));
}

#[test]
fn overridden_attributes_have_cloudformation_names() {
    let graph = load(
        "service: s
provider: {name: aws}
functions:
  f: {handler: a.b, timeout: 5, events: [{sqs: {arn: !GetAtt Q.Arn, batchSize: 3}}]}
resources:
  Resources:
    Q: {Type: AWS::SQS::Queue}
  extensions:
    FLambdaFunction: {Properties: {Timeout: 9}}
    FEventSourceMappingSQSQ: {Properties: {BatchSize: 4}}
",
    );
    assert_eq!(seconds(&graph.functions[0].timeout), "9");
    assert_eq!(&*graph.functions[0].timeout.name, "Timeout");
    assert_eq!(graph.mappings[0].batch_size.known(), Some(&4));
}

/// Loads services that would expand to huge values: each ends soon, and reports an exceeded bound if it reached one.
#[test]
fn expansion_of_hostile_services_is_bounded() {
    let bomb = (1..40).fold("a0: x".to_owned(), |text, at| {
        let before = at - 1;
        text + &format!("\n  a{at}: ['${{self:custom.a{before}}}', '${{self:custom.a{before}}}']")
    });
    let doubled = (1..40).fold("a0: xxxxxxxxxxxxxxxx".to_owned(), |text, at| {
        let before = at - 1;
        text + &format!("\n  a{at}: '${{self:custom.a{before}}}${{self:custom.a{before}}}'")
    });
    let chain = (1..2000).fold("a0: 1".to_owned(), |text, at| {
        text + &format!("\n  a{at}: '${{self:custom.a{}}}'", at - 1)
    });
    let nested = format!("{}self:a{}", "${self:custom.".repeat(3000), "}".repeat(3000));
    for (custom, value, limited) in [
        (bomb.as_str(), "${self:custom.a39}", true),
        (&doubled, "${self:custom.a39}", true),
        (&chain, "${self:custom.a1999}", true),
        ("a: 1", nested.as_str(), true),
        ("a: ${self:custom}", "${self:custom.a.a.a}", false),
        ("a: ${self:}", "${self:custom.a.custom.a}", false),
        ("a: '${file(serverless.yml):custom.a}'", "${self:custom.a}", false),
    ] {
        let text = format!(
            "service: s\nprovider: aws\ncustom:\n  {custom}\nresources:\n  Resources:\n    Q: {{Type: AWS::SQS::Queue, Properties: {{DelaySeconds: '{value}'}}}}\n"
        );
        let pool = rayon::ThreadPoolBuilder::new().stack_size(8 << 20).build().unwrap();
        let loaded = pool.install(|| load_files(&[("svc/serverless.yml", &text)]));
        let stated = loaded.diagnostics.iter().any(|found| found.rule == "limit-reached");
        assert_eq!(stated, limited, "{value:.40}: {:?}", loaded.diagnostics);
        assert_eq!(loaded.graph.queues.len(), 1);
        assert!(loaded.graph.queues[0].delay.known().is_none(), "{value:.40}");
    }
}

#[test]
fn unread_parts_may_watch_queues() {
    for (rest, open) in [
        ("", 0),
        ("plugins: [serverless-offline]\n", 0),
        ("plugins: [serverless-slic-watch-plugin]\n", 1),
        ("plugins: {modules: [serverless-plugin-aws-alerts]}\n", 1),
        ("functions: ${file(functions.js)}\n", 1),
    ] {
        let text =
            format!("service: s\nprovider: aws\n{rest}resources: {{Resources: {{Q: {{Type: AWS::SQS::Queue}}}}}}\n");
        assert_eq!(load(&text).passed_to_missing_code.len(), open, "{rest}");
    }
}

#[test]
fn unreadable_resources_do_not_replace_generated_ones() {
    let functions = "functions:\n  worker: {handler: a.b, events: [{sqs: !GetAtt Q.Arn}]}\n";
    for (resources, note) in [
        (
            "{Resources: '${file(absent.yml)}'}",
            "`Resources` of its `resources` is not read: `${file(absent.yml)}` is not in the project",
        ),
        (
            "{Resources: {Q: {Type: AWS::SQS::Queue}, WorkerLambdaFunction: '${file(absent.yml)}'}}",
            "`WorkerLambdaFunction` of its `resources` is not read: `${file(absent.yml)}` is not in the project",
        ),
    ] {
        let graph = load(&format!(
            "service: s\nprovider: aws\n{functions}resources: {resources}\n"
        ));
        assert_eq!(graph.functions.len(), 1, "{resources}");
        assert_eq!(graph.mappings.len(), 1, "{resources}");
        assert_eq!(graph.unit.notes, [note], "{resources}");
    }
}

#[test]
fn timeout_is_unresolved_if_the_provider_is_unreadable() {
    let service = |provider: &str| {
        let functions = "functions: {worker: {handler: a.b}}\n";
        let text = format!("service: s\nprovider: {provider}\n{functions}");
        let files = [
            ("svc/serverless.yml", text.as_str()),
            ("svc/provider.yml", "{name: aws, timeout: 20}\n"),
        ];
        seconds(&load_files(&files).graph.functions[0].timeout)
    };
    assert_eq!(service("aws"), "default 6");
    assert_eq!(service("${file(provider.yml)}"), "20 from `provider.timeout`");
    assert_eq!(
        service("${file(absent.yml)}"),
        "`${file(absent.yml)}` is not in the project"
    );
}

#[test]
fn stream_failure_destination_is_a_dead_letter_use() {
    for destination in ["!GetAtt Q.Arn", "{arn: !GetAtt Q.Arn, type: sqs}"] {
        let stream = format!(
            "{{stream: {{type: kinesis, arn: 'arn:aws:kinesis:eu-west-1:123456789012:stream/s', destinations: {{onFailure: {destination}}}}}}}"
        );
        let text = format!(
            "service: s\nprovider: aws\nfunctions: {{worker: {{handler: a.b, events: [{stream}]}}}}\nresources: {{Resources: {{Q: {{Type: AWS::SQS::Queue}}}}}}\n"
        );
        let graph = load(&text);
        let uses: Vec<String> = graph.dead_letter_uses.iter().map(|used| target(&used.target)).collect();
        assert_eq!(uses, ["Q"], "{destination}");
        assert!(graph.mappings.is_empty(), "{destination}");
    }
}

#[test]
fn references_of_serverless_pseudo_parameters_are_resolved() {
    let service = |head: &str| {
        load(&format!(
            "service: s
provider: {{name: aws}}
{head}
functions:
  f:
    handler: a.b
    timeout: 20
    onError: '#{{D.Arn}}'
    events:
      - sqs: '#{{Q.Arn}}'
      - sqs: {{arn: 'arn:aws:sqs:#{{AWS::Region}}:#{{AWS::AccountId}}:named'}}
      - sqs: {{arn: !Sub 'arn:aws:sqs:${{AWS::Region}}:#{{AWS::AccountId}}:named-2'}}
resources:
  Resources:
    Q: {{Type: AWS::SQS::Queue}}
    D: {{Type: AWS::SQS::Queue}}
    N: {{Type: AWS::SQS::Queue, Properties: {{QueueName: named}}}}
    O: {{Type: AWS::SQS::Queue, Properties: {{QueueName: named-2}}}}
"
        ))
    };
    let targets = |graph: &UnitGraph| {
        let mappings = graph.mappings.iter().map(|mapping| target(&mapping.queue));
        let failures = graph.functions.iter().flat_map(|function| &function.failure_targets);
        let mut all: Vec<String> = mappings.chain(failures.map(|one| target(&one.target))).collect();
        all.sort();
        all
    };
    for plugins in [
        "plugins: [serverless-pseudo-parameters]",
        "plugins: {modules: ['@bamapookie/serverless-pseudo-parameters-lite']}",
        "plugins: [serverless-pseudo-parameters]\ncustom: {pseudoParameters: {allowReferences: true}}",
    ] {
        assert_eq!(targets(&service(plugins)), ["D", "N", "O", "Q"], "{plugins}");
    }
    let found = targets(&service(
        "plugins: [serverless-pseudo-parameters]\ncustom: {pseudoParameters: {allowReferences: false}}",
    ));
    assert_eq!(found, ["N", "O", "external #{D.Arn}", "external #{Q.Arn}"]);
    // Without the plugin, `#{…}` is not a reference.
    let found = targets(&service(""));
    assert!(found.iter().all(|target| target.len() > 1), "{found:?}");
}

#[test]
fn undeclared_queues_are_dangling_unless_something_may_declare_them() {
    let service = |head: &str, arn: &str| {
        let event = format!("{{sqs: {{arn: !GetAtt {arn}, provisionedPollers: {{min: 3}}}}}}");
        let text = format!(
            "service: s\nprovider: {{name: aws}}\n{head}\nfunctions:\n  f: {{handler: a.b, events: [{event}]}}\n"
        );
        let mapping = load(&text).mappings.into_iter().next().unwrap();
        let pollers = mapping.provisioned_pollers.known().unwrap().as_ref().unwrap();
        assert_eq!(pollers.minimum.known(), Some(&Some(3)));
        target(&mapping.queue)
    };
    let plugins = "plugins: [serverless-offline, serverless-esbuild]";
    assert_eq!(service("", "Gone.Arn"), "external Gone.Arn");
    assert_eq!(service(plugins, "Gone.Arn"), "external Gone.Arn");
    let open = "`Gone` is not declared in this file";
    assert_eq!(service("plugins: [serverless-step-functions]", "Gone.Arn"), open);
    assert_eq!(service("plugins: [./own.js]", "Gone.Arn"), open);
    assert_eq!(service("resources: ${file(queues.js)}", "Gone.Arn"), open);
    let generated = "`FDestination` is not declared in this file";
    assert_eq!(service("", "FDestination.Arn"), generated);
}
