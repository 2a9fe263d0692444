#: tasks whose results nothing reads · deleted
async def main(event):
    tasks = [asyncio.create_task(ship_later(record["body"])) for record in event["Records"]]
    await asyncio.wait(tasks)

def handler(event, context):
    asyncio.run(main(event))
#: tasks that nothing waits for · deleted
async def main(event):
    for record in event["Records"]:
        asyncio.create_task(ship_later(record["body"]))

def handler(event, context):
    asyncio.run(main(event))
#: tasks whose exceptions are raised · retried
async def main(event):
    tasks = [asyncio.create_task(ship_later(record["body"])) for record in event["Records"]]
    done, pending = await asyncio.wait(tasks)
    errors = [task.exception() for task in done if task.exception()]
    if errors:
        raise errors[0]

def handler(event, context):
    asyncio.run(main(event))
#: group of tasks · retried
async def main(event):
    async with asyncio.TaskGroup() as group:
        for record in event["Records"]:
            group.create_task(ship_later(record["body"]))

def handler(event, context):
    asyncio.run(main(event))
#: threads · deleted
import threading

def handler(event, context):
    threads = []
    for record in event["Records"]:
        thread = threading.Thread(target=ship, args=(record["body"],))
        thread.start()
        threads.append(thread)
    for thread in threads:
        thread.join()
#: threads that collect failures · partly retried
from threading import Thread

def handler(event, context):
    failures = []

    def run(record):
        try:
            ship(record["body"])
        except Exception:
            failures.append({"itemIdentifier": record["messageId"]})

    threads = [Thread(target=run, args=[record]) for record in event["Records"]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {"batchItemFailures": failures}
#: futures as keys · deleted · silent: keys that are objects are not followed
def handler(event, context):
    with ThreadPoolExecutor() as pool:
        futures = {pool.submit(ship, record["body"]): record["messageId"] for record in event["Records"]}
    print(len(futures))
#: method of the result of a request · deleted
def handler(event, context):
    for record in event["Records"]:
        push(record["body"])

def push(body):
    for attempt in range(3):
        try:
            response = ship(body)
            response.raise_for_status()
            return
        except Exception:
            print("again")
#: generator that nothing runs · deleted
def store(records):
    for record in records:
        ship(record["body"])
        yield record["messageId"]

def handler(event, context):
    store(event["Records"])
#: generator as a condition · deleted
def handler(event, context):
    if not (ship(record["body"]) for record in event["Records"]):
        raise ValueError("failed")
#: suppress under another name · deleted
import contextlib as tools

def handler(event, context):
    for record in event["Records"]:
        with tools.suppress(Exception):
            ship(record["body"])
#: answer that is None · partly retried
def handler(event, context):
    failures = []
    for record in event["Records"]:
        try:
            answer = send(record)
            print(answer["id"])
        except Exception:
            failures.append({"itemIdentifier": record["messageId"]})
    return {"batchItemFailures": failures}

def send(record):
    try:
        ship(record["body"])
    except Exception as error:
        print(error)
        return None
    return {"id": record["messageId"]}
#: method of a list that is bound · partly retried
import functools

def handler(event, context):
    failures = []
    for record in event["Records"]:
        fail = functools.partial(failures.append, {"itemIdentifier": record["messageId"]})
        try:
            ship(record["body"])
        except Exception:
            fail()
    return {"batchItemFailures": failures}
#: part of a list that is assigned · partly retried
def handler(event, context):
    failures = []
    for record in event["Records"]:
        try:
            ship(record["body"])
        except Exception:
            failures[len(failures):] = [{"itemIdentifier": record["messageId"]}]
    return {"batchItemFailures": failures}
#: table of functions that swallow · deleted
def quiet(message):
    try:
        ship(message)
    except Exception as error:
        print(error)

def other(message):
    try:
        charge(message)
    except Exception as error:
        print(error)

ACTIONS = {"a": quiet, "b": other}

def handler(event, context):
    for record in event["Records"]:
        message = json.loads(record["body"])
        ACTIONS[message["kind"]](message)
#: event that is recognised · deleted
def handler(event, context):
    if not isinstance(event, dict) or "Records" not in event:
        raise ValueError("no event of a queue")
    for record in event["Records"]:
        try:
            ship(record["body"])
        except Exception as error:
            print(error)
#: dictionary with types · partly retried
from typing import TypedDict

class Response(TypedDict):
    batchItemFailures: list

def handler(event, context):
    failures = []
    for record in event["Records"]:
        try:
            ship(record["body"])
        except Exception:
            failures.append({"itemIdentifier": record["messageId"]})
    return Response(batchItemFailures=failures)
#: subclass of a dictionary · partly retried · silent: the response is an object of a class
class Response(dict):
    pass

def handler(event, context):
    failures = []
    for record in event["Records"]:
        try:
            ship(record["body"])
        except Exception:
            failures.append({"itemIdentifier": record["messageId"]})
    return Response(batchItemFailures=failures)
