"""Runs lists of operations against moto's SQS server, on loopback, with a simulated clock that only the lists advance.

Reads a JSON list of runs from standard input; each has `queue` (its attributes), optionally `dead_letter` (the maximum
receive count), and `steps`. Writes the result of every step of each run: for a receive, the messages with their receive
counts; for other steps, "ok" or the error code.
"""

import json
import logging
import os
import sys

os.environ.update(AWS_ACCESS_KEY_ID="none", AWS_SECRET_ACCESS_KEY="none", AWS_DEFAULT_REGION="us-east-1", AWS_CONFIG_FILE="/dev/null")

import boto3  # noqa: E402
import moto.sqs.models as models  # noqa: E402
from botocore.exceptions import ClientError  # noqa: E402
from moto.server import ThreadedMotoServer  # noqa: E402

# A day in 2024, before all times that moto reads from the real clock.
clock = 1_704_067_200_000


def milliseconds(*_):
    return clock


models.unix_time_millis = milliseconds
models.unix_time = lambda *_: clock / 1000
logging.getLogger("werkzeug").setLevel(logging.ERROR)


def play(sqs, number, run):
    global clock
    fifo = run["queue"].get("FifoQueue") == "true"
    name = f"queue-{number}" + (".fifo" if fifo else "")
    attributes = dict(run["queue"])
    aside = None
    if run.get("dead_letter"):
        kind = {"FifoQueue": "true"} if fifo else {}
        aside = sqs.create_queue(QueueName="aside-" + name, Attributes=kind)["QueueUrl"]
        arn = sqs.get_queue_attributes(QueueUrl=aside, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
        policy = {"deadLetterTargetArn": arn, "maxReceiveCount": run["dead_letter"]}
        attributes["RedrivePolicy"] = json.dumps(policy)
    url = sqs.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"]
    handles, sent, answers = {}, 0, []

    def receive(of, most):
        found = sqs.receive_message(
            QueueUrl=of, MaxNumberOfMessages=most, MessageSystemAttributeNames=["ApproximateReceiveCount"]
        )
        received = []
        for message in found.get("Messages", []):
            count = int(message["Attributes"]["ApproximateReceiveCount"])
            body = int(message["Body"])
            handles[(body, count)] = message["ReceiptHandle"]
            received.append([body, count])
        return sorted(received)

    for step in run["steps"]:
        clock += step.get("after", 0)
        kind = step["do"]
        try:
            if kind == "send":
                extra = {}
                if fifo:
                    extra = {"MessageGroupId": str(step["group"]), "MessageDeduplicationId": str(sent)}
                sqs.send_message(QueueUrl=url, MessageBody=str(sent), **extra)
                sent += 1
                answers.append("ok")
            elif kind == "receive":
                answers.append(receive(url, step["most"]))
            elif kind == "aside":
                answers.append(receive(aside, 10))
            elif kind == "delete":
                sqs.delete_message(QueueUrl=url, ReceiptHandle=handles[tuple(step["receipt"])])
                answers.append("ok")
            elif kind == "change":
                handle = handles[tuple(step["receipt"])]
                sqs.change_message_visibility(QueueUrl=url, ReceiptHandle=handle, VisibilityTimeout=step["timeout"])
                answers.append("ok")
        except ClientError as error:
            answers.append(error.response["Error"]["Code"])
    return answers


server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
try:
    host, port = server.get_host_and_port()
    client = boto3.client("sqs", endpoint_url=f"http://{host}:{port}")
    json.dump([play(client, number, run) for number, run in enumerate(json.load(sys.stdin))], sys.stdout)
finally:
    server.stop()
