"""Compares the quotas and defaults of src/graph/limits.rs with the texts and shapes of botocore, or of a directory of
models that is given as argument. Each difference is printed with both texts, and makes the exit status 1."""

import gzip
import json
import pathlib
import re
import sys

LIMITS = pathlib.Path("src/graph/limits.rs")
QUEUE = "sqs CreateQueueRequest.Attributes"
MAPPING = "lambda CreateEventSourceMappingRequest."
TIMEOUT = "lambda CreateFunctionRequest.Timeout"
POLLERS = "lambda ProvisionedPollerConfig."
BATCHES = "Amazon Simple Queue Service – Default {}. For standard queues the max is {}. For FIFO queues the max is {}."

# Constants, where AWS documents them, and the sentence: each `{}` is the number of one constant. `…` is any text. Without
# a sentence, the numbers are the minimum and the maximum of the shape.
DOCUMENTED = [
    ("VISIBILITY_TIMEOUT.least VISIBILITY_TIMEOUT.most VISIBILITY_TIMEOUT_DEFAULT", QUEUE,
     "VisibilityTimeout – The visibility timeout for the queue, in seconds. Valid values: An integer from {} to {} (12 hours). Default: {}."),
    ("VISIBILITY_TIMEOUT.least VISIBILITY_TIMEOUT.most", "sqs ChangeMessageVisibilityRequest.VisibilityTimeout",
     "Values range: {} to {}."),
    ("RETENTION.least RETENTION.most RETENTION_DEFAULT", QUEUE,
     "MessageRetentionPeriod – … An integer from {} seconds (1 minute) to {} seconds (14 days). Default: {} (4 days)."),
    ("DELAY.least DELAY.most", QUEUE, "DelaySeconds – … An integer from {} to {} seconds (15 minutes)."),
    ("DELAY.least DELAY.most", "sqs SendMessageRequest.DelaySeconds", "Valid values: {} to {}."),
    ("RECEIVE_WAIT_TIME.least RECEIVE_WAIT_TIME.most", QUEUE,
     "ReceiveMessageWaitTimeSeconds – … An integer from {} to {} (seconds)."),
    ("MAXIMUM_MESSAGE_SIZE.least MAXIMUM_MESSAGE_SIZE.most MAXIMUM_MESSAGE_SIZE_DEFAULT", QUEUE,
     "MaximumMessageSize – … An integer from {} bytes (1 KiB) to {} bytes (1 MiB). Default: {} bytes"),
    ("KEY_REUSE_PERIOD.least KEY_REUSE_PERIOD.most KEY_REUSE_PERIOD_DEFAULT", QUEUE,
     "KmsDataKeyReusePeriodSeconds – … between {} seconds (1 minute) and {} seconds (24 hours). Default: {} (5 minutes)."),
    ("ALLOWED_SOURCES.most", QUEUE, "You can specify up to {} source queue ARNs."),
    ("QUEUE_NAME_LENGTH", "sqs CreateQueueRequest.QueueName", "A queue name can have up to {} characters."),
    ("FUNCTION_TIMEOUT_DEFAULT FUNCTION_TIMEOUT.most FUNCTION_TIMEOUT_MANAGED_INSTANCES.most", TIMEOUT,
     "The default is {} seconds, and the maximum allowed value is {} seconds. For functions using Lambda Managed Instances, … support a maximum allowed value of {} seconds"),
    ("FUNCTION_TIMEOUT_MANAGED_INSTANCES.least FUNCTION_TIMEOUT_MANAGED_INSTANCES.most", TIMEOUT, None),
    ("FUNCTION_TIMEOUT.least -", TIMEOUT, None),
    ("MEMORY_DEFAULT", "lambda CreateFunctionRequest.MemorySize", "The default value is {} MB."),
    ("BATCH_SIZE.least BATCH_SIZE.most", MAPPING + "BatchSize", None),
    ("BATCH_SIZE_DEFAULT BATCH_SIZE.most BATCH_SIZE_FIFO", MAPPING + "BatchSize", BATCHES),
    ("BATCH_SIZE.least BATCH_SIZE.most", "pipes PipeSourceSqsQueueParameters.BatchSize", None),
    ("WINDOW.least WINDOW.most WINDOW_DEFAULT BATCH_SIZE_WITHOUT_WINDOW", MAPPING + "MaximumBatchingWindowInSeconds",
     "any value from {} seconds to {} seconds … Amazon SQS event sources, the default batching window is {} seconds. … to a value greater than {}, you must set"),
    ("WINDOW.least WINDOW.most", MAPPING + "MaximumBatchingWindowInSeconds", None),
    ("WINDOW.least WINDOW.most", "pipes PipeSourceSqsQueueParameters.MaximumBatchingWindowInSeconds", None),
    ("PATTERN_LENGTH", "lambda Filter.Pattern", None),
    ("MAXIMUM_CONCURRENCY.least -", "lambda ScalingConfig.MaximumConcurrency", None),
    ("MINIMUM_POLLERS.least", POLLERS + "MinimumPollers", "For Amazon SQS events source mappings, default is 2, and minimum {} required."),
    ("- MINIMUM_POLLERS.most", POLLERS + "MinimumPollers", None),
    ("MAXIMUM_POLLERS.least MAXIMUM_POLLERS.most", POLLERS + "MaximumPollers",
     "For Amazon SQS event source mappings, the accepted range is between {} and {},"),
    ("- EVENT_AGE_DEFAULT", "events RetryPolicy.MaximumEventAgeInSeconds", None),
]  # fmt: skip

# Constants that only guides, recordings or the source code of Terraform's provider document.
ELSEWHERE = {
    *("MAX_RECEIVE_COUNT.least", "MAX_RECEIVE_COUNT.most", "ALLOWED_SOURCES.least", "MAXIMUM_CONCURRENCY.most"),
    *("FILTERS.least", "FILTERS.most", "FILTERS_AT_FIRST", "MAXIMUM_MESSAGE_SIZE_TERRAFORM"),
    *("STOP_TIMEOUT_DEFAULT", "STOP_TIMEOUT_FARGATE", "IN_FLIGHT", "LEAST_FAILURES", "FIRST_CONCURRENT_BATCHES"),
    *("MOST_CONCURRENT_BATCHES",),
    *("POLICY_BYTES", "POLICY_STATEMENTS", "STATEMENT_ACTIONS", "STATEMENT_PRINCIPALS", "STATEMENT_CONDITIONS"),
    *("POLLER_CONCURRENCY", "ADVISED_FUNCTION_TIMEOUTS", "ADVISED_RECEIVES", "LEAST_RECEIVES"),
}


def ours():
    """Returns the number and the line of each constant."""
    found, quota = {}, ""
    for at, line in enumerate(LIMITS.read_text().splitlines(), 1):
        quota = (re.match(r"pub static (\w+): Quota", line) or ["", quota])[1]
        bound = re.match(r" +(least|most): ([\d_]+|i64::MAX),", line)
        constant = re.match(r"pub const (\w+): \w+ = (?:Seconds\()?([\d_]+)\)?;", line)
        if bound or constant:
            name = f"{quota}.{bound[1]}" if bound else constant[1]
            found[name] = ((bound or constant)[2].replace("_", ""), f"{LIMITS}:{at}: {name}: {line.strip()}")
    return found


def models(directory):
    """Returns a function that loads the newest model of a service."""
    loaded = {}

    def model(service):
        if service not in loaded:
            path = max(pathlib.Path(directory, service).glob("*/service-2.json*"))
            text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
            loaded[service] = json.loads(text)["shapes"]
        return loaded[service]

    return model


def documented(model, place, sentence):
    """Returns the numbers at `place` and the text that states them."""
    service, path = place.split(" ")
    shape, member = path.split(".")
    own = model(service)[shape]["members"][member]
    if sentence is None:
        shape = model(service)[own["shape"]]
        return [str(shape.get("min")), str(shape.get("max"))], json.dumps({"min": shape.get("min"), "max": shape.get("max")})
    text = " ".join(re.sub(r"<[^>]*>", "", own["documentation"]).split())
    pattern = re.escape(sentence).replace(r"\{\}", r"([\d,]*\d)").replace(re.escape("…"), ".*?").replace("…", ".*?")
    match = re.search(pattern, text)
    return [number.replace(",", "") for number in match.groups()] if match else None, match[0] if match else text


def main():
    if len(sys.argv) > 1:
        directory, version = sys.argv[1], sys.argv[1]
    else:
        import botocore

        directory, version = pathlib.Path(botocore.__file__).parent / "data", f"botocore {botocore.__version__}"
    model, limits, compared, faults = models(directory), ours(), set(), []
    for names, place, sentence in DOCUMENTED:
        names = names.split(" ")
        try:
            numbers, text = documented(model, place, sentence)
        except (KeyError, ValueError, OSError) as error:
            numbers, text = None, f"the model cannot be read: {error!r}"
        if sentence is None and len(names) == 1:
            names = ["-", *names]
        own = [limits.get(name, ("", f"{LIMITS}: there is no {name}")) for name in names if name != "-"]
        compared.update(name for name in names if name != "-")
        if numbers is None:
            faults.append([*(line for _, line in own), f"{place}: not the expected text any more: {text}"])
            continue
        theirs = [number for number, name in zip(numbers, names) if name != "-"]
        different = [line for (number, line), other in zip(own, theirs) if number != other]
        if different:
            faults.append([*different, f"{place}: {text}"])
    for name in sorted(limits.keys() - compared - ELSEWHERE):
        faults.append([limits[name][1], "nothing to compare with: add it to DOCUMENTED or ELSEWHERE in .ci/quotas.py"])
    for name in sorted(ELSEWHERE - limits.keys()):
        faults.append([f"{LIMITS}: there is no {name}", "remove it from ELSEWHERE in .ci/quotas.py"])
    for fault in faults:
        print("\n  ".join(fault))
    print(f"{version}: {len(compared)} quotas and defaults compared, differences: {len(faults)}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
