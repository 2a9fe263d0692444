//! Flags ECS tasks that are killed before the work on a message can end.

use super::prelude::*;
use crate::graph::{Resource, UnitId, Worker};
use crate::rules::shared::work::ProcessingTime;
use rustc_hash::FxHashMap;

pub(super) static RULE: Rule = rule!(
    "worker-stopped-mid-message",
    Category::Consumers,
    Severity::Warning,
    "ECS kills a task before the work on a message can end"
);

fn check(findings: &mut Findings<'_>) {
    let graph = findings.graph;
    let policies = graph.policies();
    let key = |worker: &'_ Worker| (worker.resource.unit, worker.resource.address.to_string());
    let tasks: FxHashMap<(UnitId, String), &Worker> = graph.workers().iter().map(|one| (key(one), one)).collect();
    for queue in graph.queues() {
        let mut timed = graph.timed(queue).filter(|one| one.is_worker());
        let Some(work) = timed.find_map(ProcessingTime::longest) else {
            continue;
        };
        for consumption in graph.worker_consumptions(queue).iter().filter(|one| one.is_permitted) {
            let resource = &consumption.resource;
            let task = tasks.get(&(resource.unit, resource.address.to_string()));
            let Some((task, stop)) = task.and_then(|task| Some((task, task.stop_timeout.as_ref()?))) else {
                continue;
            };
            // A protected task is stopped when it releases the protection.
            if graph.may_protect_tasks(&policies, &consumption.roles) {
                let protected = || format!("the role of {task} may protect the task while it works");
                let protected = fact(true, protected).depending_on(&resource.header);
                findings.satisfied(&consumption.when, resource, protected);
                continue;
            }
            for stop in findings.any_numbers(&consumption.when, resource, stop, limits::Unit::Seconds) {
                // On EC2, the agent of the instance may have another default.
                if !stop.is_default || task.is_on_fargate {
                    findings.require(&stop.when, resource, at_least(&stop, work), || {
                        stopped(resource, queue, &stop, work)
                    });
                }
            }
        }
    }
}

fn stopped(task: &Resource, queue: &Queue, stop: &Operand<'_>, work: ProcessingTime) -> Finding {
    let headline = format!(
        "ECS kills a task of {} {} after the signal to stop, but the work on a message of {queue} takes longer: it {}",
        task.shown(),
        stop.in_words(),
        work.takes()
    );
    let label = stop.or_default("ECS", format!("killed after {}", stop.shown()));
    let protect = "protect the task from scale-in and deployments while it works (`UpdateTaskProtection`)";
    let seconds = work.time.seconds_up();
    let help = if seconds <= limits::STOP_TIMEOUT_FARGATE {
        format!("set `{}` to {seconds} or more, or {protect}", stop.name)
    } else {
        format!(
            "{protect}: on Fargate, `{}` is {} at most",
            stop.name,
            limits::STOP_TIMEOUT_FARGATE
        )
    };
    work.show(Finding::new("stop_timeout", headline, stop, label))
        .help(help)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::run_files;

    /// Returns the headlines for a task with these settings, whose role has this action in addition.
    fn headlines(task: &str, container: &str, more: &str, max: &str) -> Vec<String> {
        let text = format!(
            r#"
variable "open" {{}}
resource "aws_sqs_queue" "orders" {{
  name                       = "orders"
  visibility_timeout_seconds = 600
}}
resource "aws_iam_role" "worker" {{
  name               = "worker"
  assume_role_policy = jsonencode({{
    Statement = [{{ Effect = "Allow", Action = "sts:AssumeRole", Principal = {{ Service = "ecs-tasks.amazonaws.com" }} }}]
  }})
}}
resource "aws_iam_role_policy" "worker" {{
  role   = aws_iam_role.worker.id
  policy = jsonencode({{
    Statement = [
      {{ Effect = "Allow", Action = ["sqs:ReceiveMessage", "sqs:DeleteMessage"], Resource = aws_sqs_queue.orders.arn }},
      {{ Effect = "Allow", Action = "{more}", Resource = "*" }},
    ]
  }})
}}
resource "aws_ecs_task_definition" "worker" {{
  family        = "worker"
  task_role_arn = aws_iam_role.worker.arn
  {task}
  container_definitions = jsonencode([{{ name = "worker", image = "worker:1" {container} }}])
}}
"#
        );
        let settings = format!("[[consumer]]\nqueue = \"orders\"\nprocessing = {{ max = \"{max}\" }}\n");
        let outcome = run_files(&RULE, &[("main.tf", &text), ("sqslint.toml", &settings)]);
        outcome.findings.into_iter().map(|finding| finding.headline).collect()
    }

    #[test]
    fn stop_timeout_is_compared_with_the_processing_time() {
        let fargate = "requires_compatibilities = [\"FARGATE\"]";
        let both = "requires_compatibilities = [\"EC2\", \"FARGATE\"]";
        let (logs, protects) = ("logs:PutLogEvents", "ecs:UpdateTaskProtection");
        let sidecar = "}, { name = \"logs\", image = \"logs:1\"";
        for (task, container, more, max, expected) in [
            ("", ", stopTimeout = 60", logs, "60s", 0),
            ("", ", stopTimeout = 60", logs, "61s", 1),
            ("", ", stopTimeout = var.open", logs, "61s", 0),
            (fargate, "", logs, "30s", 0),
            (fargate, "", logs, "31s", 1),
            // The agent of an instance may have another default.
            ("", "", logs, "31s", 0),
            (both, "", logs, "31s", 0),
            // The task protects itself, or may do so.
            (fargate, "", protects, "31s", 0),
            (fargate, "", "ecs:*", "31s", 0),
            (fargate, "", "${var.open}", "31s", 0),
            // One of two containers processes the messages.
            (fargate, sidecar, logs, "31s", 0),
        ] {
            let found = headlines(task, container, more, max);
            assert_eq!(found.len(), expected, "{task} {container} {more} {max} {found:?}");
        }
    }

    #[test]
    fn headline_names_both_times() {
        assert_eq!(
            headlines("", ", stopTimeout = 60", "logs:PutLogEvents", "5m"),
            [
                "ECS kills a task of `aws_ecs_task_definition.worker` 60 s after the signal to stop, but the work on a message \
              of `aws_sqs_queue.orders` takes longer: it may take 300 s for a message"
            ]
        );
    }
}
