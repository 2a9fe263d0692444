//! What an ARN, URL or name says of itself. A template's `${AWS::Region}` holds colons, which part nothing.

use super::{Form, Link, Resource, Target};

/// What the name of a FIFO queue ends in; no other queue's name does.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_CreateQueue.html>
pub const FIFO_SUFFIX: &str = ".fifo";

/// AWS's own key for SQS, whose policy nobody can change.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-key-management.html>
pub const AWS_KEY: &str = "alias/aws/sqs";

/// The parts of an ARN: `arn`, partition, service, Region, account, and what the service adds.
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

/// The physical name in an ARN of SQS or Lambda, in a URL, or a name as it is.
pub(super) fn physical_name(written: &str, form: Form) -> Option<&str> {
    let name = match form {
        Form::Arn => match parts(written).as_slice() {
            [_, _, "sqs", _, _, name] => *name,
            [_, _, "lambda", _, _, "function", name, ..] => *name,
            _ => return None,
        },
        Form::Url => written.rsplit('/').next()?,
        Form::Name => match parts(written).as_slice() {
            // Lambda takes an ARN without its beginning.
            [_, "function", name, ..] => *name,
            parts => *parts.first()?,
        },
    };
    (!name.is_empty()).then_some(name)
}

/// The Region in an ARN or in the URL of a queue, where it is written out.
pub(super) fn region(written: &str, form: Form) -> Option<&str> {
    let region = match form {
        Form::Arn => *parts(written).get(3)?,
        Form::Url => written.strip_prefix("https://sqs.")?.split(".amazonaws.com").next()?,
        Form::Name => return None,
    };
    let written_out = !region.is_empty() && region.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    written_out.then_some(region)
}

/// The account in an ARN, where it is written out.
pub(super) fn account(written: &str, form: Form) -> Option<&str> {
    let account = match form {
        Form::Arn => *parts(written).get(4)?,
        Form::Url | Form::Name => return None,
    };
    (account.len() == 12 && account.bytes().all(|byte| byte.is_ascii_digit())).then_some(account)
}

/// Services none of whose resources an event source mapping or a pipe reads.
/// <https://docs.aws.amazon.com/lambda/latest/api/API_CreateEventSourceMapping.html>
const NO_SOURCES: [&str; 7] = ["events", "iam", "lambda", "logs", "s3", "sns", "states"];

impl Link {
    /// Whether it is AWS's own key for SQS.
    pub fn is_key_of_aws(&self) -> bool {
        match &self.target {
            Target::External(written) => written
                .strip_suffix(AWS_KEY)
                .is_some_and(|rest| rest.is_empty() || rest.ends_with(':')),
            Target::Resource(_) | Target::Elsewhere { .. } | Target::Dangling(_) => false,
        }
    }

    /// Whether it names something outside of the project that no event source mapping or pipe can read.
    pub fn is_no_source(&self) -> bool {
        self.service().is_some_and(|service| NO_SOURCES.contains(&service))
    }

    /// The Region that an ARN or URL from outside of the project says, where it is written out.
    pub fn region(&self) -> Option<&str> {
        match &self.target {
            Target::External(written) => region(written, self.form),
            _ => None,
        }
    }

    /// The name of a function outside of the project, in its ARN or by itself, without its alias or version.
    pub fn external_function_name(&self) -> Option<&str> {
        match &self.target {
            Target::External(written) => physical_name(written, self.form),
            _ => None,
        }
    }

    /// The name of a topic outside of the project, in its ARN.
    pub fn external_topic_name(&self) -> Option<&str> {
        match &self.target {
            Target::External(arn) if self.service() == Some("sns") => parts(arn).get(5).copied(),
            _ => None,
        }
    }

    /// What is written, or the address of what it leads to.
    pub fn written(&self) -> &str {
        match &self.target {
            Target::Resource(written)
            | Target::Elsewhere { address: written, .. }
            | Target::External(written)
            | Target::Dangling(written) => written,
        }
    }

    /// The account in an ARN from outside of the project, where it is written out.
    pub fn account(&self) -> Option<&str> {
        match &self.target {
            Target::External(written) => account(written, self.form),
            _ => None,
        }
    }

    /// The service that an ARN from outside the project names: `sqs`, `sns`.
    pub fn service(&self) -> Option<&str> {
        match (&self.target, self.form) {
            (Target::External(arn), Form::Arn) => parts(arn).get(2).copied(),
            _ => None,
        }
    }

    /// The name of a queue outside the project, in its ARN or URL.
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
    /// How this resource's ARN is referred to where it is declared.
    pub fn arn_reference(&self) -> String {
        self.reference("Arn", "arn")
    }

    /// How the URL of this queue is referred to where it is declared.
    pub fn url_reference(&self) -> String {
        if self.kind.contains("::") {
            return format!("!Ref {}", self.address);
        }
        self.reference("", "url")
    }

    /// How the name of this queue is referred to where it is declared.
    pub fn queue_name_reference(&self) -> String {
        self.reference("QueueName", "name")
    }

    fn reference(&self, of_template: &str, of_module: &str) -> String {
        if self.kind.contains("::") {
            return format!("!GetAtt {}.{of_template}", self.address);
        }
        let mut local = &*self.address;
        // Inside its module the resource goes by the last part of its address: `module.a["x.y"].aws_sqs_queue.b`.
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
    fn names_stand_behind_what_is_open() {
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
    fn a_region_counts_where_it_is_written_out() {
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
