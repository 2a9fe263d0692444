//! Checks workers: consumers that are recognized only by their role and their environment variables, in each dialect
//! and on every kind of host.

use sqslint::Options;
use sqslint::rules;
use sqslint::testing::{TemporaryDirectory, run_files};

/// Lists the workers of every queue as `queue < worker`, with a question mark if only the permission is unresolved.
fn readings(files: &[(&str, &str)]) -> Vec<String> {
    let directory = TemporaryDirectory::with_files(files.iter().copied());
    let outcome = sqslint::check(&Options {
        paths: vec![directory.path().to_owned()],
        ..Options::default()
    });
    assert!(outcome.errors.is_empty(), "{:?}", outcome.errors);
    let mut all = Vec::new();
    for queue in outcome.graph.queues() {
        for reading in outcome.graph.worker_consumptions(queue) {
            let mark = if reading.is_permitted { "" } else { " ?" };
            let worker = &reading.resource.address;
            all.push(format!("{} < {worker}{mark}", queue.resource.address));
        }
    }
    all
}

const QUEUE: &str = "
    variable \"role\" {}
    resource \"aws_sqs_queue\" \"jobs\" {
      name = \"jobs\"
    }
";

/// Returns a role for ECS tasks with one statement.
fn role(actions: &str, resource: &str) -> String {
    format!(
        r#"
        resource "aws_iam_role" "worker" {{
          name               = "worker"
          assume_role_policy = jsonencode({{
            Statement = [{{ Effect = "Allow", Action = "sts:AssumeRole", Principal = {{ Service = "ecs-tasks.amazonaws.com" }} }}]
          }})
        }}
        resource "aws_iam_role_policy" "worker" {{
          role   = aws_iam_role.worker.id
          policy = jsonencode({{
            Statement = [{{ Effect = "Allow", Action = {actions}, Resource = {resource} }}]
          }})
        }}
        "#
    )
}

fn task(role: &str, environment: &str) -> String {
    format!(
        r#"
        resource "aws_ecs_task_definition" "worker" {{
          family = "worker"
          {role}
          container_definitions = jsonencode([{{ name = "worker", image = "w", environment = [{environment}] }}])
        }}
        "#
    )
}

fn terraform(parts: &[&str]) -> Vec<String> {
    let text = format!("{QUEUE}{}", parts.concat());
    readings(&[("main.tf", &text)])
}

const RECEIVE: &str = "[\"sqs:ReceiveMessage\", \"sqs:DeleteMessage\"]";
const ROLE: &str = "task_role_arn = aws_iam_role.worker.arn";
const URL: &str = "{ name = \"QUEUE_URL\", value = aws_sqs_queue.jobs.url }";
const TASK: [&str; 1] = ["aws_sqs_queue.jobs < aws_ecs_task_definition.worker"];
const OPEN: [&str; 1] = ["aws_sqs_queue.jobs < aws_ecs_task_definition.worker ?"];

#[test]
fn policy_with_the_queue_arn_makes_a_worker() {
    let with = |actions: &str, resource: &str| terraform(&[&role(actions, resource), &task(ROLE, "")]);
    assert_eq!(with(RECEIVE, "aws_sqs_queue.jobs.arn"), TASK);
    assert_eq!(with("\"sqs:Receive*\"", "[aws_sqs_queue.jobs.arn]"), TASK);
    assert_eq!(with(RECEIVE, "\"arn:aws:sqs:eu-west-1:111122223333:jobs\""), TASK);
    let nobody: [&str; 0] = [];
    assert_eq!(with(RECEIVE, "\"*\""), nobody);
    assert_eq!(with(RECEIVE, "\"arn:aws:sqs:eu-west-1:111122223333:*\""), nobody);
    assert_eq!(with("\"sqs:*\"", "aws_sqs_queue.jobs.arn"), nobody);
    assert_eq!(with("\"sqs:SendMessage\"", "aws_sqs_queue.jobs.arn"), nobody);
}

#[test]
fn policies_attached_to_the_role_are_evaluated() {
    let attached = format!(
        r#"
        data "aws_iam_policy_document" "worker" {{
          statement {{
            actions   = {RECEIVE}
            resources = [aws_sqs_queue.jobs.arn]
          }}
        }}
        resource "aws_iam_policy" "worker" {{
          policy = data.aws_iam_policy_document.worker.json
        }}
        resource "aws_iam_role" "worker" {{
          assume_role_policy = "{{}}"
        }}
        resource "aws_iam_role_policy_attachment" "worker" {{
          role       = aws_iam_role.worker.name
          policy_arn = aws_iam_policy.worker.arn
        }}
        "#
    );
    assert_eq!(terraform(&[&attached, &task(ROLE, "")]), TASK);
}

#[test]
fn environment_variable_makes_a_worker_unless_receiving_is_denied() {
    let nobody: [&str; 0] = [];
    let with = |actions: &str, resource: &str| terraform(&[&role(actions, resource), &task(ROLE, URL)]);
    assert_eq!(with("\"sqs:*\"", "aws_sqs_queue.jobs.arn"), TASK);
    assert_eq!(with("\"sqs:*\"", "\"*\""), TASK);
    assert_eq!(with("\"sqs:SendMessage\"", "aws_sqs_queue.jobs.arn"), nobody);
    assert_eq!(with("\"s3:GetObject\"", "\"*\""), nobody);
    let task = |role: &str| terraform(&[&task(role, URL)]);
    assert_eq!(task("task_role_arn = var.role"), OPEN);
    assert_eq!(
        task("task_role_arn = \"arn:aws:iam::111122223333:role/elsewhere\""),
        OPEN
    );
    assert_eq!(task(""), nobody);
}

#[test]
fn sender_with_an_unresolved_policy_is_not_a_worker() {
    let more = r#"
        resource "aws_iam_role_policy_attachment" "more" {
          role       = aws_iam_role.worker.name
          policy_arn = var.role
        }
    "#;
    let nobody: [&str; 0] = [];
    let with = |actions: &str| terraform(&[&role(actions, "aws_sqs_queue.jobs.arn"), more, &task(ROLE, URL)]);
    assert_eq!(with("\"sqs:SendMessage\""), nobody);
    assert_eq!(with("\"sqs:GetQueueUrl\""), OPEN);
}

#[test]
fn only_a_policy_makes_a_worker_next_to_a_mapping() {
    let mapping = r#"
        resource "aws_lambda_event_source_mapping" "jobs" {
          event_source_arn = aws_sqs_queue.jobs.arn
          function_name    = "worker"
        }
    "#;
    let nobody: [&str; 0] = [];
    assert_eq!(terraform(&[&task("task_role_arn = var.role", URL), mapping]), nobody);
    let permitted = role(RECEIVE, "aws_sqs_queue.jobs.arn");
    assert_eq!(terraform(&[&permitted, &task(ROLE, URL), mapping]), TASK);
}

#[test]
fn plain_string_is_a_queue_only_in_a_variable_named_for_one() {
    let nobody: [&str; 0] = [];
    let with = |name: &str, value: &str| {
        let variable = format!("{{ name = \"{name}\", value = {value} }}");
        terraform(&[&task("task_role_arn = var.role", &variable)])
    };
    assert_eq!(with("QUEUE_NAME", "\"jobs\""), OPEN);
    assert_eq!(with("SERVICE", "\"jobs\""), nobody);
    assert_eq!(with("SERVICE", "aws_sqs_queue.jobs.name"), OPEN);
    assert_eq!(with("TARGET", "aws_sqs_queue.jobs.arn"), OPEN);
    assert_eq!(
        with("TARGET", "\"https://sqs.eu-west-1.amazonaws.com/111122223333/jobs\""),
        OPEN
    );
}

#[test]
fn queues_in_ssm_parameters_are_resolved() {
    let parameter = r#"
        resource "aws_ssm_parameter" "queue" {
          name  = "/jobs/queue-url"
          type  = "String"
          value = aws_sqs_queue.jobs.url
        }
        resource "aws_ssm_parameter" "other" {
          name  = "/jobs/other"
          type  = "String"
          value = "other"
        }
    "#;
    let nobody: [&str; 0] = [];
    let with = |from: &str| {
        let task = task("task_role_arn = var.role", "").replace(
            "environment = []",
            &format!("secrets = [{{ name = \"TARGET\", valueFrom = {from} }}]"),
        );
        terraform(&[parameter, &task])
    };
    assert_eq!(with("aws_ssm_parameter.queue.arn"), OPEN);
    assert_eq!(with("aws_ssm_parameter.queue.name"), OPEN);
    assert_eq!(
        with("\"arn:aws:ssm:eu-west-1:111122223333:parameter/jobs/queue-url\""),
        OPEN
    );
    assert_eq!(with("aws_ssm_parameter.other.arn"), nobody);
    assert_eq!(with("\"/jobs/url\""), nobody);
    let template_of = |from: &str| {
        template(&format!(
            "
  Url: {{Type: AWS::SSM::Parameter, Properties: {{Name: /jobs/url, Type: String, Value: !Ref Jobs}}}}
  Task:
    Type: AWS::ECS::TaskDefinition
    Properties:
      TaskRoleArn: !Ref Role
      ContainerDefinitions:
        - {{Name: worker, Secrets: [{{Name: TARGET, ValueFrom: {from}}}]}}
"
        ))
    };
    assert_eq!(template_of("!Ref Url"), ["Jobs < Task ?"]);
    let arn = "!Sub 'arn:aws:ssm:${AWS::Region}:${AWS::AccountId}:parameter/jobs/url'";
    assert_eq!(template_of(arn), ["Jobs < Task ?"]);
    assert_eq!(template_of("/jobs/other"), nobody);
}

#[test]
fn instances_get_roles_from_instance_profiles() {
    let profile = r#"
        resource "aws_iam_instance_profile" "worker" {
          role = aws_iam_role.worker.name
        }
        resource "aws_launch_template" "worker" {
          iam_instance_profile {
            name = aws_iam_instance_profile.worker.name
          }
        }
        resource "aws_instance" "worker" {
          ami                  = "ami-1"
          iam_instance_profile = aws_iam_instance_profile.worker.id
        }
    "#;
    assert_eq!(
        terraform(&[&role(RECEIVE, "aws_sqs_queue.jobs.arn"), profile]),
        [
            "aws_sqs_queue.jobs < aws_instance.worker",
            "aws_sqs_queue.jobs < aws_launch_template.worker"
        ]
    );
}

#[test]
fn batch_jobs_and_services_are_workers() {
    let others = r#"
        resource "aws_batch_job_definition" "worker" {
          name = "worker"
          type = "container"
          container_properties = jsonencode({
            image       = "w"
            jobRoleArn  = aws_iam_role.worker.arn
            environment = [{ name = "QUEUE", value = aws_sqs_queue.jobs.url }]
          })
        }
        resource "aws_apprunner_service" "worker" {
          service_name = "worker"
          source_configuration {
            image_repository {
              image_identifier = "w"
              image_configuration {
                runtime_environment_variables = { QUEUE = aws_sqs_queue.jobs.url }
              }
            }
          }
          instance_configuration {
            instance_role_arn = aws_iam_role.worker.arn
          }
        }
        resource "aws_eks_pod_identity_association" "worker" {
          cluster_name    = "c"
          namespace       = "n"
          service_account = "s"
          role_arn        = aws_iam_role.worker.arn
        }
    "#;
    for actions in [RECEIVE, "\"sqs:*\""] {
        let mut expected = vec![
            "aws_sqs_queue.jobs < aws_apprunner_service.worker",
            "aws_sqs_queue.jobs < aws_batch_job_definition.worker",
        ];
        // A resource without environment variables is recognized only by its policy.
        if actions == RECEIVE {
            expected.push("aws_sqs_queue.jobs < aws_eks_pod_identity_association.worker");
        }
        assert_eq!(terraform(&[&role(actions, "aws_sqs_queue.jobs.arn"), others]), expected);
    }
}

/// Checks a role that may receive messages, with this trust policy.
fn trusted(trust: &str) -> Vec<String> {
    terraform(&[&format!(
        r#"
        resource "aws_iam_role" "worker" {{
          assume_role_policy = jsonencode({{ Statement = [{trust}] }})
          inline_policy {{
            name   = "receive"
            policy = jsonencode({{
              Statement = [{{ Effect = "Allow", Action = {RECEIVE}, Resource = aws_sqs_queue.jobs.arn }}]
            }})
          }}
        }}
        "#
    )])
}

#[test]
fn role_is_a_worker_if_only_hosts_may_assume_it() {
    let worker = ["aws_sqs_queue.jobs < aws_iam_role.worker"];
    let nobody: [&str; 0] = [];
    let of_service = |service: &str| {
        trusted(&format!(
            "{{ Effect = \"Allow\", Action = \"sts:AssumeRole\", Principal = {{ Service = {service} }} }}"
        ))
    };
    assert_eq!(of_service("\"ecs-tasks.amazonaws.com\""), worker);
    assert_eq!(of_service("\"pods.eks.amazonaws.com\""), worker);
    assert_eq!(of_service("\"ec2.amazonaws.com.cn\""), worker);
    assert_eq!(of_service("\"lambda.amazonaws.com\""), nobody);
    assert_eq!(of_service("\"states.amazonaws.com\""), nobody);
    assert_eq!(
        of_service("[\"ecs-tasks.amazonaws.com\", \"lambda.amazonaws.com\"]"),
        nobody
    );
    assert_eq!(of_service("var.role"), nobody);
    let federated = |provider: &str, subject: &str| {
        trusted(&format!(
            "{{ Effect = \"Allow\", Action = \"sts:AssumeRoleWithWebIdentity\", Principal = {{ Federated = {provider} }}, \
             Condition = {{ StringEquals = {{ \"sub\" = \"{subject}\" }} }} }}"
        ))
    };
    let cluster = "\"arn:aws:iam::111122223333:oidc-provider/oidc.eks.eu-west-1.amazonaws.com/id/AB\"";
    assert_eq!(federated(cluster, "any"), worker);
    assert_eq!(federated("var.role", "system:serviceaccount:jobs:worker"), worker);
    let unknown_key = "{ Effect = \"Allow\", Action = \"sts:AssumeRoleWithWebIdentity\", Principal = { Federated = var.role }, \
        Condition = { StringEquals = { \"${var.role}:sub\" = \"system:serviceaccount:jobs:worker\" } } }";
    assert_eq!(trusted(unknown_key), worker);
    assert_eq!(federated("var.role", "repo:a/b"), nobody);
    let builds = "\"arn:aws:iam::111122223333:oidc-provider/token.actions.githubusercontent.com\"";
    assert_eq!(federated(builds, "repo:a/b"), nobody);
}

/// Checks a template with a queue and these resources.
fn template(resources: &str) -> Vec<String> {
    let text = format!(
        "
AWSTemplateFormatVersion: '2010-09-09'
Parameters:
  Role: {{Type: String}}
Resources:
  Jobs: {{Type: AWS::SQS::Queue}}
{resources}"
    );
    readings(&[("template.yaml", &text)])
}

/// Returns the same role for a template.
fn template_role(actions: &str) -> String {
    format!(
        "
  WorkerRole:
    Type: AWS::IAM::Role
    Properties:
      AssumeRolePolicyDocument:
        Statement: [{{Effect: Allow, Action: sts:AssumeRole, Principal: {{Service: ecs-tasks.amazonaws.com}}}}]
      Policies:
        - PolicyName: jobs
          PolicyDocument:
            Statement: [{{Effect: Allow, Action: {actions}, Resource: !GetAtt Jobs.Arn}}]
"
    )
}

#[test]
fn workers_are_recognized_in_templates() {
    let nobody: [&str; 0] = [];
    let others = "
  Task:
    Type: AWS::ECS::TaskDefinition
    Properties:
      TaskRoleArn: !GetAtt WorkerRole.Arn
      ContainerDefinitions:
        - {Name: worker, Environment: [{Name: QUEUE_URL, Value: !Ref Jobs}]}
  Job:
    Type: AWS::Batch::JobDefinition
    Properties:
      ContainerProperties:
        JobRoleArn: !GetAtt WorkerRole.Arn
        Environment: [{Name: QUEUE_URL, Value: !Ref Jobs}]
  Service:
    Type: AWS::AppRunner::Service
    Properties:
      InstanceConfiguration: {InstanceRoleArn: !GetAtt WorkerRole.Arn}
      SourceConfiguration:
        ImageRepository:
          ImageConfiguration: {RuntimeEnvironmentVariables: [{Name: QUEUE_URL, Value: !Ref Jobs}]}
";
    let with_environment = ["Jobs < Job", "Jobs < Service", "Jobs < Task"];
    let with = |actions: &str| template(&format!("{}{others}", template_role(actions)));
    assert_eq!(with("'sqs:*'"), with_environment);
    assert_eq!(with("sqs:ReceiveMessage"), with_environment);
    assert_eq!(with("sqs:SendMessage"), nobody);
}

#[test]
fn instance_profiles_are_resolved_in_templates() {
    let others = "
  Profile: {Type: AWS::IAM::InstanceProfile, Properties: {Roles: [!Ref WorkerRole]}}
  Instance: {Type: AWS::EC2::Instance, Properties: {IamInstanceProfile: !Ref Profile}}
  Launch: {Type: AWS::EC2::LaunchTemplate, Properties: {LaunchTemplateData: {IamInstanceProfile: {Arn: !GetAtt Profile.Arn}}}}
  Pods: {Type: AWS::EKS::PodIdentityAssociation, Properties: {RoleArn: !GetAtt WorkerRole.Arn}}
";
    assert_eq!(
        template(&format!("{}{others}", template_role("sqs:ReceiveMessage"))),
        ["Jobs < Instance", "Jobs < Launch", "Jobs < Pods"]
    );
}

#[test]
fn conditional_worker_polls_under_its_condition() {
    let rule = rules::by_id("redrive-policy-missing").expect("there is one");
    let text = format!(
        "
AWSTemplateFormatVersion: '2010-09-09'
Parameters:
  Stage: {{Type: String}}
Conditions:
  IsProd: !Equals [!Ref Stage, prod]
Resources:
  Jobs: {{Type: AWS::SQS::Queue}}
{}
  Task:
    Type: AWS::ECS::TaskDefinition
    Condition: IsProd
    Properties: {{TaskRoleArn: !GetAtt WorkerRole.Arn}}
",
        template_role("sqs:ReceiveMessage")
    );
    let outcome = run_files(rule, &[("template.yaml", &text)]);
    let whens: Vec<_> = outcome.findings.iter().map(|found| found.when.as_deref()).collect();
    assert_eq!(whens, [Some("IsProd")]);
}

/// Counts the findings of each rule in these files.
fn counts(ids: &[&str], files: &[(&str, &str)]) -> Vec<usize> {
    let of = |id: &&str| {
        let rule = rules::by_id(id).expect("there is one");
        run_files(rule, files).findings.len()
    };
    ids.iter().map(of).collect()
}

#[test]
fn worker_counts_as_a_consumer() {
    let ids = [
        "redrive-policy-missing",
        "queue-without-redrive-policy",
        "queue-age-unalarmed",
    ];
    assert_eq!(counts(&ids, &[("main.tf", QUEUE)]), [0, 1, 0]);
    let worker = format!("{QUEUE}{}{}", role(RECEIVE, "aws_sqs_queue.jobs.arn"), task(ROLE, ""));
    assert_eq!(counts(&ids, &[("main.tf", &worker)]), [1, 0, 1]);
    let declared = ("sqslint.toml", "[[consumer]]\nqueue = \"jobs\"\n");
    assert_eq!(counts(&ids, &[("main.tf", QUEUE), declared]), [1, 0, 1]);
}

#[test]
fn separate_worker_on_the_dead_letter_queue_replaces_an_alarm() {
    let ids = ["dead-letter-queue-unalarmed"];
    let queues = r#"
        resource "aws_sqs_queue" "jobs" {
          redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.failed.arn, maxReceiveCount = 5 })
        }
        resource "aws_sqs_queue" "failed" {}
    "#;
    let of = |resources: &str| {
        let text = format!("{queues}{}{}", role(RECEIVE, resources), task(ROLE, ""));
        counts(&ids, &[("main.tf", &text)])
    };
    assert_eq!(of("aws_sqs_queue.jobs.arn"), [1]);
    assert_eq!(of("aws_sqs_queue.failed.arn"), [0]);
    assert_eq!(of("[aws_sqs_queue.jobs.arn, aws_sqs_queue.failed.arn]"), [1]);
}
