//! Environments of the Serverless Framework: stages.

use super::{check, found};
use crate::inputs::check_files;

const SERVICE: &str = "service: s
provider:
  name: aws
  stage: ${opt:stage, 'dev'}
custom:
  timeouts:
    dev: 5
    prod: 300
functions:
  worker:
    handler: a.b
    timeout: ${self:custom.timeouts.${STAGE}}
    events:
      - sqs: {arn: !GetAtt Orders.Arn}
resources:
  Resources:
    Orders:
      Type: AWS::SQS::Queue
      Properties: {VisibilityTimeout: 60}
";

#[test]
fn serverless_stages_are_environments() {
    for stage in [
        "sls:stage",
        "opt:stage, 'dev'",
        "self:provider.stage",
        "opt:stage, self:provider.stage",
    ] {
        let service = SERVICE.replace("STAGE", stage);
        assert_eq!(
            check(&[("serverless.yml", &service)]),
            ["the environment is `prod`"],
            "{stage}"
        );
    }
}

#[test]
fn plugin_settings_are_not_stages() {
    let custom =
        "custom:\n  webpack: {packager: npm}\n  prune: {timeout: {}}\n  dev: {timeout: 5}\n  prod: {timeout: 300}\n";
    let old = "custom:\n  timeouts:\n    dev: 5\n    prod: 300\n";
    for (written, lookup) in [
        (
            "${self:custom.timeouts.${STAGE}}",
            "${self:custom.${sls:stage}.timeout}",
        ),
        (
            "${self:custom.timeouts.${STAGE}}",
            "${self:custom.${opt:stage, self:provider.stage}.timeout}",
        ),
    ] {
        let service = SERVICE.replace(old, custom).replace(written, lookup);
        let outcome = check_files([("serverless.yml", &*service)]);
        let named = outcome.environments.join(" ");
        assert!(
            named.contains("prod") && !named.contains("webpack"),
            "{lookup}: {named}"
        );
        assert_eq!(found(&outcome), ["the environment is `prod`"], "{lookup}");
    }
    // A whole entry has to resemble that of the default stage.
    let service = SERVICE.replace(old, custom);
    let service = service.replace(
        "${self:custom.timeouts.${STAGE}}",
        "5\n    environment: ${self:custom.${sls:stage}}",
    );
    let named = check_files([("serverless.yml", &*service)]).environments.join(" ");
    assert!(named.contains("prod") && !named.contains("webpack"), "{named}");
}

#[test]
fn files_selected_by_the_stage_name_environments() {
    let files = |lookup: &str, prod: &str| {
        let service = SERVICE.replace("${self:custom.timeouts.${STAGE}}", lookup);
        let service = service.replace("  timeouts:\n    dev: 5\n    prod: 300\n", "  unused: 1\n");
        check_files([
            ("serverless.yml", &*service),
            ("config/dev.yml", "timeout: 5\nother: 1\n"),
            ("config/prod.yml", prod),
            ("config/tables.yml", "Resources: {}\n"),
        ])
    };
    for lookup in [
        "${file(config/${sls:stage}.yml):timeout}",
        "${file(./config/${opt:stage, 'dev'}.yml):timeout}",
        "${file(config/${self:provider.stage}.yml):timeout, 5}",
    ] {
        let outcome = files(lookup, "timeout: 300\n");
        assert_eq!(found(&outcome), ["the environment is `prod`"], "{lookup}");
        assert!(!outcome.environments.join(" ").contains("tables"), "{lookup}");
    }
    // Without the value that is looked up, the fallback applies, and the file is not known to be a stage.
    let outcome = files("${file(config/${sls:stage}.yml):timeout, 5}", "other: 1\n");
    assert_eq!(outcome.environments, [""; 0]);
    // A whole file has to resemble the one of the default stage.
    let whole = "5\n    environment: ${file(config/${sls:stage}.yml)}";
    let named = files(whole, "other: 2\n").environments.join(" ");
    assert!(named.contains("prod") && !named.contains("tables"), "{named}");
    // Only the path with the stage counts.
    let outcome = files("${file(config/dev.yml):timeout}", "timeout: 300\n");
    assert_eq!(outcome.environments, [""; 0]);
}

#[test]
fn stage_with_parameters_is_an_environment() {
    let service = SERVICE.replace("${self:custom.timeouts.${STAGE}}", "${param:timeout}");
    for section in [
        "params:\n  default: {timeout: 5}\n  prod: {timeout: 300}\n",
        "stages:\n  default: {params: {timeout: 5}}\n  prod: {params: {timeout: 300}}\n",
    ] {
        let service = format!("{service}{section}");
        assert_eq!(
            check(&[("serverless.yml", &service)]),
            ["the environment is `prod`"],
            "{section}"
        );
    }
}

#[test]
fn map_not_indexed_by_the_stage_names_no_environments() {
    let service = SERVICE.replace("${self:custom.timeouts.${STAGE}}", "${self:custom.timeouts.dev}");
    assert_eq!(check(&[("serverless.yml", &service)]), [""; 0]);
}
