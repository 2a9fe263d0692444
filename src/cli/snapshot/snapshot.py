#!/usr/bin/env python3
"""Writes what an AWS account has deployed around its SQS queues, for `sqslint check` and `--deployed`.

usage: python3 snapshot.py [--region REGION]... [--profile PROFILE] [--output snapshot.json]

It only lists and reads; docs/deployed.md of sqslint has the permissions that it needs. Values of environment variables
are never written, only their names, and neither are other texts in which applications put secrets, such as the inputs
of targets. What it may not read is named in the snapshot and skipped. If it is interrupted, start it again with the same
arguments: what it has read is in OUTPUT.partial, one line per resource list, and is not read again.
"""
import argparse
import concurrent.futures
import datetime
import functools
import json
import os
import sys
import threading

import boto3
import botocore.config
import botocore.exceptions

RETRIES = botocore.config.Config(retries={"mode": "adaptive", "max_attempts": 10}, max_pool_connections=32)
NUMBERS = (
    "DelaySeconds",
    "KmsDataKeyReusePeriodSeconds",
    "MaximumMessageSize",
    "MessageRetentionPeriod",
    "ReceiveMessageWaitTimeSeconds",
    "VisibilityTimeout",
)
SWITCHES = ("ContentBasedDeduplication", "FifoQueue", "SqsManagedSseEnabled")
TEXTS = ("DeduplicationScope", "FifoThroughputLimit", "KmsMasterKeyId")
# Codes of errors about things that were deleted after they were listed.
MISSING = (
    "AWS.SimpleQueueService.NonExistentQueue",
    "NoSuchEntity",
    "NotFound",
    "NotFoundException",
    "QueueDoesNotExist",
    "ResourceNotFoundException",
)
# Codes of errors about things that a policy forbids to read.
DENIED = ("AccessDenied", "AccessDeniedException", "AuthorizationError", "AuthorizationErrorException", "UnauthorizedOperation")
FUNCTION_KEYS = (
    "Architectures CapacityProviderConfig DeadLetterConfig DurableConfig Handler MemorySize PackageType Role Runtime "
    "TenancyConfig Timeout"
).split()
ALARM_KEYS = (
    "ActionsEnabled AlarmActions AlarmName ComparisonOperator DatapointsToAlarm Dimensions EvaluationPeriods "
    "ExtendedStatistic MetricName Metrics Namespace OKActions Period Statistic Threshold TreatMissingData"
).split()
MAPPING_KEYS = (
    "BatchSize MaximumBatchingWindowInSeconds FunctionResponseTypes FilterCriteria ScalingConfig DestinationConfig "
    "ProvisionedPollerConfig"
).split()


def pages(client, operation, key, **arguments):
    """Returns the items of all pages of a list, or none if the thing that has the list does not exist."""
    try:
        pages = client.get_paginator(operation).paginate(**arguments)
        return [item for page in pages for item in page.get(key, [])]
    except botocore.exceptions.ClientError as error:
        if error.response["Error"]["Code"] in MISSING:
            return []
        raise


def optional(call, **arguments):
    """Returns the answer to a call, or an empty one if the thing does not exist."""
    try:
        return call(**arguments)
    except botocore.exceptions.ClientError as error:
        if error.response["Error"]["Code"] in MISSING:
            return {}
        raise


def chosen(values, *keys):
    """Returns the entries of `values` with these keys, if there are any."""
    return {key: values[key] for key in keys if key in (values or {})}


def resource(kind, id, properties):
    return {"Type": kind, "Id": id, "Properties": {k: v for k, v in properties.items() if v not in (None, [], {})}}


def permitted(function, id):
    """Returns the resources that a function yields, or only a note that `id` is unread if a policy forbids to read it."""
    try:
        return list(function())
    except botocore.exceptions.ClientError as error:
        code = error.response["Error"]["Code"]
        if code not in DENIED:
            raise
        print(f"{id} is skipped: {error}", file=sys.stderr)
        return [{"Unread": id, "Reason": f"{error.operation_name}: {code}"}]


def private(path, flags):
    """Opens a file that only its owner may read."""
    opened = os.open(path, flags, 0o600)
    os.chmod(path, 0o600)
    return opened


class Region:
    """Reads the resources of one Region."""

    def __init__(self, session, region, pool):
        self.client = lambda service: session.client(service, region_name=region, config=RETRIES)
        self.pool = pool

    def each(self, function, items, id):
        """Calls a function for each item, several at a time, and returns all resources that it yields."""
        lists = self.pool.map(lambda item: permitted(lambda: function(item), id(item)), items)
        return [found for list_ in lists for found in list_]

    def queues(self):
        sqs = self.client("sqs")

        def read(url):
            values = optional(sqs.get_queue_attributes, QueueUrl=url, AttributeNames=["All"]).get("Attributes", {})
            if "QueueArn" not in values:
                return
            arn = values["QueueArn"]
            properties = {"QueueName": arn.rsplit(":", 1)[1]}
            properties |= {key: int(values[key]) for key in NUMBERS if values.get(key)}
            properties |= {key: values[key] == "true" for key in SWITCHES if values.get(key)}
            properties |= {key: values[key] for key in TEXTS if values.get(key)}
            for key in ("RedrivePolicy", "RedriveAllowPolicy"):
                if values.get(key):
                    properties[key] = json.loads(values[key])
            if "maxReceiveCount" in properties.get("RedrivePolicy", {}):
                properties["RedrivePolicy"]["maxReceiveCount"] = int(properties["RedrivePolicy"]["maxReceiveCount"])

            def add_tags():
                tags = optional(sqs.list_queue_tags, QueueUrl=url).get("Tags", {})
                properties["Tags"] = [{"Key": key, "Value": value} for key, value in sorted(tags.items())]
                return ()

            yield from permitted(add_tags, arn + "#tags")
            yield resource("AWS::SQS::Queue", arn, properties)
            if values.get("Policy"):
                policy = {"Queues": [url], "PolicyDocument": json.loads(values["Policy"])}
                yield resource("AWS::SQS::QueuePolicy", arn + "#policy", policy)

        # Without a page size, SQS returns the first 1,000 queues and no token for the others.
        return self.each(read, pages(sqs, "list_queues", "QueueUrls", PaginationConfig={"PageSize": 1000}), str)

    def functions(self):
        """Reads the mappings of queues, and the functions that they invoke or that name a failure queue."""
        client = self.client("lambda")
        mappings = [
            mapping
            for mapping in pages(client, "list_event_source_mappings", "EventSourceMappings")
            if ":sqs:" in mapping.get("EventSourceArn", "")
        ]
        # The ARN of an alias or version has one more part.
        polled = {}
        for mapping in mappings:
            invoked = mapping["FunctionArn"]
            polled.setdefault(":".join(invoked.split(":")[:7]), set()).add(invoked)

        def invoked(function):
            """Returns the settings of the version that all mappings of a function invoke, or else the latest ones."""
            versions = polled.get(function["FunctionArn"], set()) - {function["FunctionArn"]}
            if len(versions) != 1 or len(polled[function["FunctionArn"]]) != 1:
                return function
            return optional(client.get_function_configuration, FunctionName=versions.pop()) or function

        def read_mapping(mapping):
            function = mapping["FunctionArn"]
            id = mapping.get("EventSourceMappingArn")
            if not id:
                id = ":".join([*function.split(":")[:5], "event-source-mapping", mapping["UUID"]])
            properties = {key: mapping.get(key) for key in MAPPING_KEYS}
            properties |= {"EventSourceArn": mapping["EventSourceArn"], "FunctionName": function}
            properties["Enabled"] = mapping.get("State") not in ("Disabled", "Disabling")
            yield resource("AWS::Lambda::EventSourceMapping", id, properties)

        def read_function(function):
            arn, name, function = function["FunctionArn"], function["FunctionName"], invoked(function)
            properties = chosen(function, *FUNCTION_KEYS) | {"FunctionName": name}
            properties["EnvironmentNames"] = sorted(function.get("Environment", {}).get("Variables", {}))
            concurrency = optional(client.get_function_concurrency, FunctionName=arn)
            properties["ReservedConcurrentExecutions"] = concurrency.get("ReservedConcurrentExecutions")
            yield resource("AWS::Lambda::Function", arn, properties)
            for config in pages(client, "list_function_event_invoke_configs", "FunctionEventInvokeConfigs", FunctionName=arn):
                settings = {"FunctionName": arn, "DestinationConfig": config.get("DestinationConfig")}
                yield resource("AWS::Lambda::EventInvokeConfig", arn + "#invocations", settings)
            policy = json.loads(optional(client.get_policy, FunctionName=arn).get("Policy", "{}"))
            for at, statement in enumerate(policy.get("Statement", [])):
                principal = statement.get("Principal")
                principal = principal.get("Service") or principal.get("AWS") if isinstance(principal, dict) else principal
                permission = {"FunctionName": arn, "Action": statement.get("Action"), "Principal": principal}
                yield resource("AWS::Lambda::Permission", f"{arn}#permission{at}", permission)

        def matters(function):
            return function["FunctionArn"] in polled or ":sqs:" in function.get("DeadLetterConfig", {}).get("TargetArn", "")

        functions = [function for function in pages(client, "list_functions", "Functions") if matters(function)]
        read = self.each(read_function, functions, lambda function: function["FunctionArn"])
        return self.each(read_mapping, mappings, lambda mapping: mapping["UUID"]) + read

    def alarms(self):
        def is_of_sqs(alarm):
            metrics = [query.get("MetricStat", {}).get("Metric", {}) for query in alarm.get("Metrics", [])]
            return any(metric.get("Namespace") == "AWS/SQS" for metric in [alarm, *metrics])

        client = self.client("cloudwatch")
        alarms = pages(client, "describe_alarms", "MetricAlarms", AlarmTypes=["MetricAlarm"])
        composites = pages(client, "describe_alarms", "CompositeAlarms", AlarmTypes=["CompositeAlarm"])
        return [
            resource("AWS::CloudWatch::Alarm", alarm["AlarmArn"], chosen(alarm, *ALARM_KEYS))
            for alarm in alarms
            if is_of_sqs(alarm)
        ] + [
            resource("AWS::CloudWatch::CompositeAlarm", alarm["AlarmArn"], chosen(alarm, "AlarmName", "AlarmRule"))
            for alarm in composites
        ]

    def subscriptions(self):
        sns = self.client("sns")

        def read(subscription):
            arn = subscription["SubscriptionArn"]
            values = optional(sns.get_subscription_attributes, SubscriptionArn=arn).get("Attributes", {})
            properties = {key: subscription[key] for key in ("TopicArn", "Protocol", "Endpoint")}
            properties["RawMessageDelivery"] = values.get("RawMessageDelivery") == "true"
            for key in ("FilterPolicy", "RedrivePolicy"):
                properties[key] = json.loads(values.get(key) or "null")
            properties["FilterPolicyScope"] = values.get("FilterPolicyScope")
            yield resource("AWS::SNS::Subscription", arn, properties)

        found = pages(sns, "list_subscriptions", "Subscriptions")
        # The ARN of a subscription that nobody has confirmed is a word.
        return self.each(
            read,
            [one for one in found if one["Protocol"] in ("sqs", "lambda") and one["SubscriptionArn"].startswith("arn:")],
            lambda one: one["SubscriptionArn"],
        )

    def pipes(self):
        client = self.client("pipes")

        def read(listed):
            if ":sqs:" in listed.get("Source", "") + listed.get("Target", ""):
                pipe = optional(client.describe_pipe, Name=listed["Name"])
                if not pipe:
                    return
                properties = chosen(pipe, "Name", "Source", "Enrichment", "Target", "RoleArn", "DesiredState")
                # The parameters of other services contain headers, inputs and environment variables.
                properties["SourceParameters"] = chosen(
                    pipe.get("SourceParameters"), "FilterCriteria", "SqsQueueParameters"
                )
                properties["TargetParameters"] = chosen(
                    pipe.get("TargetParameters"),
                    "LambdaFunctionParameters",
                    "SqsQueueParameters",
                    "StepFunctionStateMachineParameters",
                )
                yield resource("AWS::Pipes::Pipe", pipe["Arn"], properties)

        try:
            return self.each(read, pages(client, "list_pipes", "Pipes"), lambda pipe: pipe["Arn"])
        except botocore.exceptions.EndpointConnectionError as error:
            print(f"this Region may not have pipes: {error}", file=sys.stderr)
            return []

    def rules(self):
        client = self.client("events")

        def read(rule):
            bus = rule.get("EventBusName", "default")
            targets = pages(client, "list_targets_by_rule", "Targets", Rule=rule["Name"], EventBusName=bus)
            # Neither `Input` nor other parameters of targets.
            keys = ("Arn", "Id", "RoleArn", "DeadLetterConfig", "RetryPolicy", "SqsParameters")
            targets = [chosen(target, *keys) for target in targets]
            shown = json.dumps(targets)
            # Rules on states of alarms notify people.
            if ":sqs:" in shown or ":lambda:" in shown or "aws.cloudwatch" in rule.get("EventPattern", ""):
                properties = chosen(rule, "Name", "EventBusName", "State", "ScheduleExpression")
                pattern = rule.get("EventPattern")
                properties |= {"Targets": targets, "EventPattern": json.loads(pattern) if pattern else None}
                yield resource("AWS::Events::Rule", rule["Arn"], properties)

        rules, page = [], {}
        while True:
            page = client.list_event_buses(**chosen(page, "NextToken"))
            for bus in page["EventBuses"]:
                rules += pages(client, "list_rules", "Rules", EventBusName=bus["Name"])
            if not page.get("NextToken"):
                return self.each(read, rules, lambda rule: rule["Arn"])


def roles(region, resources):
    """Reads the roles that the resources use, with their own and their attached policies."""
    iam = region.client("iam")
    used = set()
    for found in resources:
        properties = found.get("Properties", {})
        used |= {properties.get("Role"), properties.get("RoleArn")}
        used |= {target.get("RoleArn") for target in properties.get("Targets", [])}

    # Many roles have the same managed policies.
    @functools.cache
    def document(arn):
        version = iam.get_policy(PolicyArn=arn)["Policy"]["DefaultVersionId"]
        return iam.get_policy_version(PolicyArn=arn, VersionId=version)["PolicyVersion"]["Document"]

    def read(arn):
        name = arn.rsplit("/", 1)[1]
        if not optional(iam.get_role, RoleName=name):
            return []
        policies = []
        for policy in pages(iam, "list_role_policies", "PolicyNames", RoleName=name):
            found = optional(iam.get_role_policy, RoleName=name, PolicyName=policy)
            if found:
                policies.append({"PolicyName": policy, "PolicyDocument": found["PolicyDocument"]})
        for policy in pages(iam, "list_attached_role_policies", "AttachedPolicies", RoleName=name):
            policies.append({"PolicyName": policy["PolicyName"], "PolicyDocument": document(policy["PolicyArn"])})
        return [resource("AWS::IAM::Role", arn, {"RoleName": name, "Policies": policies})]

    wanted = sorted(arn for arn in used if isinstance(arn, str) and arn.startswith("arn:"))
    return region.each(read, wanted, str)


class Partial:
    """Lists that an interrupted run has read, in a file with one line per list."""

    def __init__(self, path):
        self.path, self.known, self.lock = path, {}, threading.Lock()
        if os.path.exists(path):
            with open(path, encoding="utf-8", errors="replace") as file:
                # The last line is incomplete if the disk was full or the process was killed.
                lines = [line for line in file if line.endswith("\n")]
            try:
                self.known = dict(map(json.loads, lines))
                if not all(one.keys() & {"Id", "Unread"} for found in self.known.values() for one in found):
                    raise ValueError
                print(f"continues with {path}; delete it to read everything again", file=sys.stderr)
            except (AttributeError, TypeError, ValueError):
                self.known, lines = {}, []
                print(f"{path} is damaged; everything is read again", file=sys.stderr)
            with open(path, "w", encoding="utf-8", opener=private) as file:
                file.writelines(lines)

    def read(self, key, function):
        if key not in self.known:
            self.known[key] = function()
            with self.lock, open(self.path, "a", encoding="utf-8", opener=private) as file:
                file.write(json.dumps([key, self.known[key]]) + "\n")
        print(f"{key}: {len(self.known[key])}", file=sys.stderr)
        return self.known[key]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--region", action="append", help="may be repeated; the default is the profile's Region")
    parser.add_argument("--profile")
    parser.add_argument("--output", default="snapshot.json")
    arguments = parser.parse_args()
    session = boto3.Session(profile_name=arguments.profile)
    regions = arguments.region or [session.region_name]
    if not all(regions):
        parser.error("name a Region with --region")
    account = session.client("sts", region_name=regions[0], config=RETRIES).get_caller_identity()["Account"]
    partial = Partial(arguments.output + ".partial")
    resources = []
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        for name in regions:
            region = Region(session, name, pool)
            for kind in ("queues", "functions", "alarms", "subscriptions", "pipes", "rules"):
                resources += partial.read(f"{account} {name} {kind}", getattr(region, kind))
        first = Region(session, regions[0], pool)
        found = partial.read(f"{account} {' '.join(regions)} roles", lambda: roles(first, resources))
    time = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    # Each Region needs the roles, which belong to none.
    resources += found
    unread = [one for one in resources if "Unread" in one]
    resources = [one for one in resources if "Unread" not in one]
    with open(arguments.output, "w", encoding="utf-8", opener=private) as file:
        head = {"sqslint_snapshot": 1, "account": account, "regions": regions, "time": time, "unread": unread}
        file.write(json.dumps(head)[:-1] + ', "resources": [\n')
        lines = (json.dumps(one, sort_keys=True) for one in sorted(resources, key=lambda one: one["Id"]))
        file.write(",\n".join(lines) + "\n]}\n")
    os.remove(partial.path)
    skipped = f", {len(unread)} could not be read" if unread else ""
    print(f"{arguments.output}: {len(resources)} resources{skipped}", file=sys.stderr)


if __name__ == "__main__":
    try:
        main()
    except (botocore.exceptions.BotoCoreError, botocore.exceptions.ClientError) as error:
        sys.exit(f"{error}\nStart it again with the same arguments to continue.")
