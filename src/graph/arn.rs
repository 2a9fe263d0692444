//! Parses ARNs, URLs and names. The colons in a template's `${AWS::Region}` do not separate parts.

use super::order::without_keys;
use super::{Form, Link, Resource, Target};

/// Suffix of the name of every FIFO queue, and of no other queue.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_CreateQueue.html>
pub const FIFO_SUFFIX: &str = ".fifo";

/// AWS's own key for SQS, whose policy cannot be changed.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-key-management.html>
pub const AWS_KEY: &str = "alias/aws/sqs";

/// Splits an ARN into `arn`, partition, service, Region, account, and the parts specific to the service.
fn parts(arn: &str) -> Vec<&str> {
    let (mut all, mut start, mut depth) = (Vec::new(), 0, 0_usize);
    let mut before = '\0';
    for (at, letter) in arn.char_indices() {
        match letter {
            '{' if before == '$' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ':' if depth == 0 => {
                all.extend(arn.get(start..at));
                start = at + 1;
            }
            _ => {}
        }
        before = letter;
    }
    all.extend(arn.get(start..));
    all
}

/// Returns the physical name in an ARN of SQS or Lambda, in a URL, or in a plain name.
pub(super) fn physical_name(written: &str, form: Form) -> Option<&str> {
    let name = match form {
        Form::Arn => match parts(written).as_slice() {
            [_, _, "sqs", _, _, name] => *name,
            // The URI with which an API sends: `arn:aws:apigateway:eu-west-1:sqs:path/111122223333/orders`.
            [_, _, "apigateway", _, "sqs", path] => path.strip_prefix("path/")?.rsplit('/').next()?,
            [_, _, "lambda", _, _, "function", name, ..] => *name,
            _ => return None,
        },
        Form::Url => written.rsplit('/').next()?,
        Form::Name => match parts(written).as_slice() {
            // Lambda accepts an ARN without its first parts.
            [_, "function", name, ..] => *name,
            parts => *parts.first()?,
        },
    };
    (!name.is_empty()).then_some(name)
}

/// Returns `true` if `text` has only characters that are allowed in queue names.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-queue-message-identifiers.html>
pub(super) fn is_queue_name(text: &str) -> bool {
    let name = text.strip_suffix(FIFO_SUFFIX).unwrap_or(text);
    !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

/// Returns the Region in an ARN or in the URL of a queue if it is literal.
pub(super) fn region(written: &str, form: Form) -> Option<&str> {
    let region = match form {
        Form::Arn => *parts(written).get(3)?,
        Form::Url => written.strip_prefix("https://sqs.")?.split(".amazonaws.com").next()?,
        Form::Name => return None,
    };
    let written_out = !region.is_empty() && region.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    written_out.then_some(region)
}

/// Returns the account in an ARN if it is literal.
pub(super) fn account(written: &str, form: Form) -> Option<&str> {
    let account = match form {
        Form::Arn => *parts(written).get(4)?,
        Form::Url | Form::Name => return None,
    };
    (account.len() == 12 && account.bytes().all(|byte| byte.is_ascii_digit())).then_some(account)
}

/// Services without any resource that an event source mapping or a pipe can poll.
/// <https://docs.aws.amazon.com/lambda/latest/api/API_CreateEventSourceMapping.html>
const NO_SOURCES: [&str; 7] = ["events", "iam", "lambda", "logs", "s3", "sns", "states"];

impl Link {
    /// Returns `true` if this is AWS's own key for SQS.
    pub fn is_key_of_aws(&self) -> bool {
        match &self.target {
            Target::External(written) => written
                .strip_suffix(AWS_KEY)
                .is_some_and(|rest| rest.is_empty() || rest.ends_with(':')),
            Target::Resource(_) | Target::OtherUnit { .. } | Target::Dangling(_) => false,
        }
    }

    /// Returns `true` if the target is outside of the project and cannot be polled by an event source mapping or a
    /// pipe.
    pub fn is_never_a_source(&self) -> bool {
        self.service().is_some_and(|service| NO_SOURCES.contains(&service))
    }

    /// Returns the Region in the ARN or URL of an external target if it is literal.
    pub fn region(&self) -> Option<&str> {
        match &self.target {
            Target::External(written) => region(written, self.form),
            _ => None,
        }
    }

    /// Returns the name of an external function, from its ARN or a plain name, without alias or version.
    pub fn external_function_name(&self) -> Option<&str> {
        match &self.target {
            Target::External(written) => physical_name(written, self.form),
            _ => None,
        }
    }

    /// Returns the name of an external topic, from its ARN.
    pub fn external_topic_name(&self) -> Option<&str> {
        match &self.target {
            Target::External(arn) if self.service() == Some("sns") => parts(arn).get(5).copied(),
            _ => None,
        }
    }

    /// Returns the target as written, or its address.
    pub fn written(&self) -> &str {
        match &self.target {
            Target::Resource(written)
            | Target::OtherUnit { address: written, .. }
            | Target::External(written)
            | Target::Dangling(written) => written,
        }
    }

    /// Returns the account in the ARN of an external target if it is literal.
    pub fn account(&self) -> Option<&str> {
        match &self.target {
            Target::External(written) => account(written, self.form),
            _ => None,
        }
    }

    /// Returns the service in the ARN of an external target: `sqs`, `sns`.
    pub fn service(&self) -> Option<&str> {
        match (&self.target, self.form) {
            (Target::External(arn), Form::Arn) => parts(arn).get(2).copied(),
            _ => None,
        }
    }

    /// Returns `true` if it is neither an ARN nor a URL. It may still be the name of a resource.
    pub(super) fn is_placeholder(&self) -> bool {
        match (&self.target, self.form) {
            // Reference that a plugin or another tool replaces.
            (Target::External(written), _) if written.contains("#{") => true,
            (_, Form::Url) => false,
            (Target::External(written), Form::Arn) => {
                let parts = parts(written);
                parts.len() < 6 || parts.get(2).is_some_and(|service| service.is_empty())
            }
            (Target::External(_), Form::Name) => true,
            _ => false,
        }
    }

    /// Returns the name of an external queue, from its ARN or URL.
    pub fn external_queue_name(&self) -> Option<&str> {
        let Target::External(written) = &self.target else {
            return None;
        };
        let is_queue = match self.form {
            Form::Arn => self.service() == Some("sqs"),
            Form::Url => written.starts_with("https://sqs."),
            Form::Name => false,
        };
        is_queue.then(|| physical_name(written, self.form)).flatten()
    }
}

impl Resource {
    /// Returns the expression for this resource's ARN in the code that declares it.
    pub fn arn_reference(&self) -> String {
        self.reference("Arn", "arn")
    }

    /// Returns the expression for the ARN of this topic, rule or bucket in the code that declares it.
    pub fn source_arn_reference(&self) -> String {
        if &*self.kind == "AWS::SNS::Topic" {
            return format!("!Ref {}", self.address);
        }
        self.arn_reference()
    }

    /// Returns the expression by which `other`, of the same unit, can depend on this resource; `None` if that is in a
    /// module that `other` does not contain.
    pub fn reference_from(&self, other: &Resource) -> Option<String> {
        if self.kind.contains("::") {
            return Some(self.address.to_string());
        }
        let address = without_keys(&self.address);
        let owner = without_keys(&other.address);
        let module = owner
            .rfind(&format!("{}.", other.kind))
            .and_then(|at| owner.get(..at))?;
        let local = address.strip_prefix(module)?;
        match local.strip_prefix("module.") {
            Some(inner) => Some(format!("module.{}", inner.split('.').next()?)),
            None => Some(local.to_owned()),
        }
    }

    /// Returns the expression for this queue's URL in the code that declares it.
    pub fn url_reference(&self) -> String {
        if self.kind.contains("::") {
            return format!("!Ref {}", self.address);
        }
        self.reference("", "url")
    }

    /// Returns the expression for this queue's name in the code that declares it.
    pub fn queue_name_reference(&self) -> String {
        self.reference("QueueName", "name")
    }

    fn reference(&self, of_template: &str, of_module: &str) -> String {
        if self.kind.contains("::") {
            return format!("!GetAtt {}.{of_template}", self.address);
        }
        let mut local = &*self.address;
        // Within its module the address of a resource is the last part: of `module.a["x.y"].aws_sqs_queue.b`,
        // `aws_sqs_queue.b`.
        if let Some(at) = local.rfind(&format!("{}.", self.kind)) {
            local = local.get(at..).unwrap_or(local);
        }
        format!("{local}.{of_module}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn physical_name_follows_unresolved_parts() {
        let cases = [
            ("arn:aws:sqs:eu-west-1:1:q", Form::Arn, Some("q")),
            (
                "arn:${AWS::Partition}:sqs:${AWS::Region}:${AWS::AccountId}:q",
                Form::Arn,
                Some("q"),
            ),
            ("arn:aws:lambda:${AWS::Region}:1:function:f:live", Form::Arn, Some("f")),
            ("arn:aws:sns:eu-west-1:1:t", Form::Arn, None),
            ("arn:aws:sqs", Form::Arn, None),
            ("https://sqs.eu-west-1.amazonaws.com/1/q", Form::Url, Some("q")),
            ("f:live", Form::Name, Some("f")),
            ("123456789012:function:f:live", Form::Name, Some("f")),
            ("", Form::Name, None),
            ("${", Form::Arn, None),
        ];
        for (written, form, name) in cases {
            assert_eq!(physical_name(written, form), name, "{written}");
        }
    }

    #[test]
    fn only_literal_regions_are_returned() {
        let cases = [
            ("arn:aws:sqs:eu-west-1:1:q", Form::Arn, Some("eu-west-1")),
            ("arn:aws:sqs:${AWS::Region}:1:q", Form::Arn, None),
            ("arn:aws:iam::1:role/r", Form::Arn, None),
            ("https://sqs.eu-west-1.amazonaws.com/1/q", Form::Url, Some("eu-west-1")),
            ("https://sqs.${region}.amazonaws.com/1/q", Form::Url, None),
            ("https://localhost:4566/1/q", Form::Url, None),
            ("q", Form::Name, None),
        ];
        for (written, form, expected) in cases {
            assert_eq!(region(written, form), expected, "{written}");
        }
    }
}
