#: no catch · retried
def handler(event, context):
    for record in event["Records"]:
        ship(record)

#: rethrown · retried
def handler(event, context):
    for record in event["Records"]:
        try:
            ship(record)
        except Exception:
            raise

#: another exception · retried
def handler(event, context):
    for record in event["Records"]:
        try:
            ship(record)
        except Exception as error:
            raise RuntimeError("not shipped") from error

#: logged · deleted
def handler(event, context):
    for record in event["Records"]:
        try:
            ship(record)
        except Exception as error:
            print(error)

#: passed over · deleted
def handler(event, context):
    for record in event["Records"]:
        try:
            ship(record)
        except:
            pass

#: continued · deleted
def handler(event, context):
    for record in event["Records"]:
        try:
            ship(record)
        except Exception:
            logger.exception("not shipped")
            continue

#: catch around the loop · deleted · unstated: rest skipped
def handler(event, context):
    try:
        for record in event["Records"]:
            ship(record)
    except Exception as error:
        logger.error(error)
    return {"statusCode": 200}

#: catch around the loop with an error response · deleted · unstated: rest skipped
def handler(event, context):
    try:
        for record in event["Records"]:
            ship(record)
    except Exception as error:
        return {"statusCode": 500, "body": str(error)}

#: inner catch, outer raise · retried
def handler(event, context):
    failed = []
    try:
        for record in event["Records"]:
            try:
                ship(record)
            except Exception:
                failed.append(record["messageId"])
    except Exception:
        raise
    if failed:
        raise RuntimeError(failed)

#: outer catch around code that records failures · partly retried
def handler(event, context):
    failed = []
    try:
        for record in event["Records"]:
            try:
                ship(record)
            except Exception:
                failed.append({"itemIdentifier": record["messageId"]})
    except Exception:
        raise
    return {"batchItemFailures": failed}

#: break after the failure · deleted · effect: rest skipped
def handler(event, context):
    for record in event["Records"]:
        try:
            ship(record)
        except Exception:
            break

#: return in the catch · deleted · effect: rest skipped
def handler(event, context):
    for record in event["Records"]:
        try:
            ship(record)
        except Exception:
            return

#: narrow exception · retried · silent: the type of the failure is unknown
def handler(event, context):
    for record in event["Records"]:
        try:
            ship(record)
        except KeyError:
            print("no key")

#: a tuple with the general exception · deleted
def handler(event, context):
    for record in event["Records"]:
        try:
            ship(record)
        except (ValueError, Exception) as error:
            print(error)

#: finally with continue · deleted
def handler(event, context):
    for record in event["Records"]:
        try:
            ship(record)
        finally:
            continue

#: finally with return · unread
def handler(event, context):
    for record in event["Records"]:
        try:
            ship(record)
        finally:
            return {"statusCode": 200}

#: finally without effect · retried
def handler(event, context):
    for record in event["Records"]:
        try:
            ship(record)
        finally:
            print("done")

#: work in else · retried
def handler(event, context):
    for record in event["Records"]:
        try:
            body = json.loads(record["body"])
        except Exception:
            print("no JSON")
        else:
            ship(body)

#: only parsing is guarded · retried
def handler(event, context):
    for record in event["Records"]:
        try:
            body = json.loads(record["body"])
        except ValueError:
            continue
        ship(body)

#: suppress · deleted
def handler(event, context):
    for record in event["Records"]:
        with contextlib.suppress(Exception):
            ship(record)

#: suppress around the loop · deleted · unstated: rest skipped
def handler(event, context):
    with suppress(Exception):
        for record in event["Records"]:
            ship(record)

#: suppress of another type · retried · silent: the type of the failure is unknown
def handler(event, context):
    for record in event["Records"]:
        with contextlib.suppress(KeyError):
            ship(record)

#: nested try, inner rethrow · deleted
def handler(event, context):
    for record in event["Records"]:
        try:
            try:
                ship(record)
            except Exception as error:
                raise RuntimeError("again") from error
        except Exception as error:
            print(error)

#: retries, then raises · retried
def handler(event, context):
    for record in event["Records"]:
        for attempt in range(3):
            try:
                ship(record)
                break
            except Exception:
                if attempt == 2:
                    raise

#: retries, then gives up · deleted
def handler(event, context):
    for record in event["Records"]:
        for attempt in range(3):
            try:
                ship(record)
                break
            except Exception as error:
                print(attempt, error)

#: retries, then raises in the loop's else · retried
def handler(event, context):
    for record in event["Records"]:
        for attempt in range(2):
            try:
                ship(record)
                break
            except Exception as error:
                print(error)
        else:
            raise RuntimeError("gave up")

#: retries with while · retried
def handler(event, context):
    for record in event["Records"]:
        tries = 0
        while True:
            try:
                ship(record)
                break
            except Exception:
                tries += 1
                if tries >= 3:
                    raise

#: enumerate · deleted
def handler(event, context):
    for number, record in enumerate(event["Records"]):
        try:
            ship(record)
        except Exception:
            print(number)

#: get with default · deleted
def handler(event, context):
    for record in event.get("Records", []):
        try:
            ship(record["body"])
        except Exception as error:
            print(error)

#: records through a variable · deleted
def handler(event, context):
    records = event["Records"]
    bodies = [json.loads(record["body"]) for record in records]
    for body in bodies:
        try:
            ship(body)
        except Exception as error:
            print(error)

#: comprehension · retried
def handler(event, context):
    return {"results": [ship(record) for record in event["Records"]]}

#: map · retried
def handler(event, context):
    list(map(ship, event["Records"]))

#: while with pop · retried
def handler(event, context):
    records = list(event["Records"])
    while records:
        ship(records.pop(0))

#: assert · retried
def handler(event, context):
    failed = 0
    for record in event["Records"]:
        try:
            ship(record)
        except Exception:
            failed += 1
    assert failed == 0

#: exit · retried
def handler(event, context):
    for record in event["Records"]:
        try:
            ship(record)
        except Exception as error:
            print(error)
            sys.exit(1)

#: exit inside a general catch · retried
def handler(event, context):
    try:
        for record in event["Records"]:
            try:
                ship(record)
            except Exception:
                sys.exit(1)
    except Exception:
        print("not reached")

#: exit inside a bare except · deleted · unstated: rest skipped
def handler(event, context):
    try:
        for record in event["Records"]:
            try:
                ship(record)
            except Exception:
                sys.exit(1)
    except:
        print("reached")

#: sent elsewhere · deleted · silent: the message may be safe
def handler(event, context):
    for record in event["Records"]:
        try:
            ship(record)
        except Exception:
            park(record)

#: failure sent elsewhere · deleted · silent: the message may be safe
def handler(event, context):
    for record in event["Records"]:
        try:
            ship(record)
        except Exception as error:
            tell(error)

#: unrelated call in the catch · deleted
def handler(event, context):
    for record in event["Records"]:
        try:
            ship(record)
        except Exception:
            tell("something failed")

#: condition decides · retried · silent: not the same on all paths
def handler(event, context):
    for record in event["Records"]:
        try:
            ship(record)
        except Exception as error:
            if is_fatal(error):
                raise

#: second work outside · retried · silent: not the same on all paths
def handler(event, context):
    for record in event["Records"]:
        try:
            charge(record)
        except ImportError:
            print("no")
        ship(record)
        try:
            tell(record)
        except Exception:
            print("not told")

#: two works, both guarded · deleted
def handler(event, context):
    for record in event["Records"]:
        try:
            charge(record)
            ship(record)
        except Exception as error:
            logger.warning(error)

#: match on the body · retried
def handler(event, context):
    for record in event["Records"]:
        match record["body"]:
            case "ignored":
                continue
            case _:
                ship(record)

#: pages until there is no next one, logged · deleted
def handler(event, context):
    for record in event["Records"]:
        try:
            token = None
            while True:
                page = ship(record["body"], token)
                token = page and page.get("next")
                if not token:
                    break
        except Exception as error:
            print(error)

#: pages until a flag is set · deleted
def handler(event, context):
    for record in event["Records"]:
        done = False
        try:
            while not done:
                page = ship(record["body"])
                if not page:
                    done = True
        except Exception as error:
            print(error)

#: a dozen attempts that end with the failure · retried · silent: only eight iterations are followed
def handler(event, context):
    for record in event["Records"]:
        attempt = 0
        while attempt < 12:
            attempt += 1
            try:
                ship(record)
                break
            except Exception:
                if attempt == 12:
                    raise

#: a dozen attempts that end without it · deleted
def handler(event, context):
    for record in event["Records"]:
        attempt = 0
        while attempt < 12:
            attempt += 1
            try:
                ship(record)
                break
            except Exception as error:
                print(error)

#: a dozen attempts that are counted · retried · silent: only eight iterations are followed
def handler(event, context):
    for record in event["Records"]:
        failures = []
        attempt = 0
        while attempt < 12:
            attempt += 1
            try:
                ship(record)
                break
            except Exception as error:
                failures.append(error)
        if len(failures) == 12:
            raise RuntimeError("not shipped")

#: the next one only · unread
def handler(event, context):
    record = next(iter(event["Records"]))
    ship(record)

#: the next one, and then the rest · retried
def handler(event, context):
    records = iter(event["Records"])
    ship(next(records))
    for record in records:
        ship(record)

#: the next one until there is none · retried
def handler(event, context):
    records = iter(event["Records"])
    record = next(records, None)
    while record:
        ship(record)
        record = next(records, None)

#: records of other services are refused · retried
def handler(event, context):
    for record in event["Records"]:
        try:
            if record.get("eventSource") == "aws:sqs":
                ship(record)
        except Exception:
            if record["eventSource"] == "aws:sqs":
                raise
