//! Names of settings, and logical ids of resources that the Serverless Framework generates.
//! <https://github.com/serverless/serverless/blob/v3/lib/plugins/aws/lib/naming.js>

use trees::Node;

/// Setting of an `sqs` event: the batch size.
pub const BATCH_SIZE: &str = "batchSize";
/// Setting of an `sqs` event: the batching window.
pub const WINDOW: &str = "maximumBatchingWindow";
/// Setting of an `sqs` event: the response type, a single value.
pub const RESPONSE_TYPE: &str = "functionResponseType";
/// Setting of an `sqs` event: the filters.
pub(super) const FILTERS: &str = "filterPatterns";
/// Setting of an `sqs` event: the maximum concurrency.
pub const MAXIMUM_CONCURRENCY: &str = "maximumConcurrency";

/// End of the id of a function.
pub(super) const FUNCTION: &str = "LambdaFunction";

/// Setting of an `sqs` event: the numbers of provisioned pollers.
pub(super) const POLLERS: &str = "provisionedPollers";

/// Converts a function's name for logical ids: `orders-fulfil_v2` becomes `OrdersDashfulfilUnderscorev2`.
pub(super) fn normalized(name: &str) -> String {
    upper_first(&name.replace('-', "Dash").replace('_', "Underscore"))
}

/// Removes the characters that logical ids must not contain.
pub(super) fn alphanumeric(name: &str) -> String {
    let kept: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    upper_first(&kept)
}

fn upper_first(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map(|first| first.to_uppercase().chain(letters).collect())
        .unwrap_or_default()
}

/// Returns the id of the function `key`.
pub(super) fn function(key: &str) -> String {
    format!("{}{FUNCTION}", normalized(key))
}

/// Returns the id of a function's configuration of asynchronous invocations.
pub(super) fn invoke_config(key: &str) -> String {
    format!("{}LambdaEvConf", normalized(key))
}

/// Returns the id of the mapping of a queue, which depends on its ARN as written.
pub(super) fn mapping(key: &str, arn: &Node) -> String {
    format!(
        "{}EventSourceMappingSQS{}",
        normalized(key),
        alphanumeric(&queue_name(arn))
    )
}

/// Returns the author's name of the `sqs` event of the function `key`: "event `sqs: orders` of `worker`".
pub(super) fn event(key: &str, arn: &Node) -> String {
    let queue = queue_name(arn);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if queue.is_empty() || !queue.chars().all(is_plain) {
        return format!("event `sqs` of `{key}`");
    }
    format!("event `sqs: {queue}` of `{key}`")
}

/// Returns the part of an ARN that the framework uses as the queue's name: a logical id, the name of an export, or the
/// end of the ARN.
fn queue_name(arn: &Node) -> String {
    let last_text = |node: &Node| {
        let last = node.items().and_then(<[Node]>::last);
        last.or(Some(node))
            .and_then(Node::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    if let Some(argument) = arn.get("Fn::GetAtt") {
        let id = argument.items().and_then(<[Node]>::first).unwrap_or(argument);
        let id = id.as_str().unwrap_or_default();
        return id.split('.').next().unwrap_or_default().to_owned();
    }
    if let Some(name) = arn.get("Fn::ImportValue") {
        return last_text(name);
    }
    if let Some([_, list]) = arn.get("Fn::Join").and_then(Node::items) {
        return last_text(list);
    }
    let text = arn.as_str().unwrap_or_default();
    text.rsplit(':').next().unwrap_or_default().to_owned()
}
