#: parsed before the try · partly retried · effect: fails on a malformed body
def handler(event, context):
    failures = []
    for record in event["Records"]:
        order = json.loads(record["body"])
        try:
            ship(order)
        except Exception:
            failures.append({"itemIdentifier": record["messageId"]})
    return {"batchItemFailures": failures}

#: all parsed first · partly retried · effect: fails on a malformed body
def handler(event, context):
    failures = []
    for identifier, order in [(record["messageId"], json.loads(record["body"])) for record in event["Records"]]:
        try:
            ship(order)
        except Exception:
            failures.append({"itemIdentifier": identifier})
    return {"batchItemFailures": failures}

#: parsed in a function before the try · partly retried · effect: fails on a malformed body
def parse(record):
    body = record["body"]
    return json.loads(body)
def handler(event, context):
    failures = []
    for record in event["Records"]:
        order = parse(record)
        try:
            ship(order)
        except Exception:
            failures.append({"itemIdentifier": record["messageId"]})
    return {"batchItemFailures": failures}

#: parsed inside of the try · partly retried
def handler(event, context):
    failures = []
    for record in event["Records"]:
        try:
            order = json.loads(record["body"])
            ship(order)
        except Exception:
            failures.append({"itemIdentifier": record["messageId"]})
    return {"batchItemFailures": failures}

#: parsed in a try of its own · partly retried
def handler(event, context):
    failures = []
    for record in event["Records"]:
        try:
            order = json.loads(record["body"])
        except ValueError:
            failures.append({"itemIdentifier": record["messageId"]})
            continue
        try:
            ship(order)
        except Exception:
            failures.append({"itemIdentifier": record["messageId"]})
    return {"batchItemFailures": failures}

#: outer try that names all messages · partly retried
def handler(event, context):
    failures = []
    try:
        for record in event["Records"]:
            order = json.loads(record["body"])
            try:
                ship(order)
            except Exception:
                failures.append({"itemIdentifier": record["messageId"]})
    except Exception:
        return {"batchItemFailures": [{"itemIdentifier": record["messageId"]} for record in event["Records"]]}
    return {"batchItemFailures": failures}
