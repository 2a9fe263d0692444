//! What an ARN, URL or name says of itself. A template's `${AWS::Region}` holds colons, which part nothing.

use super::{Form, Link, Target};

/// What the name of a FIFO queue ends in; no other queue's name does.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_CreateQueue.html>
pub const FIFO_SUFFIX: &str = ".fifo";

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
        Form::Name => *parts(written).first()?,
    };
    (!name.is_empty()).then_some(name)
}

impl Link {
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
            ("", Form::Name, None),
            ("${", Form::Arn, None),
        ];
        for (written, form, name) in cases {
            assert_eq!(physical_name(written, form), name, "{written}");
        }
    }
}
