#: stops, and names the failed message only · partly retried · effect: rest unnamed
def handler(event, context):
    failures = []
    for record in event["Records"]:
        try:
            ship(json.loads(record["body"]))
        except Exception:
            failures.append({"itemIdentifier": record["messageId"]})
            break
    return {"batchItemFailures": failures}

#: returns the failed message from the loop · partly retried · effect: rest unnamed
def handler(event, context):
    for record in event["Records"]:
        try:
            ship(record)
        except Exception as error:
            print(error)
            return {"batchItemFailures": [{"itemIdentifier": record["messageId"]}]}
    return {"batchItemFailures": []}

#: names the current message outside of the loop · partly retried · effect: rest unnamed
def handler(event, context):
    current = None
    try:
        for record in event["Records"]:
            current = record["messageId"]
            ship(record)
    except Exception:
        return {"batchItemFailures": [{"itemIdentifier": current}]}
    return {"batchItemFailures": []}

#: index, and a break · partly retried · effect: rest unnamed
def handler(event, context):
    records = event["Records"]
    failures = []
    for at in range(len(records)):
        try:
            ship(records[at]["body"])
        except Exception:
            failures.append({"itemIdentifier": records[at]["messageId"]})
            break
    return {"batchItemFailures": failures}

#: function for all records that stops · partly retried · effect: rest unnamed
def handler(event, context):
    return {"batchItemFailures": failed(event["Records"])}
def failed(records):
    for record in records:
        try:
            ship(record)
        except Exception:
            return [{"itemIdentifier": record["messageId"]}]
    return []

#: names the failed message and the rest · partly retried
def handler(event, context):
    failures = []
    has_failed = False
    for record in event["Records"]:
        if has_failed:
            failures.append({"itemIdentifier": record["messageId"]})
            continue
        try:
            ship(record)
        except Exception:
            has_failed = True
            failures.append({"itemIdentifier": record["messageId"]})
    return {"batchItemFailures": failures}

#: slice of the rest · partly retried
def handler(event, context):
    records = event["Records"]
    for at, record in enumerate(records):
        try:
            ship(record)
        except Exception:
            return {"batchItemFailures": [{"itemIdentifier": one["messageId"]} for one in records[at:]]}
    return {"batchItemFailures": []}

#: second loop over the rest · partly retried
def handler(event, context):
    pending = [record["messageId"] for record in event["Records"]]
    for record in event["Records"]:
        try:
            ship(record)
            pending.remove(record["messageId"])
        except Exception:
            break
    return {"batchItemFailures": [{"itemIdentifier": one} for one in pending]}

#: attempts in an inner loop · partly retried
def handler(event, context):
    failures = []
    for record in event["Records"]:
        for attempt in range(3):
            try:
                ship(record)
                break
            except Exception:
                if attempt == 2:
                    failures.append({"itemIdentifier": record["messageId"]})
    return {"batchItemFailures": failures}

#: inner loop over the lines of an order · partly retried
def handler(event, context):
    failures = []
    for record in event["Records"]:
        try:
            for line in [record["body"], "more"]:
                ship(line)
                if "last" in line:
                    break
        except Exception:
            failures.append({"itemIdentifier": record["messageId"]})
    return {"batchItemFailures": failures}

#: return for messages of another kind · retried · effect: rest skipped
def handler(event, context):
    for record in event["Records"]:
        order = json.loads(record["body"])
        if order["kind"] != "a":
            return
        ship(order)

#: break for messages of another kind · retried · effect: rest skipped
def handler(event, context):
    for record in event["Records"]:
        order = json.loads(record["body"])
        if order.get("kind") == "skip":
            break
        ship(order)
    return {"statusCode": 200}

#: return of the failures so far · partly retried · effect: rest skipped
def handler(event, context):
    failures = []
    for record in event["Records"]:
        try:
            order = json.loads(record["body"])
            if order["kind"] == "skip":
                return {"batchItemFailures": failures}
            ship(order)
        except Exception:
            failures.append({"itemIdentifier": record["messageId"]})
    return {"batchItemFailures": failures}

#: return by a match · retried · effect: rest skipped
def handler(event, context):
    for record in event["Records"]:
        order = json.loads(record["body"])
        match order["kind"]:
            case "skip":
                return {}
            case _:
                ship(order)

#: return in a second loop over parsed messages · retried · effect: rest skipped
def handler(event, context):
    orders = [json.loads(record["body"]) for record in event["Records"]]
    for order in orders:
        if order["kind"] == "skip":
            return None
        ship(order)

#: return in a function for each record · retried
def handler(event, context):
    for record in event["Records"]:
        process(json.loads(record["body"]))
def process(order):
    if order["kind"] == "skip":
        return
    ship(order)

#: continue for messages of another kind · retried
def handler(event, context):
    for record in event["Records"]:
        order = json.loads(record["body"])
        if order["kind"] == "skip":
            continue
        ship(order)

#: break of a search, and work on all · retried
def handler(event, context):
    special = False
    for record in event["Records"]:
        if json.loads(record["body"])["kind"] == "skip":
            special = True
            break
    for record in event["Records"]:
        ship(record, special)

#: return for the batch before the loop · retried
def handler(event, context):
    first = json.loads(event["Records"][0]["body"])
    if first["kind"] == "skip":
        return
    for record in event["Records"]:
        ship(record)

#: return that raises for another kind · retried
def handler(event, context):
    for record in event["Records"]:
        order = json.loads(record["body"])
        if order["kind"] == "skip":
            raise ValueError(order["kind"])
        ship(order)

#: rest passed on before the return · retried · unstated: rest skipped
def handler(event, context):
    tell(event["Records"])
    for record in event["Records"]:
        order = json.loads(record["body"])
        if order["kind"] == "skip":
            return
        ship(order)

#: rest named in a return for another kind · partly retried · effect: fails on a malformed body
def handler(event, context):
    records = event["Records"]
    failures = []
    for at, record in enumerate(records):
        order = json.loads(record["body"])
        if order["kind"] == "skip":
            return {"batchItemFailures": failures + [{"itemIdentifier": one["messageId"]} for one in records[at + 1:]]}
        try:
            ship(order)
        except Exception:
            failures.append({"itemIdentifier": record["messageId"]})
    return {"batchItemFailures": failures}
