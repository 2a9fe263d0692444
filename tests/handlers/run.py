"""Runs handlers on a batch of three messages of which the second fails, and prints the outcome of each.

Usage: run.py FILE...; prints a line with the path, the outcome and further effects for each file. Effects are
`rest unnamed` if the response omits a third message that was not processed, and `rest skipped` if that happens when the
second message does not fail but is of another kind.
"""

import asyncio
import contextlib
import io
import json
import logging
import os
import sys
import types

logging.disable(logging.CRITICAL)
seen = set()
requests = []
os.environ.update(OWN="own", OTHER="other")
failing = "m2"


class Failed(Exception):
    pass


def work(*given, **named):
    text = repr(given) + repr(named)
    seen.update(one for one in ("m1", "m2", "m3") if one in text)
    if failing in text:
        raise Failed("m2")


async def work_later(*given, **named):
    await asyncio.sleep(0)
    work(*given, **named)


class Record(dict):
    body = property(lambda self: self["body"])
    message_id = property(lambda self: self["messageId"])


class Processor:
    def __init__(self, *given, **named):
        self.failed = []

    def __call__(self, records, handler):
        self.records, self.handler = records, handler
        return self

    def __enter__(self):
        self.failed = []
        return self

    def __exit__(self, *given):
        return False

    def process(self):
        for record in self.records:
            try:
                self.handler(Record(record))
            except Exception:
                self.failed.append({"itemIdentifier": record["messageId"]})

    def response(self):
        return {"batchItemFailures": self.failed}


def process_partial_response(event, record_handler, processor, context):
    with processor(event["Records"], record_handler):
        processor.process()
    return processor.response()


def batch_processor(record_handler, processor):
    def wrap(handler):
        def inner(event, context):
            with processor(event["Records"], record_handler):
                processor.process()
            return handler(event, context)

        return inner

    return wrap


class Queue:
    def delete_message(self, **named):
        pass


class Client:
    """Records the requests to a service."""

    def __init__(self, service=None, url=None):
        self.url = url

    def Queue(self, url):
        return Client(url=url)

    def Table(self, name):
        return Client()

    def get_queue_by_name(self, QueueName):
        return Client(url=QueueName)

    def __getattr__(self, name):
        def request(**named):
            requests.append((name, {"QueueUrl": self.url, **named}))
            work(name, **named)
            return {}

        return request


class Records(list):
    """Notes that the handler reads them."""

    is_read = False

    def __iter__(self):
        self.is_read = True
        return super().__iter__()

    def __getitem__(self, at):
        self.is_read = True
        return super().__getitem__(at)


def module(name, **members):
    made = types.ModuleType(name)
    vars(made).update(members)
    sys.modules[name] = made


def nothing(*given, **named):
    return {}


module(
    "elsewhere",
    ship=work,
    charge=work,
    delete_from_queue=nothing,
    ship_later=work_later,
    park=nothing,
    tell=nothing,
    is_fatal=lambda error: True,
    summarize=nothing,
    grouped=lambda records: [[record] for record in records],
    watched=lambda function: function,
    instrument=lambda function: function,
    queue=Queue(),
)
powertools = {
    "BatchProcessor": Processor,
    "EventType": types.SimpleNamespace(SQS="SQS"),
    "batch_processor": batch_processor,
    "process_partial_response": process_partial_response,
}
module("boto3", client=Client, resource=Client)
module("aws_lambda_powertools")
module("aws_lambda_powertools.utilities")
module("aws_lambda_powertools.utilities.batch", **powertools)


def run(path, fails="m2", body='{"id": "m2", "kind": "a"}'):
    """Returns what a handler returns for a batch; the work on the message `fails` raises an exception."""
    global failing
    failing = fails
    seen.clear()
    requests.clear()
    bodies = {"m1": '{"id": "m1", "kind": "a"}', "m2": body, "m3": '{"id": "m3", "kind": "a"}'}
    records = Records(
        {"messageId": one, "receiptHandle": one, "eventSource": "aws:sqs", "body": bodies[one]} for one in bodies
    )
    scope = {"__name__": "app"}
    with open(path, encoding="utf-8") as file:
        exec(compile(file.read(), path, "exec"), scope)
    result = scope["handler"]({"Records": records}, None)
    # Lambda fails the invocation if it cannot convert the response.
    json.dumps(result)
    requests.extend([("read", {})] if records.is_read else [])
    return result


def effects(path):
    """Returns the effects of requests, and those on a third message that the second should not prevent."""
    with contextlib.suppress(BaseException):
        run(path, fails="none")
    found = []
    own = {name for name, given in requests if given.get("QueueUrl") == "own"}
    if any(name.startswith("send_message") for name in own):
        found.append("feeds own queue")
    if any(name.startswith("receive_message") for name in own) and ("read", {}) not in requests:
        found.append("polls own queue")
    if any(name == "submit_job" or name == "start_execution" and "name" not in given for name, given in requests):
        found.append("starts again")
    skip = '{"id": "m2", "kind": "skip"}'
    for given in ({}, {"fails": "none", "body": skip}):
        with contextlib.suppress(BaseException):
            run(path, fails="none")
            is_processed = "m3" in seen
            response = run(path, **given)
            failures = repr(response.get("batchItemFailures") if isinstance(response, dict) else None)
            name = "rest unnamed" if not given and "m2" in failures else "rest skipped"
            if is_processed and "m3" not in seen and "m3" not in failures and name not in found:
                found.append(name)
    if outcome(path) == "partly retried":
        try:
            run(path, fails="none", body="{")
        except BaseException:
            found.append("fails on a malformed body")
    return ", ".join(found)


def outcome(path):
    """Returns what happens to the second message."""
    try:
        result = run(path)
    except BaseException:
        return "retried"
    if isinstance(result, str) and "batchItemFailures" in result:
        return "batch retried"
    failures = result.get("batchItemFailures") if isinstance(result, dict) else None
    if any(not isinstance(one, dict) or "itemIdentifier" not in one for one in failures or []):
        return "batch retried"
    if any(one["itemIdentifier"] == "m2" for one in failures or []):
        return "partly retried"
    return "unread" if len(seen) == 1 else "deleted"


for path in sys.argv[1:]:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        found = outcome(path), effects(path)
    print(path, *found, sep="\t")
