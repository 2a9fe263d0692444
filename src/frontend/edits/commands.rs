//! Changes to a deployed resource as command lines of the AWS CLI. They are shown and never run.

use crate::diagnostic::{Change, MissingDeadLetterQueue, Place, REPORT_FAILURES};
use source::{SourceFile, Sources, Span};

/// Keys of which a snapshot has one, near its beginning.
const MARKS: [&str; 2] = ["\"sqslint_snapshot\"", "\"ResourceDescription"];
/// Number of bytes that contain the first keys.
const HEAD: usize = 4096;

/// Returns `true` if the file is a snapshot of what is deployed.
pub(super) fn is_snapshot(file: &SourceFile) -> bool {
    let text = file.text().as_bytes();
    let head = text.get(..HEAD).unwrap_or(text);
    let is_json = head.trim_ascii_start().starts_with(b"{");
    is_json
        && MARKS
            .iter()
            .any(|mark| memchr::memmem::find(head, mark.as_bytes()).is_some())
}

/// Returns the command line that makes `change`, if one does.
pub(super) fn command(change: &Change, sources: &Sources) -> Option<String> {
    match change {
        Change::Number { place, value } => number(place, *value, sources),
        Change::ReportFailures(place) => {
            let mapping = Deployed::at(place.header, sources)?;
            Some(mapping.update_mapping(&format!("--function-response-types {REPORT_FAILURES}")))
        }
        Change::DeadLetterQueue(missing) => redrive(missing, sources),
        _ => None,
    }
}

/// A deployed resource, by its ARN.
struct Deployed {
    arn: String,
    partition: String,
    service: String,
    region: String,
    account: String,
    /// The part of the ARN that follows the account.
    rest: String,
}

impl Deployed {
    /// Returns the resource whose id is written at `header`.
    fn at(header: Span, sources: &Sources) -> Option<Self> {
        let text = sources.text(header);
        let arn = text.trim_matches('"');
        // A snapshot may come from anywhere, and people paste these lines into a shell.
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b":/_.-".contains(&byte);
        let mut parts = arn.splitn(6, ':');
        if !arn.bytes().all(is_plain) || parts.next() != Some("arn") {
            return None;
        }
        let mut next = || parts.next().filter(|part| !part.is_empty()).map(str::to_owned);
        let (partition, service, region, account, rest) = (next()?, next()?, next()?, next()?, next()?);
        // A Region becomes a part of the host to which the request is sent.
        let is_region = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let is_known = region.starts_with(|c: char| c.is_ascii_lowercase()) && region.bytes().all(is_region);
        if !is_known || !account.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        Some(Deployed {
            arn: arn.to_owned(),
            partition,
            service,
            region,
            account,
            rest,
        })
    }

    fn set_queue_attributes(&self, attributes: &str) -> String {
        let Deployed {
            region, account, rest, ..
        } = self;
        let suffix = if self.partition == "aws-cn" { ".cn" } else { "" };
        let url = format!("https://sqs.{region}.amazonaws.com{suffix}/{account}/{rest}");
        format!("aws sqs set-queue-attributes --region {region} --queue-url {url} --attributes {attributes}")
    }

    fn update_mapping(&self, settings: &str) -> String {
        let id = self.rest.rsplit(':').next().unwrap_or_default();
        let region = &self.region;
        format!("aws lambda update-event-source-mapping --region {region} --uuid {id} {settings}")
    }
}

fn number(place: &Place, value: i64, sources: &Sources) -> Option<String> {
    let resource = Deployed::at(place.header, sources)?;
    let (arn, region) = (&resource.arn, &resource.region);
    Some(match (resource.service.as_str(), place.name.as_str()) {
        (
            "sqs",
            name @ ("VisibilityTimeout"
            | "MessageRetentionPeriod"
            | "DelaySeconds"
            | "ReceiveMessageWaitTimeSeconds"
            | "MaximumMessageSize"
            | "KmsDataKeyReusePeriodSeconds"),
        ) => resource.set_queue_attributes(&format!("{name}={value}")),
        ("lambda", "Timeout") => format!(
            "aws lambda update-function-configuration --region {region} --function-name {arn} --timeout {value}"
        ),
        ("lambda", "ReservedConcurrentExecutions") => format!(
            "aws lambda put-function-concurrency --region {region} --function-name {arn} \
             --reserved-concurrent-executions {value}"
        ),
        ("lambda", "BatchSize") => resource.update_mapping(&format!("--batch-size {value}")),
        ("lambda", "MaximumBatchingWindowInSeconds") => {
            resource.update_mapping(&format!("--maximum-batching-window-in-seconds {value}"))
        }
        ("lambda", "MaximumConcurrency") => {
            resource.update_mapping(&format!("--scaling-config MaximumConcurrency={value}"))
        }
        _ => return None,
    })
}

/// Returns the command that sets a redrive policy to an existing queue. A new queue needs a decision about its name.
fn redrive(missing: &MissingDeadLetterQueue, sources: &Sources) -> Option<String> {
    let queue = Deployed::at(missing.header, sources)?;
    let target = Deployed::at(missing.to.as_ref()?.header, sources)?;
    let (arn, count) = (&target.arn, missing.max_receive_count);
    let policy = format!(r#"{{\"deadLetterTargetArn\":\"{arn}\",\"maxReceiveCount\":\"{count}\"}}"#);
    Some(queue.set_queue_attributes(&format!(r#"'{{"RedrivePolicy":"{policy}"}}'"#)))
}
