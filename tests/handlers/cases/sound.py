"""Constructs that decide whether a failure is retried."""

#: chained comparison of a status · retried
def attempt(record):
    try:
        ship(record)
        return 200
    except Exception:
        return 500

def handler(event, context):
    for record in event["Records"]:
        if not 200 <= attempt(record) < 300:
            raise RuntimeError("failed")

#: isinstance of classes of the file · retried
class Done:
    pass

class Failed:
    pass

def attempt(record):
    try:
        ship(record)
        return Done()
    except Exception:
        return Failed()

def handler(event, context):
    for record in event["Records"]:
        if isinstance(attempt(record), (Failed, ValueError)):
            raise RuntimeError("failed")

#: match on classes of the file · retried
class Done:
    pass

class Failed:
    pass

def attempt(record):
    try:
        ship(record)
        return Done()
    except Exception:
        return Failed()

def handler(event, context):
    for record in event["Records"]:
        match attempt(record):
            case Failed():
                raise RuntimeError("failed")
            case _:
                continue

#: remainder and division of a counter · retried
def handler(event, context):
    failed = 0
    for record in event["Records"]:
        try:
            ship(record)
        except Exception:
            failed += 3
    if failed % 2 == 1 and failed // 2 == 1:
        raise RuntimeError("failed")

#: keyword of a data class · retried
from dataclasses import dataclass, field

@dataclass
class Options:
    attempts: int
    reraise: bool = False
    seen: list = field(default_factory=list)

OPTIONS = Options(3, reraise=True)

def handler(event, context):
    for record in event["Records"]:
        try:
            ship(record)
        except Exception as error:
            OPTIONS.seen.append(error)
            if OPTIONS.reraise:
                raise

#: default of a data class · deleted
from dataclasses import dataclass

@dataclass(frozen=True)
class Options:
    attempts: int
    reraise: bool = False

OPTIONS = Options(attempts=3)

def handler(event, context):
    for record in event["Records"]:
        try:
            ship(record)
        except Exception as error:
            print(error)
            if OPTIONS.reraise:
                raise

#: position in a named tuple · retried
from typing import NamedTuple

class Policy(NamedTuple):
    name: str
    swallow: bool = True

POLICY = Policy("orders", False)

def handler(event, context):
    for record in event["Records"]:
        try:
            ship(record)
        except Exception:
            if not POLICY.swallow:
                raise

#: constructor of a base class · retried
class Base:
    def __init__(self, strict):
        self.strict = strict

class Worker(Base):
    def __init__(self):
        super().__init__(strict=True)

    def run(self, record):
        try:
            ship(record)
        except Exception:
            if self.strict:
                raise

def handler(event, context):
    worker = Worker()
    for record in event["Records"]:
        worker.run(record)

#: method of a base class that swallows · deleted
class Base:
    def run(self, record):
        try:
            ship(record)
        except Exception as error:
            print(error)

class Worker(Base):
    def run(self, record):
        print("start")
        super().run(record)

def handler(event, context):
    worker = Worker()
    for record in event["Records"]:
        worker.run(record)

#: property decides · retried
class Tracker:
    def __init__(self):
        self.failed = []

    @property
    def ok(self):
        return not self.failed

def handler(event, context):
    tracker = Tracker()
    for record in event["Records"]:
        try:
            ship(record)
        except Exception:
            tracker.failed.append(record)
    if not tracker.ok:
        raise RuntimeError("failed")

#: setter sets another field · retried
class Tracker:
    def __init__(self):
        self.failed = 0

    @property
    def state(self):
        return self.failed

    @state.setter
    def state(self, value):
        self.failed = value

def handler(event, context):
    tracker = Tracker()
    for record in event["Records"]:
        try:
            ship(record)
        except Exception:
            tracker.state = 1
    if tracker.failed:
        raise RuntimeError("failed")

#: truth of an object · retried
class Failures:
    def __init__(self):
        self.items = []

    def __len__(self):
        return len(self.items)

def handler(event, context):
    failures = Failures()
    for record in event["Records"]:
        try:
            ship(record)
        except Exception:
            failures.items.append(record)
    if failures:
        raise RuntimeError("failed")

#: options with two stars · retried
def process(record, *, strict=False):
    try:
        ship(record)
    except Exception:
        if strict:
            raise

OPTIONS = {"strict": True}

def handler(event, context):
    for record in event["Records"]:
        process(record, **OPTIONS)

#: partial with a keyword · retried
from functools import partial

def process(record, strict=False):
    try:
        ship(record)
    except Exception:
        if strict:
            raise

run = partial(process, strict=True)

def handler(event, context):
    for record in event["Records"]:
        run(record)

#: wrapper with an argument · retried
def guarded(reraise):
    def wrap(function):
        def inner(*args, **kwargs):
            try:
                return function(*args, **kwargs)
            except Exception:
                if reraise:
                    raise
        return inner
    return wrap

@guarded(reraise=True)
def process(record):
    ship(record)

def handler(event, context):
    for record in event["Records"]:
        process(record)

#: map outside of its try · retried
def handler(event, context):
    results = []
    try:
        results = map(ship, event["Records"])
    except Exception:
        print("failed")
    for result in results:
        print(result)

#: generator outside of its try · retried
def handler(event, context):
    results = ()
    try:
        results = (ship(record) for record in event["Records"])
    except Exception:
        print("failed")
    print(list(results))

#: generator that swallows · deleted
def shipped(records):
    for record in records:
        try:
            yield ship(record)
        except Exception as error:
            print(error)

def handler(event, context):
    for result in shipped(event["Records"]):
        print(result)

#: context manager of a generator that swallows · deleted
from contextlib import contextmanager

@contextmanager
def guarded(record):
    try:
        yield record
    except Exception as error:
        print(error)

def handler(event, context):
    for record in event["Records"]:
        with guarded(record) as guard:
            ship(guard)

#: context manager of a generator that raises · retried
from contextlib import contextmanager

@contextmanager
def guarded(record):
    try:
        yield record
    except Exception as error:
        raise RuntimeError("failed") from error

def handler(event, context):
    for record in event["Records"]:
        with guarded(record):
            ship(record)

#: exit of a context manager raises after success · retried
class Batch:
    def __init__(self):
        self.errors = []

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if self.errors:
            raise RuntimeError("failed")
        return False

def handler(event, context):
    with Batch() as batch:
        for record in event["Records"]:
            try:
                ship(record)
            except Exception as error:
                batch.errors.append(error)

#: list is cleared · deleted
def handler(event, context):
    errors = []
    for record in event["Records"]:
        try:
            ship(record)
        except Exception as error:
            errors.append(error)
    print(errors)
    errors.clear()
    if errors:
        raise errors[0]

#: attribute by its name · retried
class Tracker:
    failed = 0

    def fail(self):
        setattr(self, "failed", 1)

def handler(event, context):
    tracker = Tracker()
    for record in event["Records"]:
        try:
            ship(record)
        except Exception:
            tracker.fail()
    if tracker.failed:
        raise RuntimeError("failed")

#: attribute of the class · retried
class Tracker:
    errors = []
    failed = False

    @classmethod
    def fail(cls, error):
        cls.errors.append(error)
        cls.failed = True

def handler(event, context):
    for record in event["Records"]:
        try:
            ship(record)
        except Exception as error:
            Tracker.fail(error)
    if Tracker.failed and Tracker().errors:
        raise RuntimeError("failed")

#: entry of the fields · retried
class Tracker:
    failed = 0

    def fail(self):
        self.__dict__["failed"] = 1

def handler(event, context):
    tracker = Tracker()
    for record in event["Records"]:
        try:
            ship(record)
        except Exception:
            tracker.fail()
    if tracker.failed:
        raise RuntimeError("failed")

#: range that counts down · retried
def handler(event, context):
    for record in event["Records"]:
        for left in range(2, -1, -1):
            try:
                ship(record)
                break
            except Exception:
                if left == 0:
                    raise

#: partial of its module, with options · retried
import functools

def process(record, **options):
    try:
        ship(record)
    except Exception:
        if options.get("strict"):
            raise

run = functools.partial(process, strict=True)

def handler(event, context):
    for record in event["Records"]:
        run(record)

#: result of a class decides · retried
from dataclasses import dataclass

@dataclass
class Result:
    success: bool
    error: Exception = None

def attempt(record):
    try:
        ship(record)
        return Result(True)
    except Exception as error:
        return Result(success=False, error=error)

def handler(event, context):
    failed = [result for result in map(attempt, event["Records"]) if not result.success]
    if failed:
        raise failed[0].error

#: decorator that is a class · deleted
class Guarded:
    def __init__(self, function):
        self.function = function

    def __call__(self, *args):
        try:
            return self.function(*args)
        except Exception as error:
            print(error)

@Guarded
def process(record):
    ship(record)

def handler(event, context):
    for record in event["Records"]:
        process(record)

#: key of ReceiveMessage · retried · silent: unknown key
def handler(event, context):
    for record in event["Records"]:
        ship(record["Body"])

#: key of ReceiveMessage in a catch · retried · silent: unknown key
def handler(event, context):
    failures = []
    for record in event["Records"]:
        try:
            ship(record)
        except Exception:
            failures.append({"itemIdentifier": record["MessageId"]})
    return {"batchItemFailures": failures}

#: lookup of a key of ReceiveMessage · deleted · silent: unknown key
def handler(event, context):
    for record in event["Records"]:
        if record.get("Body"):
            ship(record)

#: either key · deleted
def handler(event, context):
    for record in event["Records"]:
        try:
            ship(record.get("Body") or record["body"])
        except Exception:
            print("not shipped")

#: either key by its existence · deleted
def handler(event, context):
    for record in event["Records"]:
        try:
            ship(record["Body"] if "Body" in record else record["body"])
        except Exception:
            print("not shipped")

#: either key by its exception · deleted
def handler(event, context):
    for record in event["Records"]:
        try:
            body = record["Body"]
        except KeyError:
            body = record["body"]
        try:
            ship(body)
        except Exception:
            print("not shipped")

#: records of S3 in a test event · retried
def handler(event, context):
    for record in event["Records"]:
        for upload in json.loads(record["body"])["Records"]:
            ship(upload)

#: default for the records of S3 · deleted
def handler(event, context):
    for record in event["Records"]:
        for upload in json.loads(record["body"]).get("Records", []):
            try:
                ship(upload)
            except Exception:
                print("not shipped")
