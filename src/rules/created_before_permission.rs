//! Flags resources that may be created before the separate policy that they need.

use super::prelude::*;
use crate::graph::access::{PolicyWriter, RolePolicy};
use crate::graph::order::Creation;
use crate::graph::permits::{On, Permits, Policies};
use crate::graph::{FunctionAlias, Resource};
use crate::rules::shared::roles::{Edge, RoleUse};
use source::Span;

pub(super) static RULE: Rule = rule!(
    "created-before-permission",
    Category::Permissions,
    Severity::Error,
    "nothing makes a mapping, pipe or bucket notification wait for the policy that it needs to be created",
    fix = Some(Safety::Safe)
);

/// Errors of AWS if the policy or the alias does not exist yet.
const ROLE_ERROR: &str = "The provided execution role does not have permissions to call ReceiveMessage on SQS";
const ALIAS_ERROR: &str = "Function does not exist";
const BUCKET_ERROR: &str = "Unable to validate the following destination configurations";

fn check(findings: &mut Findings<'_>) {
    let policies = findings.graph.policies();
    notifications(findings, &policies);
    aliases(findings);
    for queue in findings.graph.queues() {
        for worker in findings.polling_functions(&policies, &queue.resource.when, queue) {
            let Some(role) = worker.role.value else { continue };
            judge(findings, &policies, &worker.used(queue, role, &[]));
        }
        for (reads, pipe) in findings.graph.pipes_from(queue) {
            for role in findings.known(&reads, pipe, &pipe.role) {
                let Some(link) = role.value else { continue };
                let used = RoleUse {
                    edge: Edge::Poll,
                    resource: &pipe.resource,
                    when: &role.when,
                    role: link,
                    unit: pipe.resource.unit,
                    queue,
                    service: None,
                    read: &[],
                };
                judge(findings, &policies, &used);
            }
        }
    }
}

/// Reports notifications of buckets that may be created before the policy of their queue.
fn notifications(findings: &mut Findings<'_>, policies: &Policies<'_>) {
    let graph = findings.graph;
    for delivery in findings
        .deliveries()
        .into_iter()
        .filter(super::shared::senders::Delivery::of_bucket)
    {
        let on = policies.on(delivery.queue);
        let is_late = |resource: &Resource| graph.is_unordered(delivery.resource, resource);
        let Some((when, policy)) = on.first().filter(|_| on.iter().all(|(_, one)| is_late(&one.resource))) else {
            continue;
        };
        if policy.writer == PolicyWriter::Queue {
            continue;
        }
        let permits = policies.send(delivery.queue, delivery.service, delivery.source);
        let when = delivery.when.and(when).and(&permits.when);
        let pair = Pair {
            later: delivery.resource,
            needs: &policy.resource,
            at: policy.resource.header,
        };
        let for_what = format!("which lets S3 send to {}", delivery.queue);
        let is_repeated = creation(graph, delivery.resource).is_some_and(|creation| creation.is_repeated);
        let severity = if is_repeated {
            Severity::Warning
        } else {
            Severity::Error
        };
        findings.report(
            &when,
            delivery.resource,
            pair.finding(graph, &for_what, BUCKET_ERROR).severity(severity),
        );
    }
}

/// Reports mappings that may be created before the alias that they name.
fn aliases(findings: &mut Findings<'_>) {
    let graph = findings.graph;
    for mapping in graph.mappings() {
        for qualifier in findings.without_notes(|this| this.known(&mapping.resource.when, mapping, &mapping.qualifier))
        {
            let unit = mapping.resource.unit;
            let function = |link: Option<&Link>| link.and_then(|link| graph.function(unit, link));
            let own = function(mapping.function.known());
            let is_it = |alias: &&FunctionAlias| {
                alias.resource.unit == unit
                    && qualifier.value.is_some()
                    && alias.name.known() == Some(qualifier.value)
                    && function(alias.function.known()).map(|one| &one.resource.address)
                        == own.map(|one| &one.resource.address)
            };
            let Some(alias) = graph.aliases().iter().find(is_it).filter(|_| own.is_some()) else {
                continue;
            };
            if graph.is_unordered(&mapping.resource, &alias.resource) {
                let pair = Pair {
                    later: &mapping.resource,
                    needs: &alias.resource,
                    at: alias.resource.header,
                };
                let finding = pair.finding(graph, "which it invokes", ALIAS_ERROR);
                let when = qualifier.when.and(&alias.resource.when);
                findings.report(&when, mapping, finding.info_unless_new(Severity::Warning));
            }
        }
    }
}

/// Reports a mapping or a pipe that may be created before the policies of its role that it needs.
fn judge(findings: &mut Findings<'_>, policies: &Policies<'_>, used: &RoleUse<'_, '_>) {
    let graph = findings.graph;
    let Some(role) = policies.declared_role(used.unit, used.role) else {
        return;
    };
    let is_late = |granted: &RolePolicy| {
        granted.resource.key() != role.key() && graph.is_unordered(used.resource, &granted.resource)
    };
    let granted = || policies.granted(role).iter().map(|(_, granted)| *granted);
    if !granted().any(is_late) {
        let waits = fact(true, || format!("is created after the policies of {role}"));
        findings.satisfied(used.when, used.resource, waits.depending_on(&used.resource.header));
        return;
    }
    let (actions, _) = used.edge.needs();
    for action in actions {
        let of = |counts: &dyn Fn(&RolePolicy) -> bool| {
            policies.role_by(used.unit, used.role, action, On::Queue(used.queue), counts)
        };
        let (Some(all), Some(early)) = (of(&|_| true), of(&|granted| !is_late(granted))) else {
            return;
        };
        let when = used.when.and(&all.when).and(&may_permit(&early).not());
        let grants = |one: &RolePolicy| {
            let own = of(&|other| std::ptr::eq(other, one));
            own.is_some_and(|own| own.when.is_possible_with(&when))
        };
        if let Some(late) = granted().find(|one| is_late(one) && grants(one)) {
            let pair = Pair {
                later: used.resource,
                needs: &late.resource,
                at: late.span,
            };
            let for_what = format!("which lets {role} receive from {}", used.queue);
            let finding = pair.finding(graph, &for_what, ROLE_ERROR);
            return findings.report(&when, used.resource, finding.info_unless_new(Severity::Warning));
        }
    }
}

/// Returns the condition under which the action is or may be permitted.
fn may_permit(permits: &Permits) -> Condition {
    let possible = permits.possible.iter();
    possible.fold(permits.when.clone(), |all, (when, ..)| all.or(when))
}

/// A resource and the policy that it needs.
struct Pair<'g> {
    later: &'g Resource,
    needs: &'g Resource,
    at: Span,
}

impl Pair<'_> {
    fn finding(&self, graph: &Graph, for_what: &str, error: &str) -> Finding {
        let Pair { later, needs, at } = self;
        let headline = format!("{later} may be created before {needs}, {for_what}: nothing makes it wait");
        let label = format!("the first deployment may fail: \"{error}\"");
        let finding = Finding::new("order", headline, later.header, label).label(*at, format!("{needs}, {for_what}"));
        let Some(order) = graph.order(later.unit) else {
            return finding;
        };
        let Creation {
            argument,
            around: [before, after],
            composed_arn,
            has_events,
            ..
        } = order.creation;
        let owner = order
            .declared(&later.address)
            .map_or(&*later.address, |address| &**address);
        let closes_cycle = order.follows(&needs.address, &later.address);
        match (needs.reference_from(later), composed_arn) {
            (_, Some(arn)) if closes_cycle => finding.help(format!(
                "write the ARN in {needs} with a name instead of a reference to {later}, such as `{arn}s3:::<name>`, and \
                 then add `{argument}{before}{}{after}` to it",
                needs.address
            )),
            (_, None) if closes_cycle => finding.help(format!(
                "{needs} refers to {later}: write that ARN with a name, and then add `{argument}`"
            )),
            (Some(reference), _) => {
                let shown = format!("{argument}{before}{reference}{after}");
                let or = if *has_events && later.kind.contains("Mapping") {
                    ", or to its function if an event declares it"
                } else {
                    ""
                };
                let fix = Change::After(later.header, reference);
                finding.help(format!("add `{shown}` to `{owner}`{or}")).fix(fix)
            }
            (None, _) => finding.help(format!(
                "make the module of {later} depend on {needs} with `{argument}`"
            )),
        }
    }
}

fn creation<'g>(graph: &'g Graph, resource: &Resource) -> Option<&'g Creation> {
    graph.order(resource.unit).map(|order| order.creation)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam, Serverless, Terraform};

    const ROLE: &str = r#"
variable "open" {}
resource "aws_sqs_queue" "q" { name = "q" }
resource "aws_iam_role" "r" {
  <inline>
}
resource "aws_iam_role_policy" "p" {
  role   = aws_iam_role.r.id
  policy = jsonencode({ Statement = [{ Effect = "Allow", Action = "<action>", Resource = aws_sqs_queue.q.arn }] })
}
data "aws_arn" "d" {
  arn        = "arn:aws:s3:::a"
  depends_on = [aws_iam_role_policy.p]
}
locals { waits = aws_iam_role_policy.p.id }
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = aws_iam_role.r.arn
  <function>
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.q.arn
  function_name    = aws_lambda_function.f.arn
  <mapping>
}
"#;

    #[test]
    fn mapping_without_a_path_to_the_policy_is_flagged() {
        Terraform.check_cases(
            &RULE,
            ROLE,
            r#"
            inline                                                                                                                             | action             | function                                       | mapping                                     | finding
                                                                                                                                               | sqs:*              |                                                |                                             | info
                                                                                                                                               | sqs:*              |                                                | depends_on = [aws_iam_role_policy.p]        |
                                                                                                                                               | sqs:*              | depends_on = [aws_iam_role_policy.p]           |                                             |
                                                                                                                                               | sqs:*              | description = local.waits                      |                                             |
                                                                                                                                               | sqs:*              | description = data.aws_arn.d.id                |                                             |
                                                                                                                                               | sqs:SendMessage    |                                                |                                             |
            inline_policy {\n policy = jsonencode({ Statement = [{ Effect = "Allow", Action = "sqs:*", Resource = "*" }] })\n }                | sqs:*              |                                                |                                             |
            inline_policy {\n policy = jsonencode({ Statement = [{ Effect = "Allow", Action = var.open, Resource = "*" }] })\n }               | sqs:*              |                                                |                                             |
            inline_policy {\n policy = jsonencode({ Statement = [{ Effect = "Allow", Action = "s3:*", Resource = "*" }] })\n }                 | sqs:*              |                                                |                                             | info
            "#,
        );
    }

    #[test]
    fn notification_waits_for_the_policy_of_the_queue() {
        Terraform.check_cases(
            &RULE,
            r#"
resource "aws_sqs_queue" "q" {
  <inline>
}
resource "aws_s3_bucket" "b" {}
resource "aws_s3_bucket_notification" "n" { <header>
  bucket = aws_s3_bucket.b.id
  queue { <queue>
    queue_arn = aws_sqs_queue.q.arn
    events    = []
  }
  <waits>
}
resource "aws_sqs_queue_policy" "p" {
  count     = <count>
  queue_url = aws_sqs_queue.q.url
  policy    = jsonencode({ Statement = [{ Effect = "Allow", Principal = { Service = "s3.amazonaws.com" }, Action = "sqs:SendMessage", Resource = "*" }] })
}
"#,
            r#"
            inline                                                                                                                         | header | queue | count | waits                                | finding
                                                                                                                                           |        |       | 1     |                                      | warning queue
                                                                                                                                           |        |       | 1     | depends_on = [aws_sqs_queue_policy.p] |
            policy = jsonencode({ Statement = [{ Effect = "Allow", Principal = "*", Action = "sqs:SendMessage", Resource = "*" }] })      |        |       | 0     |                                      |
            "#,
        );
    }

    #[test]
    fn templates_need_depends_on() {
        for dialect in [CloudFormation, Sam, Serverless] {
            dialect.check_cases(
                &RULE,
                "
Resources:
  Q: {Type: AWS::SQS::Queue}
  P:
    Type: AWS::SQS::QueuePolicy
    Properties:
      Queues: [!Ref Q]
      PolicyDocument:
        Statement: [{Effect: Allow, Principal: {Service: s3.amazonaws.com}, Action: sqs:SendMessage, Resource: !GetAtt Q.Arn<condition>}]
  B:
    Type: AWS::S3::Bucket
    <waits>
    Properties:
      NotificationConfiguration:
        QueueConfigurations: [{Event: 's3:ObjectCreated:*', Queue: !GetAtt Q.Arn}]
",
                "
                waits           | condition                                             | finding | help
                                |                                                       | error   | add `DependsOn: P` to …
                DependsOn: P    |                                                       |         |
                DependsOn: [P]  |                                                       |         |
                DependsOn: Q    |                                                       | error   |
                                | , Condition: {ArnLike: {aws:SourceArn: !GetAtt B.Arn}} | error   | write the ARN in …
                ",
            );
        }
    }

    #[test]
    fn alias_by_a_constructed_arn_is_flagged() {
        for dialect in [CloudFormation, Sam, Serverless] {
            dialect.check_cases(
                &RULE,
                "
Resources:
  Q: {Type: AWS::SQS::Queue}
  F: {Type: AWS::Lambda::Function, Properties: {Role: 'arn:aws:iam::111122223333:role/r', Handler: app.run}}
  Live: {Type: AWS::Lambda::Alias, Properties: {FunctionName: !Ref F, FunctionVersion: '1', Name: live}}
  M:
    Type: AWS::Lambda::EventSourceMapping
    <waits>
    Properties: {EventSourceArn: !GetAtt Q.Arn, FunctionName: <function>}
",
                "
                waits           | function                 | finding
                                | !Sub '${F.Arn}:live'     | info
                DependsOn: Live | !Sub '${F.Arn}:live'     |
                                | !Sub '${F.Arn}:other'    |
                                | !Ref Live                |
                                | !Ref F                   |
                ",
            );
        }
        Terraform.check_cases(
            &RULE,
            r#"
resource "aws_sqs_queue" "q" { name = "q" }
resource "aws_lambda_function" "f" { function_name = "f" }
resource "aws_lambda_alias" "live" {
  name             = "live"
  function_name    = aws_lambda_function.f.function_name
  function_version = "1"
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.q.arn
  function_name    = <function>
}
"#,
            r#"
            function                               | finding
            "${aws_lambda_function.f.arn}:live"    | info
            "${aws_lambda_function.f.arn}:other"   |
            aws_lambda_alias.live.arn              |
            "f:live"                               | info
            "#,
        );
    }

    #[test]
    fn modules_are_followed() {
        crate::testing::check_file_cases(
            &RULE,
            &[
                (
                    "main.tf",
                    r#"
module "access" {
  source = "./access"
  queue  = aws_sqs_queue.q.arn
}
resource "aws_sqs_queue" "q" { name = "q" }
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = module.access.role
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.q.arn
  function_name    = aws_lambda_function.f.arn
  <waits>
}
"#,
                ),
                (
                    "access/main.tf",
                    r#"
variable "queue" {}
resource "aws_iam_role" "r" {}
resource "aws_iam_role_policy" "p" {
  role   = aws_iam_role.r.id
  policy = jsonencode({ Statement = [{ Effect = "Allow", Action = "sqs:*", Resource = var.queue }] })
}
output "role" { value = aws_iam_role.r.arn }
output "policy" { value = aws_iam_role_policy.p.id }
"#,
                ),
            ],
            "
            waits                                        | finding | help
                                                         | info    | add `depends_on = [module.access]` to …
            depends_on = [module.access]                 |         |
            lifecycle {\\n replace_triggered_by = [module.access.policy]\\n } |         |
            ",
        );
    }
}
