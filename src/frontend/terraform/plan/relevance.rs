//! Which resources of a plan or state are worth taking apart: those of the graph, and whatever names a queue or a
//! function. Of a large plan that is the smallest part.

use super::arguments::{Argument, Arguments};
use super::references::{Place, Resolver};
use memchr::memmem;

/// Types that are nodes of the graph, set attributes of one, or may consume what a queue holds.
const NODES: [&str; 8] = [
    "aws_sqs_",
    "aws_lambda_",
    "aws_sns_",
    "aws_pipes_",
    "aws_scheduler_",
    "aws_cloudwatch_metric_alarm",
    "aws_cloudwatch_event_",
    "aws_s3_bucket_notification",
];

/// Types that name queues and functions in permissions only.
const PASSED_OVER: [&str; 1] = ["aws_iam_"];

pub(super) fn is_node(kind: &str) -> bool {
    NODES.iter().any(|start| kind.starts_with(start))
}

pub(super) fn is_passed_over(kind: &str) -> bool {
    PASSED_OVER.iter().any(|start| kind.starts_with(start))
}

/// Whether values, as text, hold the ARN of a queue or a function.
pub(super) fn names(values: &str) -> bool {
    [":sqs:", ":lambda:"]
        .iter()
        .any(|part| memmem::find(values.as_bytes(), part.as_bytes()).is_some())
}

/// Whether the arguments name anything but keys and data.
pub(super) fn may_link(arguments: &Arguments) -> bool {
    arguments.values().any(|argument| match argument {
        Argument::Expression { references, .. } => references.iter().any(|reference| {
            let aside = ["each.key", "count.", "path.", "terraform.", "data.", "local."];
            !aside.iter().any(|start| reference.starts_with(start))
        }),
        Argument::Blocks(blocks) => blocks.iter().any(may_link),
    })
}

/// Whether an argument that is known only after apply may name a queue or a function.
pub(super) fn links<'p>(
    resolver: &mut Resolver<'p>,
    place: Place<'p, '_>,
    arguments: &Arguments,
    unknown: &serde_json::Value,
) -> bool {
    let Some(unknown) = unknown.as_object() else {
        return false;
    };
    unknown.iter().any(|(name, marks)| match arguments.get(name) {
        Some(Argument::Expression { references, .. }) => {
            // An empty tree marks nothing.
            let marked = !matches!(marks, serde_json::Value::Bool(false));
            let found = resolver.resolve(references.iter().map(String::as_str).filter(|_| marked), place);
            let ends = ["aws_sqs_queue", "aws_lambda_function", "aws_lambda_alias"];
            found.targets.iter().any(|(id, _)| ends.contains(&&*id.kind))
        }
        Some(Argument::Blocks(blocks)) => {
            let each = marks.as_array().map_or(std::slice::from_ref(marks), Vec::as_slice);
            let mut pairs = blocks
                .iter()
                .flat_map(|block| each.iter().map(move |marks| (block, marks)));
            pairs.any(|(block, marks)| links(resolver, place, block, marks))
        }
        None => false,
    })
}
