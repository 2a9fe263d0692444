//! Checks fragments: files that a build step merges into one template.

use super::{BELOW, findings_of, read};
use sqslint::testing::describe;

#[test]
fn fragments_form_one_template() {
    let functions = "
AWSTemplateFormatVersion: 2010-09-09
Transform: AWS::Serverless-2016-10-31
Resources:
  F:
    Type: AWS::Serverless::Function
    Properties: {Events: {E: {Type: SQS, Properties: {Queue: !GetAtt Q.Arn}}}}
";
    let queues = "
AWSTemplateFormatVersion: 2010-09-09
Resources: {Q: {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: !If [IsProd, 90, 30]}}}
";
    let globals = "
Transform: AWS::Serverless-2016-10-31
Parameters: {Env: {Type: String}}
Conditions: {IsProd: !Equals [!Ref Env, prod]}
Globals: {Function: {Timeout: 60}}
";
    let files = [
        ("f/functions.yaml", functions),
        ("f/sub/queues.yaml", queues),
        ("f/globals.yaml", globals),
    ];
    let (found, graph, outcome) = read(&files, &["."]);
    assert_eq!(
        findings_of(BELOW, &found),
        [format!("{BELOW} f/sub/queues.yaml Q when not IsProd")],
        "{}",
        describe(&outcome)
    );
    let queue = serde_json::json!({"unit": "f/sub/queues.yaml", "address": "Q"});
    assert_eq!(graph["event_source_mappings"][0]["queue"], queue);
    // A name that two fragments declare is ambiguous.
    let files = [files[0], files[1], files[2], ("f/more.yaml", queues)];
    let (found, graph, _) = read(&files, &["."]);
    assert_eq!(findings_of(BELOW, &found), [""; 0]);
    assert!(
        graph["event_source_mappings"][0]["queue"]["unresolved"].is_string(),
        "{graph}"
    );
}

/// A hook passes only the changed files, so the other fragments of the template may be missing.
#[test]
fn globals_are_unresolved_for_a_single_fragment() {
    let fragment = "
AWSTemplateFormatVersion: 2010-09-09
Transform: AWS::Serverless-2016-10-31
Resources:
  Q: {Type: AWS::SQS::Queue, Properties: {KmsMasterKeyId: !Ref DeclaredInAnotherFragment, VisibilityTimeout: 1}}
  F:
    Type: AWS::Serverless::Function
    Properties: {Events: {E: {Type: SQS, Properties: {Queue: !GetAtt Q.Arn}}}}
";
    let other = "Resources: {DeclaredInAnotherFragment: {Type: AWS::KMS::Key}}\n";
    let files = [("queues.yaml", fragment), ("keys.yaml", other)];
    let (found, graph, _) = read(&files, &["queues.yaml"]);
    let reason = "`Globals` in a file that was not read may set `Timeout`";
    assert_eq!(graph["functions"][0]["timeout"]["unresolved"], reason);
    assert!(graph["functions"][0]["reserved_concurrency"]["unresolved"].is_string());
    assert_eq!(findings_of(BELOW, &found), [""; 0]);
    let policy = "[[policy]]
id = 'owned'
for = 'function'
require = \"'owner' in function.tags\"
message = 'functions have an owner'
";
    let is_flagged = |fragment: &str| {
        let files = [
            ("queues.yaml", fragment),
            ("keys.yaml", other),
            ("sqslint.toml", policy),
        ];
        let (found, ..) = read(&files, &["queues.yaml"]);
        !findings_of("owned", &found).is_empty()
    };
    assert!(!is_flagged(fragment), "`Globals` elsewhere may set a tag");
    assert!(!is_flagged(
        &fragment.replace("Properties: {Events", "Properties: {Tags: {team: a}, Events")
    ));
    assert!(!is_flagged(
        &fragment.replace("Properties: {Events", "Properties: {Tags: {owner: a}, Events")
    ));
    assert!(is_flagged(
        &fragment.replace("DeclaredInAnotherFragment", "AWS::AccountId")
    ));
    let whole = fragment.replace("DeclaredInAnotherFragment", "AWS::AccountId");
    let (found, ..) = read(&[("queues.yaml", &whole)], &["queues.yaml"]);
    assert_eq!(findings_of(BELOW, &found), [format!("{BELOW} queues.yaml Q")]);
}

const DANGLING: &str = "
Resources:
  Orders:
    Type: AWS::SQS::Queue
    Properties: {RedrivePolicy: {deadLetterTargetArn: !GetAtt Failed.Arn, maxReceiveCount: 5}}
  Worker:
    Type: AWS::Lambda::Function
    Properties: {Timeout: 10, Role: !GetAtt Role.Arn}
  Role:
    Type: AWS::IAM::Role
    Properties:
      AssumeRolePolicyDocument: {Statement: [{Effect: Allow, Principal: {Service: lambda.amazonaws.com}, Action: 'sts:AssumeRole'}]}
  Reads:
    Type: AWS::Lambda::EventSourceMapping
    Properties: {EventSourceArn: !GetAtt Orders.Arn, FunctionName: !Ref Worker}
";
const VERSION: &str = "AWSTemplateFormatVersion: '2010-09-09'\n";
const FAILED: &str = "Resources: {Failed: {Type: AWS::SQS::Queue}}\n";

/// Returns the findings in `files` on undeclared dead-letter queues and missing permissions.
fn undeclared(files: &[(&str, &str)], named: &[&str]) -> Vec<String> {
    let (found, ..) = read(files, named);
    let rules = ["dead-letter-queue-undeclared", "function-role-missing-queue-permission"];
    rules.iter().flat_map(|rule| findings_of(rule, &found)).collect()
}

#[test]
fn template_without_a_version_is_not_a_fragment() {
    let both = |unit: &str| {
        vec![
            format!("dead-letter-queue-undeclared {unit} Orders"),
            format!("function-role-missing-queue-permission {unit} Reads"),
        ]
    };
    let versioned = format!("{VERSION}{DANGLING}");
    for text in [DANGLING, &versioned] {
        assert_eq!(undeclared(&[("a.yaml", text)], &["."]), both("a.yaml"));
        assert_eq!(undeclared(&[("a.yaml", text)], &["a.yaml"]), both("a.yaml"));
        // It stays a template if files next to it declare other names or are not templates.
        let other = FAILED.replace("Failed", "Orders");
        let files = [("a.yaml", text), ("b.yaml", &*other), ("c.yaml", "Failed: {}\n")];
        assert_eq!(undeclared(&files, &["."]), both("a.yaml"));
    }
    let whole = DANGLING.replace("!GetAtt Failed.Arn", "!GetAtt Orders.Arn");
    assert_eq!(
        undeclared(&[("a.yaml", &whole)], &["."]).len(),
        1,
        "the dangling reference is not the reason"
    );
}

#[test]
fn template_that_uses_a_name_declared_next_to_it_is_a_fragment() {
    let versioned = format!("{VERSION}{DANGLING}");
    for (text, sibling) in [
        (DANGLING, "b.yaml"),
        (DANGLING, "queues/b.yaml"),
        (DANGLING, "../b.yaml"),
        (DANGLING, "../queues/b.yaml"),
        (&*versioned, "b.yaml"),
        (&*versioned, "queues/b.yaml"),
    ] {
        let sibling = sibling
            .strip_prefix("../")
            .map_or_else(|| format!("parts/{sibling}"), str::to_owned);
        let files = [("parts/a.yaml", text), (&*sibling, FAILED)];
        assert_eq!(undeclared(&files, &["."]), [""; 0], "{sibling}");
        assert_eq!(undeclared(&files, &["parts/a.yaml"]), [""; 0], "{sibling}");
    }
}

#[test]
fn template_that_a_service_may_include_is_a_fragment() {
    let service = "service: shop\nprovider: {name: aws}\nresources: ['${file(parts/a.yaml)}']\n";
    let files = [("parts/a.yaml", DANGLING), ("serverless.yml", service)];
    let of_part = |found: Vec<String>| found.iter().filter(|line| line.contains("parts/a.yaml")).count();
    assert_eq!(of_part(undeclared(&files, &["parts/a.yaml"])), 0);
    let files = [("parts/a.yaml", DANGLING), ("serverless.ts", "")];
    assert_eq!(of_part(undeclared(&files, &["."])), 0);
}

#[test]
fn custom_tag_may_include_fragments() {
    let base = "
AWSTemplateFormatVersion: 2010-09-09
Transform: AWS::Serverless-2016-10-31
Parameters: {Env: {Type: String, AllowedValues: [dev, prod]}}
Conditions: {IsProd: !Equals [!Ref Env, prod], IsDev: !Equals [!Ref Env, dev]}
Globals: {Function: {Timeout: 60}}
Resources: !YAMLInclude ./parts/queues.yaml, ./parts/functions.yaml
";
    let queues = "
AWSTemplateFormatVersion: 2010-09-09
Resources: {Q: {Type: AWS::SQS::Queue, Condition: IsProd, Properties: {VisibilityTimeout: !If [IsDev, 1, 30]}}}
";
    let functions = "
AWSTemplateFormatVersion: 2010-09-09
Transform: AWS::Serverless-2016-10-31
Resources:
  F:
    Type: AWS::Serverless::Function
    Properties: {Events: {E: {Type: SQS, Properties: {Queue: !GetAtt Q.Arn}}}}
";
    let files = [
        ("template-source.yaml", base),
        ("parts/queues.yaml", queues),
        ("parts/functions.yaml", functions),
    ];
    let (found, graph, outcome) = read(&files, &["."]);
    assert_eq!(graph["functions"][0]["timeout"], 60, "{}", describe(&outcome));
    // `IsProd` and `IsDev` exclude each other; only the base template determines that.
    assert_eq!(
        findings_of(BELOW, &found),
        [format!("{BELOW} parts/queues.yaml Q when IsProd")]
    );
}
