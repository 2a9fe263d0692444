//! `Policies` of functions and state machines: managed policies, documents, and SAM's policy templates. Templates that
//! grant nothing on queues and keys come to documents without statements.

use super::making::At;
use super::{branches, is_no_value};
use crate::frontend::tree::{Entry, Node, Value};

/// Where AWS keeps the managed policies of its services.
const SERVICE_ROLE: &str = "arn:aws:iam::aws:policy/service-role/";

/// Templates that grant nothing on queues or keys.
/// Source: `policy_templates.json` of aws/serverless-application-model.
const OTHER_TEMPLATES: [&str; 76] = [
    "AMIDescribePolicy",
    "AWSSecretsManagerGetSecretValuePolicy",
    "AWSSecretsManagerRotationPolicy",
    "AcmGetCertificatePolicy",
    "AthenaQueryPolicy",
    "CloudFormationDescribeStacksPolicy",
    "CloudWatchDashboardPolicy",
    "CloudWatchDescribeAlarmHistoryPolicy",
    "CloudWatchPutMetricPolicy",
    "CodeCommitCrudPolicy",
    "CodeCommitReadPolicy",
    "CodePipelineLambdaExecutionPolicy",
    "CodePipelineReadOnlyPolicy",
    "ComprehendBasicAccessPolicy",
    "CostExplorerReadOnlyPolicy",
    "DynamoDBBackupFullAccessPolicy",
    "DynamoDBCrudPolicy",
    "DynamoDBReadPolicy",
    "DynamoDBReconfigurePolicy",
    "DynamoDBRestoreFromBackupPolicy",
    "DynamoDBStreamReadPolicy",
    "DynamoDBWritePolicy",
    "EC2CopyImagePolicy",
    "EC2DescribePolicy",
    "EFSWriteAccessPolicy",
    "EKSDescribePolicy",
    "EcsRunTaskPolicy",
    "ElasticMapReduceAddJobFlowStepsPolicy",
    "ElasticMapReduceCancelStepsPolicy",
    "ElasticMapReduceModifyInstanceFleetPolicy",
    "ElasticMapReduceModifyInstanceGroupsPolicy",
    "ElasticMapReduceSetTerminationProtectionPolicy",
    "ElasticMapReduceTerminateJobFlowsPolicy",
    "ElasticsearchHttpPostPolicy",
    "EventBridgePutEventsPolicy",
    "FilterLogEventsPolicy",
    "FirehoseCrudPolicy",
    "FirehoseWritePolicy",
    "KinesisCrudPolicy",
    "KinesisStreamReadPolicy",
    "LambdaInvokePolicy",
    "MobileAnalyticsWriteOnlyAccessPolicy",
    "OrganizationsListAccountsPolicy",
    "PinpointEndpointAccessPolicy",
    "PollyFullAccessPolicy",
    "RekognitionDetectOnlyPolicy",
    "RekognitionFacesManagementPolicy",
    "RekognitionFacesPolicy",
    "RekognitionLabelsPolicy",
    "RekognitionNoDataAccessPolicy",
    "RekognitionReadPolicy",
    "RekognitionWriteOnlyAccessPolicy",
    "Route53ChangeResourceRecordSetsPolicy",
    "S3CrudPolicy",
    "S3FullAccessPolicy",
    "S3ReadPolicy",
    "S3WritePolicy",
    "SESBulkTemplatedCrudPolicy",
    "SESBulkTemplatedCrudPolicy_v2",
    "SESCrudPolicy",
    "SESEmailTemplateCrudPolicy",
    "SESSendBouncePolicy",
    "SNSCrudPolicy",
    "SNSPublishMessagePolicy",
    "SSMParameterReadPolicy",
    "SSMParameterWithSlashPrefixReadPolicy",
    "SageMakerCreateEndpointConfigPolicy",
    "SageMakerCreateEndpointPolicy",
    "ServerlessRepoReadWriteAccessPolicy",
    "StepFunctionsCallbackPolicy",
    "StepFunctionsExecutionPolicy",
    "StepFunctionsExecutionPolicy_v2",
    "TextractDetectAnalyzePolicy",
    "TextractGetResultPolicy",
    "TextractPolicy",
    "VPCAccessPolicy",
];

/// What a role is granted.
#[derive(Default)]
pub(super) struct Grants {
    managed: Vec<Node>,
    inline: Vec<Node>,
}

impl Grants {
    /// What every function's role gets, and what its settings ask for.
    pub(super) fn of_function<'e>(at: At, value: &impl Fn(&str) -> Option<&'e Node>) -> Self {
        let mut grants = Grants::default();
        grants.service_role(
            match value("DurableConfig") {
                Some(_) => "AWSLambdaBasicDurableExecutionRolePolicy",
                None => "AWSLambdaBasicExecutionRole",
            },
            at,
        );
        if value("Tracing").is_some_and(|tracing| tracing.as_str() != Some("Disabled")) {
            grants.tracing(at);
        }
        if value("VpcConfig").is_some() {
            grants.service_role("AWSLambdaVPCAccessExecutionRole", at);
        }
        grants
    }

    pub(super) fn tracing(&mut self, at: At) {
        self.managed(at.text("arn:aws:iam::aws:policy/AWSXrayWriteOnlyAccess"));
    }

    /// A managed policy of a service, once.
    pub(super) fn service_role(&mut self, name: &str, at: At) {
        self.managed(at.text(format!("{SERVICE_ROLE}{name}")));
    }

    fn managed(&mut self, policy: Node) {
        // By name: a policy may be listed by its name or by its ARN.
        let name = |node: &Node| Some(node.as_str()?.rsplit('/').next()?.to_owned());
        let is_there = name(&policy).is_some() && self.managed.iter().any(|known| name(known) == name(&policy));
        if !is_there {
            self.managed.push(policy);
        }
    }

    pub(super) fn inline(&mut self, policy: Node) {
        self.inline.push(policy);
    }

    /// Leave to send to a queue: `what` makes the policy's name.
    pub(super) fn send(&mut self, at: At, what: &str, queue: Node) {
        let document = at.document(at.allow(&["sqs:SendMessage"], queue));
        self.inline(at.policy(format!("{what}SQSPolicy"), document));
    }

    /// Leave to send to the function's own dead-letter queue.
    pub(super) fn dead_letter_queue(&mut self, at: At, queue: &Node) {
        let Some(target) = queue.get("TargetArn") else {
            return;
        };
        let action = match queue.get("Type").and_then(Node::as_str) {
            Some("SNS") => "sns:Publish",
            _ => "sqs:SendMessage",
        };
        let document = at.document(at.allow(&[action], target.clone()));
        self.inline(at.policy("DeadLetterQueuePolicy".to_owned(), document));
    }

    /// One policy, or a list of them.
    pub(super) fn add_policies(&mut self, role: &str, policies: &Node) {
        let all = policies.items().unwrap_or(std::slice::from_ref(policies));
        for (index, policy) in all.iter().enumerate() {
            let name = format!("{role}Policy{index}");
            match &policy.value {
                Value::Null => {}
                _ if is_inline(policy) => self.inline(inline_policy(&name, policy)),
                _ => self.managed(policy.clone()),
            }
        }
    }

    /// The properties of the role.
    pub(super) fn role_properties(self, at: At) -> Vec<Entry> {
        let mut properties = vec![at.entry("ManagedPolicyArns", at.list(self.managed))];
        if !self.inline.is_empty() {
            properties.push(at.entry("Policies", at.list(self.inline)));
        }
        properties
    }
}

/// Whether a policy is a document or a template, if need be in the branches of `Fn::If`.
fn is_inline(policy: &Node) -> bool {
    if let Some((_, yes, no)) = branches(policy) {
        return [yes, no].iter().any(|branch| !is_no_value(branch) && is_inline(branch));
    }
    match policy.entries() {
        Some([only]) => &*only.key != "Ref" && !only.key.starts_with("Fn::"),
        Some(_) => true,
        None => false,
    }
}

fn inline_policy(name: &str, policy: &Node) -> Node {
    let at = At(policy.span);
    if let Some((condition, yes, no)) = branches(policy) {
        let branch = |branch: &Node| {
            if is_no_value(branch) {
                branch.clone()
            } else {
                inline_policy(name, branch)
            }
        };
        let items = vec![at.text(condition), branch(yes), branch(no)];
        return at.function("Fn::If", at.list(items));
    }
    let document = match policy.entries() {
        Some([only]) if &*only.key != "Statement" => template(&only.key, &only.value, at),
        _ => policy.clone(),
    };
    at.policy(name.to_owned(), document)
}

/// The document of a policy template.
fn template(name: &str, parameters: &Node, at: At) -> Node {
    let (actions, resource, parameter): (&[&str], _, _) = match name {
        "SQSPollerPolicy" => (
            &[
                "sqs:ChangeMessageVisibility",
                "sqs:ChangeMessageVisibilityBatch",
                "sqs:DeleteMessage",
                "sqs:DeleteMessageBatch",
                "sqs:GetQueueAttributes",
                "sqs:ReceiveMessage",
            ],
            "sqs:${AWS::Region}:${AWS::AccountId}:",
            "QueueName",
        ),
        "SQSSendMessagePolicy" => (
            &["sqs:SendMessage*"],
            "sqs:${AWS::Region}:${AWS::AccountId}:",
            "QueueName",
        ),
        "KMSDecryptPolicy" => (&["kms:Decrypt"], "kms:${AWS::Region}:${AWS::AccountId}:key/", "KeyId"),
        "KMSEncryptPolicy" => (&["kms:Encrypt"], "kms:${AWS::Region}:${AWS::AccountId}:key/", "KeyId"),
        "KMSEncryptPolicy_v2" => (
            &[
                "kms:Encrypt",
                "kms:GenerateDataKey",
                "kms:GenerateDataKeyWithoutPlaintext",
                "kms:GenerateDataKeyPair",
                "kms:GenerateDataKeyPairWithoutPlaintext",
            ],
            "kms:${AWS::Region}:${AWS::AccountId}:key/",
            "KeyId",
        ),
        _ if OTHER_TEMPLATES.contains(&name) => {
            return at.object(vec![at.entry("Statement", at.list(Vec::new()))]);
        }
        // One that this program does not know yet.
        _ => return at.function("Fn::Transform", at.text(name)),
    };
    let text = at.text(format!("arn:${{AWS::Partition}}:{resource}${{name}}"));
    let value = parameters.get(parameter).cloned().unwrap_or_else(|| at.text(""));
    let names = at.object(vec![at.entry("name", value)]);
    at.document(at.allow(actions, at.function("Fn::Sub", at.list(vec![text, names]))))
}
