//! Flags queues with a fixed visibility timeout that becomes too short if an input of the module or template is raised.

use super::prelude::*;
use crate::graph::{Input, Resource, Seconds, SetBy};
use crate::rules::shared::advice::Advice;
use crate::rules::shared::compare::Comparison;
use crate::rules::shared::consumers::RunTime;

pub(super) static RULE: Rule = rule!(
    "visibility-timeout-uncoupled",
    Category::Visibility,
    Severity::Info,
    "the visibility timeout is fixed, while whoever uses the module may raise what it has to cover"
);

fn check(findings: &mut Findings<'_>) {
    for (queue, _) in findings.graph.polled() {
        if matches!(queue.visibility_timeout_set_by, Some(SetBy::Itself)) {
            judge(findings, queue);
        }
    }
}

fn judge(findings: &mut Findings<'_>, queue: &Queue) {
    // Unresolved values have no default, so they are not relevant to this rule.
    let polls = findings.without_notes(|findings| findings.polls(&queue.resource.when, queue));
    for poll in polls.into_iter().filter(|poll| poll.enabled) {
        let mapping = poll.mapping;
        for (when, function) in findings.graph.functions_of(mapping, &poll.when) {
            for (window, visibility) in periods(findings, &when, queue, mapping) {
                let advice = findings.settings(queue);
                judge_required(findings, (queue, function), (&window, &visibility), advice);
            }
        }
        for time in findings.without_notes(|findings| findings.run_times(&poll)) {
            for (window, visibility) in periods(findings, &time.limit.when, queue, mapping) {
                let now = Now {
                    queue,
                    mapping,
                    time: &time,
                    window: &window,
                    visibility: &visibility,
                    advice: findings.settings(queue),
                };
                now.judge(findings);
            }
        }
    }
}

/// Returns the batching windows of `mapping`, each with the visibility timeouts of `queue`.
fn periods<'g>(
    findings: &mut Findings<'_>,
    when: &Condition,
    queue: &'g Queue,
    mapping: &'g EventSourceMapping,
) -> Vec<(Operand<'g>, Operand<'g>)> {
    findings.without_notes(|findings| {
        let mut all = Vec::new();
        for window in findings.numbers(when, mapping, &mapping.window, &limits::WINDOW) {
            let visibilities = findings.visibility(&window.when, queue);
            all.extend(visibilities.into_iter().map(|visibility| (window.clone(), visibility)));
        }
        all
    })
}

/// Requires that the visibility timeout is sufficient for every value of a timeout that has no default.
fn judge_required(
    findings: &mut Findings<'_>,
    (queue, function): (&Queue, &Function),
    (window, visibility): (&Operand<'_>, &Operand<'_>),
    advice: Advice,
) {
    let durable = function.durable_execution_timeout.known().is_none_or(Option::is_some);
    let input = input(queue, function, function.timeout_set_by.as_ref());
    let Some(input) = input.filter(|input| input.is_required && !durable) else {
        return;
    };
    let most = most(input, longest_timeout(function));
    let enough = at_least(visibility, advice.needed_for(Seconds(most), window)).depending_on(window);
    let covered = advice.longest(visibility, window);
    let what = format!("a timeout of {function}");
    require(findings, (queue, visibility), enough, input, (covered, most), &what);
}

/// Values that apply while all inputs have their defaults.
struct Now<'a> {
    queue: &'a Queue,
    mapping: &'a EventSourceMapping,
    time: &'a RunTime<'a>,
    window: &'a Operand<'a>,
    visibility: &'a Operand<'a>,
    advice: Advice,
}

impl Now<'_> {
    /// Requires that the visibility timeout is sufficient for every value of the inputs. Other rules report a timeout
    /// that is too short for the defaults.
    fn judge(&self, findings: &mut Findings<'_>) {
        if self.visibility.value < self.advice.needed(&self.time.limit, self.window).value {
            return;
        }
        let function = self.time.function;
        let timeout = input(self.queue, function, function.timeout_set_by.as_ref());
        let timeout = timeout.filter(|_| !self.time.durable);
        if let Some((input, most)) = timeout.map(|input| (input, most(input, longest_timeout(function)))) {
            let needed = self.advice.needed_for(Seconds(most), self.window);
            let covered = self.advice.longest(self.visibility, self.window);
            let what = format!("a timeout of {function}");
            if !self.require(findings, input, (needed, covered, most), &what) {
                return;
            }
        }
        let window = input(self.queue, self.mapping, self.mapping.window_set_by.as_ref());
        if let Some((input, most)) = window.map(|input| (input, most(input, &limits::WINDOW))) {
            let needed = self.advice.needed_for(&self.time.limit, Seconds(most));
            let covered = self.visibility.value - self.advice.needed(&self.time.limit, Seconds(0)).value;
            let what = format!("a batching window of {}", self.mapping);
            self.require(findings, input, (needed, covered, most), &what);
        }
    }

    fn require(
        &self,
        findings: &mut Findings<'_>,
        input: &Input,
        (needed, covered, most): (Term<'_>, i64, i64),
        what: &str,
    ) -> bool {
        let enough = at_least(self.visibility, needed)
            .depending_on(self.time)
            .depending_on(self.window);
        require(
            findings,
            (self.queue, self.visibility),
            enough,
            input,
            (covered, most),
            what,
        )
    }
}

/// Returns the input that sets a number of `resource`, if the queue is inside the module whose callers set the input.
fn input<'s>(queue: &Queue, resource: &impl AsRef<Resource>, set_by: Option<&'s SetBy>) -> Option<&'s Input> {
    let (queue, resource) = (&queue.resource, resource.as_ref());
    match set_by? {
        SetBy::Input(input) if queue.unit == resource.unit && queue.address.starts_with(&input.within) => Some(input),
        _ => None,
    }
}

fn require(
    findings: &mut Findings<'_>,
    (queue, visibility): (&Queue, &Operand<'_>),
    enough: Comparison<'_>,
    input: &Input,
    (covered, most): (i64, i64),
    what: &str,
) -> bool {
    findings.require(&visibility.when, queue, enough, || {
        let headline = format!(
            "{queue} has a fixed visibility timeout of {}, enough for {what} of up to {covered} s, but {} may be \
             set to {most} s",
            visibility.in_words(),
            input.shown
        );
        let label = format!("fixed at {}", visibility.shown());
        let limit = if input.is_required {
            format!("{} has no default, and may be up to {most} s", input.shown)
        } else {
            format!("the default of {}, which may be up to {most} s", input.shown)
        };
        let finding = Finding::new("visibility_timeout", headline, visibility, label).label(input.span, limit);
        finding.help(format!(
            "let `{}` follow {}, or limit {} to {covered} with {}",
            visibility.name, input.shown, input.shown, input.limit
        ))
    })
}

/// Returns the range of the timeouts of `function`, the smaller one if it is unknown whether it runs on Managed Instances.
fn longest_timeout(function: &Function) -> &'static Quota {
    match function.managed_instances.known() {
        Some(true) => &limits::FUNCTION_TIMEOUT_MANAGED_INSTANCES,
        _ => &limits::FUNCTION_TIMEOUT,
    }
}

/// Returns the largest number that `input` permits and AWS accepts.
fn most(input: &Input, quota: &Quota) -> i64 {
    input.most.map_or(quota.most, |most| most.min(quota.most))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};
    use crate::testing::{check_file_cases, check_files};

    /// Module whose callers may set the timeout of its function.
    const MODULE: &str = r#"
variable "timeout" {
  <variable>
}
variable "other" {
  default = 5400
}
locals {
  timeout    = var.timeout
  visibility = 180
}
resource "aws_sqs_queue" "orders" {
  visibility_timeout_seconds = <visibility>
}
resource "aws_lambda_function" "worker" {
  timeout = <timeout>
}
resource "aws_lambda_event_source_mapping" "orders" {
  event_source_arn = aws_sqs_queue.orders.arn
  function_name    = aws_lambda_function.worker.arn
}
"#;

    #[test]
    fn constant_timeout_next_to_input_is_flagged() {
        Terraform.check_cases(
            &RULE,
            MODULE,
            r#"
            variable                                                                                             | timeout                                                                                                  | visibility                   | finding
            default = 30                                                                                         | var.timeout                                                                                              | 180                          | visibility
            default = 30                                                                                         | local.timeout                                                                                            | 180                          | visibility
            default = 30                                                                                         | var.timeout                                                                                              | 6 * 30                       | visibility
            default = 30                                                                                         | var.timeout                                                                                              | local.visibility             | visibility
            default = 30                                                                                         | var.timeout                                                                                              | 10799                        | visibility
            // It suffices for every input.
            default = 30                                                                                         | var.timeout                                                                                              | 10800                        |
            default = 30\n validation {\n condition = var.timeout <= 30\n error_message = "no"\n }               | var.timeout                                                                                              | 180                          |
            default = 30\n validation {\n condition = var.timeout <= 31\n error_message = "no"\n }               | var.timeout                                                                                              | 180                          | visibility
            default = 30\n validation {\n condition = contains([10, 30], var.timeout)\n error_message = "no"\n } | var.timeout                                                                                              | 180                          |
            // It follows an input.
            default = 30                                                                                         | var.timeout                                                                                              | 6 * var.timeout              |
            default = 30                                                                                         | var.timeout                                                                                              | var.timeout > 30 ? 900 : 180 |
            default = 30                                                                                         | var.timeout                                                                                              | max(180, 6 * var.timeout)    |
            default = 30                                                                                         | var.timeout                                                                                              | var.other                    |
            // A constant cannot be set, and a computation or a precondition may limit the value.
            default = 30                                                                                         | 30                                                                                                       | 180                          |
            default = 30                                                                                         | min(var.timeout, 30)                                                                                     | 180                          |
            default = 30                                                                                         | var.timeout\n lifecycle {\n precondition {\n condition = var.timeout < 31\n error_message = "no"\n }\n } | 180                          |
            // Other rules report it.
            default = 30                                                                                         | var.timeout                                                                                              | 179                          |
            // A required input is judged by its limit.
            type = number                                                                                        | var.timeout                                                                                              | 180                          | visibility
            type = number                                                                                        | var.timeout                                                                                              | 10800                        |
            validation {\n condition = var.timeout <= 30\n error_message = "no"\n }                              | var.timeout                                                                                              | 180                          |
            // An attribute of an object.
            type = object({ time = optional(number, 30) })                                                       | var.timeout.time                                                                                         | 180                          | visibility
            type = object({ time = number })                                                                     | var.timeout.time                                                                                         | 180                          | visibility
            default = { time = 30 }                                                                              | var.timeout.time                                                                                         | 180                          | visibility
            default = {}\n type = object({ time = optional(number, 30) })                                        | var.timeout.time                                                                                         | 180                          | visibility
            type = object({ run = object({ time = number }) })                                                   | var.timeout.run.time                                                                                     | 180                          | visibility
            type = object({ run = optional(object({ time = number }), { time = 30 }) })                          | var.timeout.run.time                                                                                     | 180                          | visibility
            // Null, an unknown type and a default that is not written cannot be judged.
            type = object({ time = optional(number) })                                                           | var.timeout.time                                                                                         | 180                          |
            type = any                                                                                           | var.timeout.time                                                                                         | 180                          |
            default = merge({}, { time = 30 })                                                                   | var.timeout.time                                                                                         | 180                          |
            "#,
        );
        Terraform.check_cases(
            &RULE,
            MODULE,
            "
            variable     | timeout     | visibility | finding | headline     | calculation
            default = 30 | var.timeout | 200        | 1       | …up to 33 s… | 6 × 1800 s + 0 s = 10800 s
            ",
        );
        let managed = MODULE.replace("<timeout>", "var.timeout\n capacity_provider_config {}");
        Terraform.check_cases(
            &RULE,
            &managed,
            "
            variable     | visibility | finding
            default = 30 | 32399      | visibility
            default = 30 | 32400      |
            ",
        );
    }

    #[test]
    fn input_set_in_a_variable_file_is_accepted() {
        for name in ["terraform.tfvars", "env/prod.tfvars"] {
            check_file_cases(
                &RULE,
                &[("main.tf", MODULE), (name, "<set>\n")],
                "
                set          | variable                                       | timeout          | visibility | finding
                timeout = 20 | type = number                                  | var.timeout      | 180        |
                timeout = 20 | default = 30                                   | var.timeout      | 180        |
                timeout = {} | type = object({ time = optional(number, 30) }) | var.timeout.time | 180        |
                other = 20   | default = 30                                   | var.timeout      | 180        | visibility
                ",
            );
        }
    }

    #[test]
    fn input_set_by_a_caller_is_accepted() {
        let call = "<outer>\nmodule \"orders\" {\n  source = \"./orders\"\n  <argument>\n}\n";
        check_file_cases(
            &RULE,
            &[
                ("main.tf", call),
                ("orders/main.tf", &MODULE.replace("<visibility>", "180 <end>")),
            ],
            r#"
            outer                                                                 | argument                | variable                                       | timeout          | end | finding
                                                                                  | timeout = 20            | type = number                                  | var.timeout      |     |
                                                                                  | timeout = 20            | default = 30                                   | var.timeout      |     |
                                                                                  |                         | default = 30                                   | var.timeout      |     | end
            variable "timeout" {\n default = 20\n }                               | timeout = var.timeout   | default = 30                                   | var.timeout      |     | end
                                                                                  | timeout = { time = 20 } | type = object({ time = optional(number, 30) }) | var.timeout.time |     |
                                                                                  | timeout = {}            | type = object({ time = optional(number, 30) }) | var.timeout.time |     | end
            variable "all" {\n type = object({ time = optional(number, 30) })\n } | timeout = var.all       | type = object({ time = optional(number, 30) }) | var.timeout.time |     | end
            "#,
        );
        // The caller has a variable of that name, too.
        let main = MODULE
            .replace("<variable>", "default = 30")
            .replace("<timeout>", "var.timeout");
        let main = main.replace("<visibility>", "180 # expect: visibility-timeout-uncoupled");
        let call = "variable \"timeout\" {}\nmodule \"orders\" {\n  source = \"./orders\"\n}\n";
        let set = "timeout = 20\n";
        check_files(
            &RULE,
            &[("main.tf", call), ("env/prod.tfvars", set), ("orders/main.tf", &main)],
        );
    }

    #[test]
    fn queue_outside_the_module_of_the_input_is_accepted() {
        let main = r#"
module "worker" {
  source = "./worker"
}
resource "aws_sqs_queue" "orders" {
  visibility_timeout_seconds = 180
}
resource "aws_lambda_event_source_mapping" "orders" {
  event_source_arn = aws_sqs_queue.orders.arn
  function_name    = module.worker.arn
}
"#;
        let worker = r#"
variable "timeout" {
  default = 30
}
resource "aws_lambda_function" "worker" {
  timeout = var.timeout
}
output "arn" {
  value = aws_lambda_function.worker.arn
}
"#;
        check_files(&RULE, &[("main.tf", main), ("worker/main.tf", worker)]);
    }

    #[test]
    fn batching_window_input_is_checked() {
        CloudFormation.check_cases(
            &RULE,
            "
Parameters:
  Window: {Type: Number, Default: 0, MaxValue: <most>}
Resources:
  Orders: <header>
    Type: AWS::SQS::Queue
  Worker:
    Type: AWS::Lambda::Function
  Mapping:
    Type: AWS::Lambda::EventSourceMapping
    Properties:
      EventSourceArn: !GetAtt Orders.Arn
      FunctionName: !Ref Worker
      MaximumBatchingWindowInSeconds: !Ref Window
",
            "
            header | most | finding
                   | 1000 | header
                   | 13   | header
                   | 12   |
            ",
        );
    }

    const TEMPLATE: &str = "
Parameters:
  Timeout: {Type: Number<limits>}
Globals:
  Function:
    Timeout: !Ref Timeout
Resources:
  Orders:
    Type: AWS::SQS::Queue
    Properties:
      VisibilityTimeout: <visibility>
  Worker:
    Type: AWS::Serverless::Function
    Properties:
      Events:
        Orders:
          Type: SQS
          Properties:
            Queue: !GetAtt Orders.Arn
";

    #[test]
    fn parameter_is_checked() {
        Sam.check_cases(
            &RULE,
            TEMPLATE,
            "
            limits                                  | visibility | finding
            , Default: 30                           | 180        | visibility
            , Default: 30, MaxValue: 31             | 180        | visibility
                                                    | 180        | visibility
            , MaxValue: 30                          | 180        |
            , Default: 30, MaxValue: 30             | 180        |
            , Default: 30, AllowedValues: [10, 30]  | 180        |
            , Default: 30, AllowedPattern: '[123]0' | 180        |
            , Default: 30, NoEcho: true             | 180        |
            ",
        );
        let text = TEMPLATE
            .replace("<limits>", ", Default: 30")
            .replace("<visibility>", "180");
        let text = format!("Transform: AWS::Serverless-2016-10-31{text}");
        for (name, set) in [
            (
                "samconfig.toml",
                "version = 0.1\n[default.deploy.parameters]\nparameter_overrides = \"Timeout=20\"\n",
            ),
            (
                "samconfig.toml",
                "version = 0.1\n[prod.deploy.parameters]\nparameter_overrides = \"Timeout=20\"\n",
            ),
            ("prod.json", r#"[{"ParameterKey": "Timeout", "ParameterValue": "20"}]"#),
        ] {
            check_files(&RULE, &[("template.yaml", &text), (name, set)]);
        }
    }
}
