//! Selects the resources of a plan or state that are parsed fully: those of the graph, and any others that refer to a
//! queue or a function. In a large plan, these are a small part.

use super::arguments::{Argument, Arguments};
use super::references::{ExpressionContext, Resolver};
use memchr::memmem;

/// Further types that set attributes of a node or may consume messages of a queue.
const NODES: [&str; 6] = [
    "aws_sqs_",
    "aws_lambda_",
    "aws_sns_",
    "aws_pipes_",
    "aws_scheduler_",
    "aws_cloudwatch_event_",
];

/// Types that refer to queues and functions only in permissions and have no node in the graph.
const PASSED_OVER: [&str; 1] = ["aws_iam_"];

/// The resource types that a reader of a plan asks for.
#[derive(Clone, Copy)]
pub(crate) struct Relevance {
    /// Returns `true` for the types that the caller evaluates.
    pub(crate) is_relevant: fn(&str) -> bool,
}

impl Relevance {
    /// Returns `true` if resources of this type are parsed fully.
    pub(crate) fn is_node(self, kind: &str) -> bool {
        (self.is_relevant)(kind) || NODES.iter().any(|start| kind.starts_with(start))
    }

    /// Returns `true` if links to resources of this type are tracked.
    pub(crate) fn is_end(self, kind: &str) -> bool {
        self.is_node(kind) || SOURCES.iter().any(|start| kind.starts_with(start))
    }
}

/// Further types that links may point to: other event sources of mappings.
const SOURCES: [&str; 5] = ["aws_kinesis_", "aws_dynamodb_", "aws_mq_", "aws_msk_", "aws_docdb_"];

pub(crate) fn is_passed_over(kind: &str) -> bool {
    PASSED_OVER.iter().any(|start| kind.starts_with(start))
}

/// Returns `true` if the text of the values contains the ARN of a queue or a function.
pub(crate) fn names(values: &str) -> bool {
    [":sqs:", ":lambda:"]
        .iter()
        .any(|part| memmem::find(values.as_bytes(), part.as_bytes()).is_some())
}

/// Returns `true` if any argument may refer to a queue or a function.
pub(crate) fn reaches<'p>(
    resolver: &mut Resolver<'p>,
    place: ExpressionContext<'p, '_>,
    arguments: &Arguments,
) -> bool {
    arguments.values().any(|argument| match argument {
        Argument::Expression { references, .. } => names_end(resolver, place, references),
        Argument::Blocks(blocks) => blocks.iter().any(|block| reaches(resolver, place, block)),
    })
}

fn names_end<'p>(resolver: &mut Resolver<'p>, place: ExpressionContext<'p, '_>, references: &[String]) -> bool {
    if references.is_empty() {
        return false;
    }
    let found = resolver.resolve(references.iter().map(String::as_str), place);
    let ends = ["aws_sqs_queue", "aws_lambda_function", "aws_lambda_alias"];
    found.resources.iter().any(|(id, _)| ends.contains(&&*id.kind))
}

/// Returns `true` if an argument that is known only after apply may refer to a queue or a function.
pub(crate) fn links<'p>(
    resolver: &mut Resolver<'p>,
    place: ExpressionContext<'p, '_>,
    arguments: &Arguments,
    unknown: &serde_json::Value,
) -> bool {
    let Some(unknown) = unknown.as_object() else {
        return false;
    };
    unknown.iter().any(|(name, marks)| match arguments.get(name) {
        Some(Argument::Expression { references, .. }) => {
            !matches!(marks, serde_json::Value::Bool(false)) && names_end(resolver, place, references)
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
