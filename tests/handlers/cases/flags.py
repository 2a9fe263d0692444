#: counted and compared · retried
def handler(event, context):
    processed = 0
    for record in event["Records"]:
        try:
            ship(record)
            processed += 1
        except Exception as error:
            print(error)
    if processed < len(event["Records"]):
        raise RuntimeError("some failed")

#: counted and only printed · deleted
def handler(event, context):
    processed = 0
    for record in event["Records"]:
        try:
            ship(record)
            processed += 1
        except Exception as error:
            print(error)
    print(processed)
    return {"processed": processed}

#: flag set in the try · retried
def handler(event, context):
    for record in event["Records"]:
        ok = False
        try:
            ship(record)
            ok = True
        except Exception as error:
            print(error)
        if not ok:
            raise RuntimeError("failed")

#: flag set in the catch · retried
def handler(event, context):
    failed = False
    for record in event["Records"]:
        try:
            ship(record)
        except Exception:
            failed = True
    if failed:
        raise RuntimeError("failed")

#: flag that nobody reads · deleted
def handler(event, context):
    failed = False
    for record in event["Records"]:
        try:
            ship(record)
        except Exception:
            failed = True

#: set of the done · retried
def handler(event, context):
    done = set()
    for record in event["Records"]:
        try:
            ship(record)
            done.add(record["messageId"])
        except Exception as error:
            print(error)
    missing = [r for r in event["Records"] if r["messageId"] not in done]
    if missing:
        raise RuntimeError(missing)

#: done set as response · partly retried
def handler(event, context):
    done = set()
    for record in event["Records"]:
        try:
            ship(record)
            done.add(record["messageId"])
        except Exception as error:
            print(error)
    failed = [{"itemIdentifier": r["messageId"]} for r in event["Records"] if r["messageId"] not in done]
    return {"batchItemFailures": failed}

#: errors collected and raised · retried
def handler(event, context):
    errors = []
    for record in event["Records"]:
        try:
            ship(record)
        except Exception as error:
            errors.append(error)
    if len(errors) > 0:
        raise errors[0]

#: errors collected and logged · deleted
def handler(event, context):
    errors = []
    for record in event["Records"]:
        try:
            ship(record)
        except Exception as error:
            errors.append(str(error))
    logger.error("%d failed", len(errors))

#: last error raised · retried
def handler(event, context):
    last = None
    for record in event["Records"]:
        try:
            ship(record)
        except Exception as error:
            last = error
    if last is not None:
        raise last

#: results and all · retried
def handler(event, context):
    results = []
    for record in event["Records"]:
        try:
            ship(record)
            results.append(True)
        except Exception:
            results.append(False)
    if not all(results):
        raise RuntimeError("failed")

#: results and any, never raised · deleted
def handler(event, context):
    results = []
    for record in event["Records"]:
        try:
            ship(record)
            results.append(True)
        except Exception:
            results.append(False)
    return {"ok": any(results)}

#: status by message · retried
def handler(event, context):
    status = {}
    for record in event["Records"]:
        try:
            ship(record)
            status[record["messageId"]] = True
        except Exception:
            status[record["messageId"]] = False
    if not all(status.values()):
        raise RuntimeError(status)

#: raised only if all failed · deleted
def handler(event, context):
    failed = 0
    for record in event["Records"]:
        try:
            ship(record)
        except Exception:
            failed += 1
    if failed == len(event["Records"]):
        raise RuntimeError("all failed")

#: nonlocal counter · retried
def handler(event, context):
    failed = 0
    def one(record):
        nonlocal failed
        try:
            ship(record)
        except Exception:
            failed += 1
    for record in event["Records"]:
        one(record)
    if failed:
        raise RuntimeError(failed)

#: local counter by mistake · deleted
def handler(event, context):
    failed = 0
    def one(record):
        failed = 0
        try:
            ship(record)
        except Exception:
            failed = failed + 1
    for record in event["Records"]:
        one(record)
    if failed:
        raise RuntimeError(failed)

#: global list · retried
failures = []
def handler(event, context):
    failures.clear() if False else None
    for record in event["Records"]:
        try:
            ship(record)
        except Exception as error:
            failures.append(error)
    if failures:
        raise failures[-1]

#: error attribute on an object · retried
class State:
    def __init__(self):
        self.failed = False
def handler(event, context):
    state = State()
    for record in event["Records"]:
        try:
            ship(record)
        except Exception:
            state.failed = True
    if state.failed:
        raise RuntimeError("failed")

#: ternary · retried
def handler(event, context):
    failed = []
    for record in event["Records"]:
        try:
            ship(record)
        except Exception:
            failed.append(record)
    outcome = "failed" if failed else "ok"
    if outcome == "failed":
        raise RuntimeError(outcome)
