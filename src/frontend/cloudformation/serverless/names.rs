//! The logical ids that the Serverless Framework gives to what it makes.
//! <https://github.com/serverless/serverless/blob/v3/lib/plugins/aws/lib/naming.js>

use crate::frontend::tree::Node;

/// A function's name in logical ids: `orders-fulfil_v2` is `OrdersDashfulfilUnderscorev2`.
pub(super) fn normalized(name: &str) -> String {
    upper_first(&name.replace('-', "Dash").replace('_', "Underscore"))
}

/// A name without what logical ids may not hold.
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

/// The function called `key`.
pub(super) fn function(key: &str) -> String {
    format!("{}LambdaFunction", normalized(key))
}

/// Where the asynchronous failures of a function go.
pub(super) fn invoke_config(key: &str) -> String {
    format!("{}LambdaEvConf", normalized(key))
}

/// The mapping of a queue, told by its ARN as written.
pub(super) fn mapping(key: &str, arn: &Node) -> String {
    format!(
        "{}EventSourceMappingSQS{}",
        normalized(key),
        alphanumeric(&queue_name(arn))
    )
}

/// What the framework takes for the queue's name: a logical id, an export's name, or the end of an ARN.
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
