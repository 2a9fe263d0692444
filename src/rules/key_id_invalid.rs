//! Flags queues whose KMS key is a text that no key can have as its id.

use super::prelude::*;
use crate::graph::Target;

pub(super) static RULE: Rule = rule!(
    "key-id-invalid",
    Category::Queue,
    Severity::Error,
    "the key of a queue is a text that is no key id, alias or ARN, so no message can be sent to it",
    fix = Some(Safety::Unsafe)
);

/// Lengths of the parts of a key id.
/// <https://docs.aws.amazon.com/kms/latest/developerguide/concepts.html>
const ID_PARTS: [usize; 5] = [8, 4, 4, 4, 12];

fn check(findings: &mut Findings<'_>) {
    let policies = findings.graph.policies();
    for queue in findings.graph.queues() {
        for key in findings.known(&queue.resource.when, queue, &queue.key) {
            let Some(Target::External(text)) = key.value.as_ref().map(|link| &link.target) else {
                continue;
            };
            let is_id = fact(may_be_key(text), || format!("`{text}` may be a key"));
            findings.require(&key.when, queue, is_id.depending_on(&key), || {
                let declared = text.strip_prefix("Ref ").map(str::trim);
                let declared = declared.filter(|id| {
                    let link = Link::to(Target::Resource((*id).into()));
                    policies.key(queue.resource.unit, &link).is_some()
                });
                no_key(queue, text, &key, declared)
            });
        }
    }
}

/// Returns `true` if `text` has the form of a key id, an alias or the ARN of either, or contains a placeholder.
fn may_be_key(text: &str) -> bool {
    let is_word = |part: &str| part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let is_id = |id: &str| {
        let parts: Vec<&str> = id.split('-').collect();
        let lengths = parts.iter().map(|part| part.len());
        id.strip_prefix("mrk-").is_some_and(is_word) || lengths.eq(ID_PARTS) && parts.iter().all(|part| is_word(part))
    };
    let resource = text.strip_prefix("arn:").and_then(|arn| arn.rsplit(':').next());
    let of_arn = |resource: &str| resource.starts_with("alias/") || resource.strip_prefix("key/").is_some_and(is_id);
    text.is_empty()
        || text.contains(['$', '{', '<', '%', '#'])
        || text.starts_with("alias/")
        || is_id(text)
        || resource.is_some_and(of_arn)
}

fn no_key<T>(queue: &Queue, text: &str, key: &Known<'_, T>, declared: Option<&str>) -> Finding {
    let headline = format!("{queue} names `{text}` as its key, which is no key id, alias or ARN");
    let label = format!("no key has this id, so no message can be encrypted{}", key.provenance());
    let finding = Finding::new("key", headline, key, label);
    match declared {
        Some(id) => finding
            .help(format!("write `!Ref {id}`: without the `!` it is a plain text"))
            .fix(
                key.origins
                    .is_empty()
                    .then(|| Change::Reference(key.span, id.to_owned())),
            ),
        None => finding.help("write the id of the key, `alias/<name>`, or the ARN of either"),
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam};
    use crate::testing::queue;

    #[test]
    fn text_that_is_no_key_is_flagged() {
        queue().check(
            &RULE,
            "
            queue.key                                                                     | finding
            alias/orders                                                                  |
            alias/aws/sqs                                                                 |
            1234abcd-12ab-34cd-56ef-1234567890ab                                          |
            1234abcd-12ab-34cd-56ef-1234567890a                                           | error queue.key
            mrk-1234abcd12ab34cd56ef1234567890ab                                          |
            arn:aws:kms:eu-west-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab   |
            arn:aws:kms:eu-west-1:111122223333:alias/orders                               |
            arn:aws:kms:eu-west-1:111122223333:orders                                     | error queue.key
            orders                                                                        | error queue.key
            Ref Key                                                                       | error queue.key
            <key>                                                                         |
            open                                                                          |
                                                                                          |
            ",
        );
    }

    #[test]
    fn missing_tag_is_named() {
        for dialect in [CloudFormation, Sam] {
            dialect.check_cases(
                &RULE,
                "
Resources:
  Lock: {Type: AWS::KMS::Key}
  Q:
    Type: AWS::SQS::Queue
    Properties: {KmsMasterKeyId: <key>}
",
                "
                key          | finding | help
                Ref Lock     | 1       | write `!Ref Lock`…
                Ref Else     | 1       | write the id of the key…
                !Ref Lock    |         |
                ",
            );
        }
    }
}
