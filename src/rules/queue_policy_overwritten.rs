//! Flags queues with two policies, which overwrite each other.

use super::prelude::*;
use crate::graph::access::{PolicyWriter, QueuePolicy};
use crate::graph::{Target, UnitKind};
use source::Span;

pub(super) static RULE: Rule = rule!(
    "queue-policy-overwritten",
    Category::Queue,
    Severity::Warning,
    "a queue has two policies, and whichever is written last replaces the other"
);

/// Policy on a queue, under the condition `when`.
struct Written<'g> {
    queue: &'g Queue,
    policy: &'g QueuePolicy,
    when: Condition,
}

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    let mut all: Vec<Written<'_>> = Vec::new();
    for policy in &graph.access().queue_policies {
        all.extend(written(graph, findings, policy));
    }
    // Sorted for a deterministic order of each pair: a policy in the queue itself comes first.
    all.sort_by_key(|one| {
        let queue = &one.queue.resource;
        (
            queue.unit,
            queue.address.clone(),
            one.policy.writer != PolicyWriter::Queue,
        )
    });
    for policies in all.chunk_by(|one, other| std::ptr::eq(one.queue, other.queue)) {
        for (at, second) in policies.iter().enumerate() {
            for first in policies.iter().take(at) {
                judge(findings, first, second);
            }
        }
        if let [only] = policies {
            let is_one = fact(true, || "it is the only policy of the queue".to_owned());
            findings.satisfied(&only.when, only.queue, is_one.depending_on(&place(only.policy)));
        }
    }
}

/// Returns the queues that `policy` applies to. A name only matches a queue of the same unit, as other units may be
/// different environments.
fn written<'g>(graph: &'g Graph, findings: &mut Findings<'_>, policy: &'g QueuePolicy) -> Vec<Written<'g>> {
    let resource = &policy.resource;
    // In a plan or state, the queue's own policy attribute repeats what a separate resource has set.
    let is_deployed = matches!(graph.unit(resource.unit).kind, UnitKind::Plan | UnitKind::State);
    if is_deployed && policy.writer == PolicyWriter::Queue {
        return Vec::new();
    }
    let links = findings.known(&resource.when, resource, &policy.queue).into_iter();
    let all = links.filter_map(|link| {
        let queue = graph.queue(resource.unit, link.value)?;
        let is_named = matches!(link.value.target, Target::External(_));
        let when = link.when.and(&queue.resource.when);
        let is_this = !is_named || queue.resource.unit == resource.unit;
        is_this.then_some(Written { queue, policy, when })
    });
    all.collect()
}

fn judge(findings: &mut Findings<'_>, first: &Written<'_>, second: &Written<'_>) {
    let (one, other) = (&first.policy.resource, &second.policy.resource);
    if (one.unit, &one.address) == (other.unit, &other.address) && first.policy.writer == second.policy.writer {
        return;
    }
    let mut when = first.when.and(&second.when);
    for policy in [first.policy, second.policy] {
        if let Some(reason) = &policy.resource.uncertain {
            findings.note_unresolved(&when, first.queue, reason, policy.resource.header);
            when = Condition::never();
        }
    }
    for policy in [first.policy, second.policy] {
        // An unresolved argument may be null.
        if let Some((case, unresolved)) = policy.document.unresolved_reason()
            && policy.writer == PolicyWriter::Queue
        {
            let open = when.and(&case.when);
            findings.note_unresolved(&open, first.queue, unresolved.reason(), case.span);
            when = when.and(&open.not());
        }
    }
    findings.report(&when, first.queue, overwritten(first, second));
}

fn place(policy: &QueuePolicy) -> Span {
    match (policy.writer, policy.document.cases.first()) {
        (PolicyWriter::Queue, Some(case)) => case.span,
        _ => policy.resource.header,
    }
}

fn overwritten(first: &Written<'_>, second: &Written<'_>) -> Finding {
    let headline = format!(
        "{} has two policies, and whichever is written last replaces the other",
        first.queue.resource.shown()
    );
    let label = |policy: &QueuePolicy| match policy.writer {
        PolicyWriter::Queue => "the queue has a policy in itself".to_owned(),
        PolicyWriter::Transform => "SAM generates a policy of the queue for this".to_owned(),
        PolicyWriter::Separate => format!("{} is a policy of the queue", policy.resource.shown()),
    };
    Finding::new("policy", headline, place(second.policy), label(second.policy))
        .label(place(first.policy), label(first.policy))
        .help("put the statements of both into one policy: a queue has one")
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};
    use crate::testing::{check, findings};

    fn count(own: &str, rest: &str) -> usize {
        let text = format!(
            r#"
variable "open" {{}}
variable "separate" {{
  default = true
}}
locals {{
  policy = jsonencode({{ Version = "2012-10-17", Statement = [] }})
}}
resource "aws_sqs_queue" "other" {{}}
resource "aws_sqs_queue" "q" {{
  name = "orders"
  {own}
}}
{rest}
"#
        );
        findings(&RULE, Terraform, &text).len()
    }

    fn separate(name: &str, arguments: &str) -> String {
        format!("resource \"aws_sqs_queue_policy\" \"{name}\" {{\n  policy = local.policy\n  {arguments}\n}}\n")
    }

    const OWN: &str = "policy = local.policy";
    const ON_QUEUE: &str = "queue_url = aws_sqs_queue.q.url";

    #[test]
    fn second_policy_on_queue_is_flagged() {
        assert_eq!(count(OWN, ""), 0);
        assert_eq!(count("", &separate("p", ON_QUEUE)), 0);
        assert_eq!(count(OWN, &separate("p", ON_QUEUE)), 1);
        assert_eq!(count("policy = null", &separate("p", ON_QUEUE)), 0);
        assert_eq!(count("policy = var.open", &separate("p", ON_QUEUE)), 0);
        assert_eq!(count("", &(separate("p", ON_QUEUE) + &separate("r", ON_QUEUE))), 1);
        let other = separate("r", "queue_url = aws_sqs_queue.other.url");
        assert_eq!(count("", &(separate("p", ON_QUEUE) + &other)), 0);
        let open = separate("r", "queue_url = var.open");
        assert_eq!(count("", &(separate("p", ON_QUEUE) + &open)), 0);
        let named = separate(
            "r",
            "queue_url = \"https://sqs.eu-west-1.amazonaws.com/111122223333/orders\"",
        );
        assert_eq!(count("", &(separate("p", ON_QUEUE) + &named)), 1);
    }

    #[test]
    fn policies_under_exclusive_conditions_are_accepted() {
        let count_of = |count: &str| separate("p", &format!("{ON_QUEUE}\n  count = {count}"));
        let own = "policy = var.separate ? null : local.policy";
        assert_eq!(count(own, &count_of("var.separate ? 1 : 0")), 0);
        assert_eq!(count(OWN, &count_of("0")), 0);
        assert_eq!(count(OWN, &count_of("1")), 1);
        assert_eq!(count(OWN, &count_of("var.open")), 0);
    }

    #[test]
    fn cloudformation_policies_are_flagged() {
        check(
            &RULE,
            CloudFormation,
            r"
Conditions:
  Open: !Equals [!Ref AWS::Region, eu-west-1]
  Closed: !Not [!Condition Open]
Resources:
  Q: {Type: AWS::SQS::Queue}
  R: {Type: AWS::SQS::Queue}
  P:
    Type: AWS::SQS::QueuePolicy
    Properties: {PolicyDocument: {Statement: []}, Queues: [!Ref Q, !Ref Q]}
  S: # expect: queue-policy-overwritten
    Type: AWS::SQS::QueuePolicy
    Properties: {PolicyDocument: {Statement: []}, Queues: [!Ref Q]}
  T:
    Type: AWS::SQS::QueuePolicy
    Condition: Open
    Properties: {PolicyDocument: {Statement: []}, Queues: [!Ref R]}
  U:
    Type: AWS::SQS::QueuePolicy
    Condition: Closed
    Properties: {PolicyDocument: {Statement: []}, Queues: [!Ref R]}
",
        );
    }

    #[test]
    fn sam_generated_policy_counts_as_second_policy() {
        let template = |queue: &str| {
            format!(
                r"
Resources:
  Q: {{Type: AWS::SQS::Queue}}
  R: {{Type: AWS::SQS::Queue}}
  T: {{Type: AWS::SNS::Topic}}
  F:
    Type: AWS::Serverless::Function
    Properties:
      Events:
        E:
          Type: SNS
          Properties:
            Topic: !Ref T
            SqsSubscription: {{QueueArn: !GetAtt {queue}.Arn, QueueUrl: !Ref {queue}}}
  P:
    Type: AWS::SQS::QueuePolicy
    Properties: {{PolicyDocument: {{Statement: []}}, Queues: [!Ref Q]}}
"
            )
        };
        assert_eq!(findings(&RULE, Sam, &template("Q")).len(), 1);
        assert_eq!(findings(&RULE, Sam, &template("R")).len(), 0);
    }
}
