"""Deploys a template to moto's server, on loopback, and takes snapshots of it.

usage: deployed.py SCRIPT TEMPLATE FOLDER [COPIES]

Writes FOLDER/before.json; FOLDER/after.json, which was taken after the visibility timeout of `orders` was set to 60; and
FOLDER/denied.json, for which a dead-letter queue, the tags of another queue and a role must not be read, with a damaged
FOLDER/denied.json.partial. With COPIES, it deploys that many further queues and half as many functions with mappings first.
"""

import concurrent.futures
import io
import json
import logging
import os
import resource
import subprocess
import sys
import time
import zipfile

os.environ.update(AWS_ACCESS_KEY_ID="none", AWS_SECRET_ACCESS_KEY="none", AWS_DEFAULT_REGION="eu-west-1", AWS_CONFIG_FILE="/dev/null")

import boto3  # noqa: E402
import moto.iam.responses  # noqa: E402
import moto.sqs.responses  # noqa: E402
from moto.server import ThreadedMotoServer  # noqa: E402

logging.getLogger("werkzeug").setLevel(logging.ERROR)


def role():
    iam = boto3.client("iam")
    made = iam.create_role(RoleName="fulfil", AssumeRolePolicyDocument="{}")["Role"]["Arn"]
    actions = ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"]
    document = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": actions, "Resource": "*"}]}
    iam.put_role_policy(RoleName="fulfil", PolicyName="orders", PolicyDocument=json.dumps(document))
    return made


def code():
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("app.py", "def handler(event, context): pass")
    return archive.getvalue()


def add_copies(count, role):
    sqs, functions, zipped = boto3.client("sqs"), boto3.client("lambda"), code()

    def add(at):
        settings = {"Runtime": "python3.13", "Handler": "app.handler", "Role": role, "Code": {"ZipFile": zipped}}
        functions.create_function(FunctionName=f"copy-{at}", Environment={"Variables": {"TOKEN": "hush"}}, **settings)
        source = f"arn:aws:sqs:eu-west-1:123456789012:copy-{at}"
        functions.create_event_source_mapping(EventSourceArn=source, FunctionName=f"copy-{at}")

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda at: sqs.create_queue(QueueName=f"copy-{at}"), range(count)))
        # moto must not create queues while it looks for the one of a mapping.
        list(pool.map(add, range(1, count, 2)))


def deny(responses, operation, word, body):
    """Lets an operation of moto fail as if a policy forbade it, for requests that contain a word."""
    permitted = getattr(responses, operation)

    def answer(self):
        return (403, {"status": 403}, body) if word in str(self.body) else permitted(self)

    setattr(responses, operation, answer)


def main(script, template, folder, copies="0"):
    server = ThreadedMotoServer(port=0)
    server.start()
    os.environ["AWS_ENDPOINT_URL"] = "http://%s:%s" % server.get_host_and_port()
    try:
        made = role()
        s3 = boto3.client("s3")
        s3.create_bucket(Bucket="code", CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
        s3.put_object(Bucket="code", Key="fulfil.zip", Body=code())
        with open(template, encoding="utf-8") as file:
            boto3.client("cloudformation").create_stack(StackName="shop", TemplateBody=file.read())
        # moto's CloudFormation makes no alarms.
        boto3.client("cloudwatch").put_metric_alarm(
            AlarmName="orders-dead",
            Namespace="AWS/SQS",
            MetricName="ApproximateNumberOfMessagesVisible",
            Dimensions=[{"Name": "QueueName", "Value": "orders-dlq"}],
            Statistic="Maximum",
            Period=300,
            EvaluationPeriods=1,
            ComparisonOperator="GreaterThanOrEqualToThreshold",
            Threshold=1,
        )
        add_copies(int(copies), made)
        run = [sys.executable, script, "--output"]
        started = time.monotonic()
        subprocess.run([*run, os.path.join(folder, "before.json")], check=True)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(f"{time.monotonic() - started:.1f} s, {used.ru_utime + used.ru_stime:.1f} s of processor time, {used.ru_maxrss // 1024} MB")
        url = boto3.client("sqs").get_queue_url(QueueName="orders")["QueueUrl"]
        boto3.client("sqs").set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": "60"})
        subprocess.run([*run, os.path.join(folder, "after.json")], check=True)
        sqs = moto.sqs.responses.SQSResponse
        body = json.dumps({"__type": "com.amazonaws.sqs#AccessDenied", "message": "no policy permits it"})
        deny(sqs, "get_queue_attributes", "/orders-dlq", body)
        deny(sqs, "list_queue_tags", '/orders"', body)
        body = "<ErrorResponse><Error><Code>AccessDenied</Code><Message>no policy permits it</Message></Error></ErrorResponse>"
        deny(moto.iam.responses.IamResponse, "get_role", "", body)
        denied = os.path.join(folder, "denied.json")
        with open(denied + ".partial", "w", encoding="utf-8") as file:
            file.write("garbage\n")
        subprocess.run([*run, denied], check=True)
    finally:
        server.stop()


main(*sys.argv[1:])
