#: list of failures · partly retried
def handler(event, context):
    failures = []
    for record in event["Records"]:
        try:
            ship(record)
        except Exception:
            failures.append({"itemIdentifier": record["messageId"]})
    return {"batchItemFailures": failures}

#: setdefault · partly retried
def handler(event, context):
    response = {}
    for record in event["Records"]:
        try:
            ship(record)
        except Exception:
            response.setdefault("batchItemFailures", []).append({"itemIdentifier": record["messageId"]})
    return response

#: update · partly retried
def handler(event, context):
    response = {"statusCode": 200}
    failures = []
    for record in event["Records"]:
        try:
            ship(record)
        except Exception:
            failures.append({"itemIdentifier": record["messageId"]})
    response.update({"batchItemFailures": failures})
    return response

#: key assigned · partly retried
def handler(event, context):
    response = {}
    failures = [{"itemIdentifier": r["messageId"]} for r in event["Records"] if not shipped(r)]
    response["batchItemFailures"] = failures
    return response
def shipped(record):
    try:
        ship(record)
        return True
    except Exception:
        return False

#: appended in place · partly retried
def handler(event, context):
    response = {"batchItemFailures": []}
    for record in event["Records"]:
        try:
            ship(record)
        except Exception:
            response["batchItemFailures"].append({"itemIdentifier": record["messageId"]})
    return response

#: empty list in the catch · deleted · unstated: rest skipped
def handler(event, context):
    try:
        for record in event["Records"]:
            ship(record)
    except Exception:
        return {"batchItemFailures": []}

#: list that stays empty · deleted
def handler(event, context):
    failures = []
    for record in event["Records"]:
        try:
            ship(record)
        except Exception as error:
            print(error)
    return {"batchItemFailures": failures}

#: list of ids converted · partly retried
def handler(event, context):
    ids = []
    for record in event["Records"]:
        try:
            ship(record)
        except Exception:
            ids.append(record["messageId"])
    return {"batchItemFailures": [{"itemIdentifier": one} for one in ids]}

#: all records reported · partly retried
def handler(event, context):
    try:
        for record in event["Records"]:
            ship(record)
    except Exception:
        return {"batchItemFailures": [{"itemIdentifier": r["messageId"]} for r in event["Records"]]}
    return {"batchItemFailures": []}

#: rest reported after the first failure · partly retried
def handler(event, context):
    records = event["Records"]
    for at, record in enumerate(records):
        try:
            ship(record)
        except Exception:
            return {"batchItemFailures": [{"itemIdentifier": r["messageId"]} for r in records[at:]]}
    return {"batchItemFailures": []}

#: items are strings · batch retried
def handler(event, context):
    failures = []
    for record in event["Records"]:
        try:
            ship(record)
        except Exception:
            failures.append(record["messageId"])
    return {"batchItemFailures": failures}

#: wrong key · batch retried
def handler(event, context):
    failures = []
    for record in event["Records"]:
        try:
            ship(record)
        except Exception:
            failures.append({"messageId": record["messageId"]})
    return {"batchItemFailures": failures}

#: JSON string · batch retried
def handler(event, context):
    failures = []
    for record in event["Records"]:
        try:
            ship(record)
        except Exception:
            failures.append({"itemIdentifier": record["messageId"]})
    return json.dumps({"batchItemFailures": failures})

#: response from a helper · partly retried
def handler(event, context):
    return process(event["Records"])
def process(records):
    failed = []
    for record in records:
        try:
            ship(record)
        except Exception:
            failed.append({"itemIdentifier": record["messageId"]})
    return {"batchItemFailures": failed}

#: response from elsewhere · retried · silent: the result of other code is returned
def handler(event, context):
    for record in event["Records"]:
        ship(record)
    return summarize(event)

#: names the wrong message · deleted
def handler(event, context):
    failures = []
    previous = None
    for record in event["Records"]:
        try:
            ship(record)
        except Exception:
            if previous is not None:
                failures.append({"itemIdentifier": previous["messageId"]})
        previous = record
    return {"batchItemFailures": failures}

#: spread · partly retried
def handler(event, context):
    failures = []
    for record in event["Records"]:
        try:
            ship(record)
        except Exception:
            failures += [{"itemIdentifier": record["messageId"]}]
    return {**{"statusCode": 200}, "batchItemFailures": failures}

#: null list · deleted
def handler(event, context):
    for record in event["Records"]:
        try:
            ship(record)
        except Exception:
            print("failed")
    return {"batchItemFailures": None}

#: failures under another key · deleted
def handler(event, context):
    failures = []
    for record in event["Records"]:
        try:
            ship(record)
        except Exception:
            failures.append({"itemIdentifier": record["messageId"]})
    return {"failures": failures}

#: built, not returned · deleted
def handler(event, context):
    failures = []
    for record in event["Records"]:
        try:
            ship(record)
        except Exception:
            failures.append({"itemIdentifier": record["messageId"]})
    response = {"batchItemFailures": failures}
    print(response)
