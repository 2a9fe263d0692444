//! AWS's managed policies, and what they permit on queues and keys.

/// Policies that permit actions on all queues or keys.
const PERMITTING: [(&str, &[&str]); 6] = [
    ("AdministratorAccess", &["*"]),
    ("PowerUserAccess", &["*"]),
    ("AmazonSQSFullAccess", &["sqs:*"]),
    (
        "AmazonSQSReadOnlyAccess",
        &["sqs:GetQueueAttributes", "sqs:GetQueueUrl", "sqs:List*"],
    ),
    (
        "AWSLambdaSQSQueueExecutionRole",
        &["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"],
    ),
    ("ReadOnlyAccess", &["sqs:Get*", "sqs:List*", "sqs:Receive*"]),
];

/// Common policies of functions, tasks and pipes that permit nothing on queues and no decryption with keys.
const OTHERS: [&str; 44] = [
    "AWSAppSyncInvokeFullAccess",
    "AWSLambdaBasicDurableExecutionRolePolicy",
    "AWSLambdaBasicExecutionRole",
    "AWSLambdaDynamoDBExecutionRole",
    "AWSLambdaENIManagementAccess",
    "AWSLambdaExecute",
    "AWSLambdaKinesisExecutionRole",
    "AWSLambdaMSKExecutionRole",
    "AWSLambdaRole",
    "AWSLambdaVPCAccessExecutionRole",
    "AWSLambda_FullAccess",
    "AWSLambda_ReadOnlyAccess",
    "AWSStepFunctionsFullAccess",
    "AWSXRayDaemonWriteAccess",
    "AWSXrayFullAccess",
    "AWSXrayWriteOnlyAccess",
    "AmazonAPIGatewayInvokeFullAccess",
    "AmazonAthenaFullAccess",
    "AmazonBedrockFullAccess",
    "AmazonCognitoPowerUser",
    "AmazonDynamoDBFullAccess",
    "AmazonDynamoDBReadOnlyAccess",
    "AmazonEC2ContainerRegistryReadOnly",
    "AmazonEC2FullAccess",
    "AmazonECSTaskExecutionRolePolicy",
    "AmazonElasticFileSystemClientFullAccess",
    "AmazonElasticFileSystemClientReadWriteAccess",
    "AmazonEventBridgeFullAccess",
    "AmazonKinesisFirehoseFullAccess",
    "AmazonKinesisFullAccess",
    "AmazonRDSDataFullAccess",
    "AmazonRekognitionFullAccess",
    "AmazonS3FullAccess",
    "AmazonS3ReadOnlyAccess",
    "AmazonSESFullAccess",
    "AmazonSNSFullAccess",
    "AmazonSSMManagedInstanceCore",
    "AmazonSSMReadOnlyAccess",
    "AmazonTextractFullAccess",
    "CloudWatchAgentServerPolicy",
    "CloudWatchFullAccess",
    "CloudWatchLambdaInsightsExecutionRolePolicy",
    "CloudWatchLogsFullAccess",
    "SecretsManagerReadWrite",
];

/// Returns the actions on queues and keys that an AWS managed policy permits, or `None` if the policy is unknown.
/// `written` is its ARN or, as in SAM, its name.
pub(super) fn actions_of(written: &str) -> Option<&'static [&'static str]> {
    let path = match written.split_once(":aws:policy/") {
        Some((_, path)) => path,
        None if written.contains([':', '$']) => return None,
        None => written,
    };
    let name = path.rsplit('/').next()?;
    let known = PERMITTING.iter().find(|(known, _)| *known == name);
    known
        .map(|(_, actions)| *actions)
        .or_else(|| OTHERS.contains(&name).then_some(&[][..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_are_found_by_arn_or_name() {
        let poll = actions_of("AWSLambdaSQSQueueExecutionRole").map(<[_]>::len);
        assert_eq!(poll, Some(3));
        for (written, expected) in [
            (
                "arn:aws:iam::aws:policy/service-role/AWSLambdaSQSQueueExecutionRole",
                poll,
            ),
            (
                "arn:aws-cn:iam::aws:policy/service-role/AWSLambdaSQSQueueExecutionRole",
                poll,
            ),
            ("arn:${AWS::Partition}:iam::aws:policy/AmazonS3FullAccess", Some(0)),
            ("arn:aws:iam::aws:policy/SomethingNew", None),
            ("arn:aws:iam::111122223333:policy/AmazonS3FullAccess", None),
            ("${open}", None),
        ] {
            assert_eq!(actions_of(written).map(<[_]>::len), expected, "{written}");
        }
    }

    #[test]
    fn lists_of_policies_are_disjoint() {
        assert!(OTHERS.is_sorted());
        assert!(PERMITTING.iter().all(|(name, _)| !OTHERS.contains(name)));
    }
}
