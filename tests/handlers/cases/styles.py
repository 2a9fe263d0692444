#: operations in a dictionary, logged · deleted
OPERATIONS = {"a": lambda item: ship(item), "b": lambda item: park(item)}
def handler(event, context):
    for record in event["Records"]:
        kind = json.loads(record["body"])["kind"]
        if kind in OPERATIONS:
            try:
                OPERATIONS[kind](record)
            except Exception as error:
                logger.error(error)
        else:
            logger.error("unsupported %s", kind)
    return 0

#: first record by get · unread
def handler(event, context):
    message = event.get("Records")[0].get("body")
    ship(message)
    return message

#: results of a map with a status, failures by a comprehension · partly retried
def one(record):
    try:
        ship(record)
        return {"id": record["messageId"], "ok": True}
    except Exception as error:
        logger.exception("failed")
        return {"id": record["messageId"], "ok": False}
def handler(event, context):
    results = [one(record) for record in event["Records"]]
    return {"batchItemFailures": [{"itemIdentifier": result["id"]} for result in results if not result["ok"]]}

#: results of a map with a status, counted and logged · deleted
def one(record):
    try:
        ship(record)
        return True
    except Exception as error:
        logger.exception("failed")
        return False
def handler(event, context):
    results = [one(record) for record in event["Records"]]
    logger.info("%d of %d", sum(results), len(results))
    return {"statusCode": 200, "body": json.dumps({"processed": sum(results)})}

#: dictionary of counters, raised at the end · retried
def handler(event, context):
    results = {"processed": 0, "failed": 0}
    for record in event.get("Records", []):
        try:
            ship(record)
            results["processed"] += 1
        except Exception as error:
            results["failed"] += 1
            logger.error(json.dumps({"error": str(error)}))
    if results["failed"] > 0:
        raise RuntimeError("some failed")
    return results

#: dictionary of counters, returned · deleted
def handler(event, context):
    results = {"processed": 0, "failed": 0}
    for record in event.get("Records", []):
        try:
            ship(record)
            results["processed"] += 1
        except Exception as error:
            results["failed"] += 1
            logger.error(json.dumps({"error": str(error)}))
    return results

#: thread pool, futures to records, result in a try · partly retried
def handler(event, context):
    failures = []
    with ThreadPoolExecutor(max_workers=5) as pool:
        futures = {pool.submit(ship, record): record for record in event["Records"]}
        for future in as_completed(futures):
            try:
                future.result()
            except Exception:
                failures.append({"itemIdentifier": futures[future]["messageId"]})
    return {"batchItemFailures": failures}

#: thread pool, future.exception is looked at · retried
def handler(event, context):
    with ThreadPoolExecutor(max_workers=5) as pool:
        futures = [pool.submit(ship, record) for record in event["Records"]]
    for future in futures:
        if future.exception() is not None:
            raise future.exception()

#: a task group · retried
async def main(records):
    async with asyncio.TaskGroup() as group:
        for record in records:
            group.create_task(ship_later(record))
def handler(event, context):
    asyncio.run(main(event["Records"]))

#: class handler with a dispatch table · retried
class Consumer:
    def __init__(self):
        self.routes = {"a": self.on_a, "b": self.on_b}
    def on_a(self, record):
        ship(record)
    def on_b(self, record):
        park(record)
    def __call__(self, event, context):
        for record in event["Records"]:
            self.routes[json.loads(record["body"])["kind"]](record)
handler = Consumer()

#: class handler, static method, logged · deleted
class Consumer:
    @classmethod
    def handle(cls, event, context):
        for record in event["Records"]:
            cls.process(record)
        return {"statusCode": 200}
    @staticmethod
    def process(record):
        try:
            ship(record)
        except Exception as error:
            logger.exception(error)
handler = Consumer.handle

#: own error from elsewhere caught outside · deleted
class ProcessingError(Exception):
    pass
def process(record):
    try:
        ship(record)
    except Exception as error:
        raise ProcessingError() from error
def handler(event, context):
    for record in event["Records"]:
        try:
            process(record)
        except ProcessingError as error:
            logger.warning("skipped %s", error)

#: match on the kind · deleted
def handler(event, context):
    for record in event["Records"]:
        body = json.loads(record["body"])
        try:
            match body["kind"]:
                case "a":
                    ship(record)
                case "b":
                    park(record)
                case _:
                    logger.warning("unknown")
        except Exception:
            logger.exception("failed")

#: walrus and continue · partly retried · effect: fails on a malformed body
def handler(event, context):
    failures = []
    for record in event["Records"]:
        if (body := json.loads(record["body"])) is None:
            continue
        try:
            ship(body)
        except Exception:
            failures.append(record["messageId"])
    return {"batchItemFailures": [{"itemIdentifier": one} for one in failures]}

#: wrong key of the failures · deleted
def handler(event, context):
    failures = []
    for record in event["Records"]:
        try:
            ship(record)
        except Exception:
            failures.append({"itemIdentifier": record["messageId"]})
    return {"batch_item_failures": failures}

#: retries inside, then forgotten · deleted
def handler(event, context):
    for record in event["Records"]:
        for attempt in range(3):
            try:
                ship(record)
                break
            except Exception as error:
                logger.warning("attempt %d: %s", attempt, error)

#: a generator of failures · partly retried
def failures_of(records):
    for record in records:
        try:
            ship(record)
        except Exception:
            yield {"itemIdentifier": record["messageId"]}
def handler(event, context):
    return {"batchItemFailures": list(failures_of(event["Records"]))}

#: thread pool, dictionary of futures, logged · deleted
def handler(event, context):
    with ThreadPoolExecutor() as pool:
        futures = {pool.submit(ship, record): record for record in event["Records"]}
        for future in as_completed(futures):
            try:
                future.result()
            except Exception as error:
                logger.error("failed %s", futures[future]["messageId"])

#: sleep after each message · deleted
import time
def handler(event, context):
    for record in event["Records"]:
        try:
            ship(record)
        except Exception as error:
            logger.error(error)
        time.sleep(0.001)
