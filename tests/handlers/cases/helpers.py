#: helper raises · retried
def handler(event, context):
    for record in event["Records"]:
        process(record)
def process(record):
    ship(record)

#: helper catches · deleted
def handler(event, context):
    for record in event["Records"]:
        process(record)
def process(record):
    try:
        ship(record)
    except Exception as error:
        print(error)

#: helper returns false, checked · retried
def handler(event, context):
    for record in event["Records"]:
        if not process(record):
            raise RuntimeError("failed")
def process(record):
    try:
        ship(record)
        return True
    except Exception:
        return False

#: helper returns false, not checked · deleted
def handler(event, context):
    for record in event["Records"]:
        process(record)
def process(record):
    try:
        ship(record)
        return True
    except Exception:
        return False

#: helper that raises in the catch · retried
def handler(event, context):
    for record in event["Records"]:
        try:
            ship(record)
        except Exception as error:
            fail(error)
def fail(error):
    raise RuntimeError("failed") from error

#: helper in the catch that only logs · deleted
def handler(event, context):
    for record in event["Records"]:
        try:
            ship(record)
        except Exception as error:
            report(error)
def report(error):
    logger.error("failed: %s", error)

#: helper returns the error · retried
def handler(event, context):
    for record in event["Records"]:
        error = process(record)
        if error:
            raise error
def process(record):
    try:
        ship(record)
    except Exception as error:
        return error
    return None

#: decorator of the file that catches · deleted · unstated: rest skipped
import functools
def safe(function):
    @functools.wraps(function)
    def inner(event, context):
        try:
            return function(event, context)
        except Exception as error:
            print(error)
    return inner
@safe
def handler(event, context):
    for record in event["Records"]:
        ship(record)

#: decorator of the file that logs and raises · retried
def logged(function):
    def inner(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except Exception as error:
            print(error)
            raise
    return inner
@logged
def handler(event, context):
    for record in event["Records"]:
        ship(record)

#: decorator on the record function · deleted
def quiet(function):
    def inner(record):
        try:
            return function(record)
        except Exception as error:
            print(error)
    return inner
@quiet
def process(record):
    ship(record)
def handler(event, context):
    for record in event["Records"]:
        process(record)

#: decorator with arguments · deleted
def quiet(default):
    def wrap(function):
        def inner(record):
            try:
                return function(record)
            except Exception:
                return default
        return inner
    return wrap
@quiet(default=None)
def process(record):
    ship(record)
def handler(event, context):
    for record in event["Records"]:
        process(record)

#: class with a method · deleted
class Shipper:
    def handle(self, event, context):
        for record in event["Records"]:
            try:
                ship(record)
            except Exception as error:
                print(error)
handler = Shipper().handle

#: callable object · retried
class Shipper:
    def __call__(self, event, context):
        for record in event["Records"]:
            self.one(record)
    def one(self, record):
        ship(record)
handler = Shipper()

#: method of an object · deleted
class Shipper:
    def one(self, record):
        try:
            ship(record)
        except Exception:
            self.failed = record
def handler(event, context):
    shipper = Shipper()
    for record in event["Records"]:
        shipper.one(record)

#: state of an object, raised · retried
class Shipper:
    def __init__(self):
        self.errors = []
    def one(self, record):
        try:
            ship(record)
        except Exception as error:
            self.errors.append(error)
def handler(event, context):
    shipper = Shipper()
    for record in event["Records"]:
        shipper.one(record)
    if shipper.errors:
        raise shipper.errors[0]

#: inherited method · deleted
class Base:
    def __call__(self, event, context):
        for record in event["Records"]:
            try:
                self.one(record)
            except Exception as error:
                print(error)
class Shipper(Base):
    def one(self, record):
        ship(record)
handler = Shipper()

#: assigned from another name · retried
def main(event, context):
    for record in event["Records"]:
        ship(record)
handler = main

#: lambda · retried
handler = lambda event, context: [ship(record) for record in event["Records"]] and None

#: static method · deleted
class Worker:
    @staticmethod
    def one(record):
        try:
            ship(record)
        except Exception:
            pass
def handler(event, context):
    for record in event["Records"]:
        Worker.one(record)

#: context manager of the file that swallows · deleted
class Quiet:
    def __enter__(self):
        return self
    def __exit__(self, kind, error, trace):
        print(error)
        return True
def handler(event, context):
    for record in event["Records"]:
        with Quiet():
            ship(record)

#: context manager of the file that does not · retried
class Timed:
    def __enter__(self):
        return self
    def __exit__(self, kind, error, trace):
        print("done")
        return False
def handler(event, context):
    for record in event["Records"]:
        with Timed():
            ship(record)

#: own exception, caught by its name · retried
class Skipped(Exception):
    pass
def handler(event, context):
    for record in event["Records"]:
        try:
            process(record)
        except Skipped:
            print("skipped")
        except Exception:
            raise
def process(record):
    ship(record)

#: own exception swallows the failure · deleted
class Refused(Exception):
    pass
def handler(event, context):
    for record in event["Records"]:
        try:
            process(record)
        except Refused:
            print("refused")
def process(record):
    try:
        ship(record)
    except Exception as error:
        raise Refused(record["messageId"]) from error

#: generator · retried
def handler(event, context):
    for result in results(event["Records"]):
        print(result)
def results(records):
    for record in records:
        yield ship(record)

#: decorator from elsewhere · retried · silent: a wrapper from elsewhere may catch
@watched
def handler(event, context):
    for record in event["Records"]:
        ship(record)

#: keyword arguments · deleted
def handler(event, context):
    for record in event["Records"]:
        process(record=record, strict=False)
def process(*, record, strict=True):
    try:
        ship(record)
    except Exception:
        if strict:
            raise

#: keyword arguments, strict · retried
def handler(event, context):
    for record in event["Records"]:
        process(record=record)
def process(*, record, strict=True):
    try:
        ship(record)
    except Exception:
        if strict:
            raise

#: helper that calls itself for the parts of a message · deleted
def handler(event, context):
    for record in event["Records"]:
        try:
            ship(record["messageId"], plain(json.loads(record["body"])))
        except Exception as error:
            print(error)
def plain(value):
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, list):
        return [plain(part) for part in value]
    return value

#: helper that calls itself to try again · retried
def handler(event, context):
    for record in event["Records"]:
        attempt(record, 5)
def attempt(record, left):
    try:
        ship(record)
    except Exception:
        if left == 0:
            raise
        attempt(record, left - 1)

#: classified by several helpers · deleted
def heart(value):
    if value < 1:
        return 3
    elif value < 2:
        return 2
    elif value < 3:
        return 1
    return 0

def breath(value):
    if value < 1:
        return 3
    elif value < 2:
        return 2
    elif value < 3:
        return 1
    return 0

def heat(value):
    if value < 1:
        return 3
    elif value < 2:
        return 2
    elif value < 3:
        return 1
    return 0

def weight(value):
    if value < 1:
        return 3
    elif value < 2:
        return 2
    elif value < 3:
        return 1
    return 0

def age(value):
    if value < 1:
        return 3
    elif value < 2:
        return 2
    elif value < 3:
        return 1
    return 0

def handler(event, context):
    for record in event["Records"]:
        try:
            order = json.loads(record["body"])
            total = sum([heart(order.get("a", 1)), breath(order.get("b", 1)), heat(order.get("c", 1))])
            ship(record, total + weight(order.get("d", 1)) + age(order.get("e", 1)))
        except Exception as error:
            print(error)

#: helper of the file that raises on one branch · retried · silent: the branch depends on the record
def log_error(error):
    raise error

def handler(event, context):
    for record in event["Records"]:
        try:
            ship(record)
        except Exception as error:
            if record.get("attributes"):
                print(error)
            else:
                log_error(error)

#: branches that only print · deleted
def handler(event, context):
    for record in event["Records"]:
        order = json.loads(record["body"])
        name = order.get("name") or "unknown"
        if order.get("a"):
            print("a", name)
        if order.get("b"):
            print("b", name)
        if order.get("c"):
            print("c", name)
        if order.get("d"):
            print("d", name)
        if order.get("e"):
            print("e", name)
        if order.get("f"):
            print("f", name)
        if order.get("g"):
            print("g", name)
        if order.get("h"):
            print("h", name)
        try:
            ship(record)
        except Exception as error:
            print(error)
