#: powertools · partly retried
processor = BatchProcessor(event_type=EventType.SQS)
def one(record):
    ship(record.body)
def handler(event, context):
    return process_partial_response(event=event, record_handler=one, processor=processor, context=context)

#: powertools, record handler catches · deleted
processor = BatchProcessor(event_type=EventType.SQS)
def one(record):
    try:
        ship(record.body)
    except Exception as error:
        print(error)
def handler(event, context):
    return process_partial_response(event=event, record_handler=one, processor=processor, context=context)

#: powertools, response not returned · deleted
processor = BatchProcessor(event_type=EventType.SQS)
def one(record):
    ship(record.body)
def handler(event, context):
    process_partial_response(event=event, record_handler=one, processor=processor, context=context)

#: powertools, context manager · partly retried
processor = BatchProcessor(event_type=EventType.SQS)
def one(record):
    ship(record["body"])
def handler(event, context):
    with processor(records=event["Records"], handler=one):
        processor.process()
    return processor.response()

#: powertools, decorator · partly retried
processor = BatchProcessor(event_type=EventType.SQS)
def one(record):
    ship(record["body"])
@batch_processor(record_handler=one, processor=processor)
def handler(event, context):
    return processor.response()

#: powertools, handler from elsewhere · partly retried
processor = BatchProcessor(event_type=EventType.SQS)
def handler(event, context):
    return process_partial_response(event=event, record_handler=ship, processor=processor, context=context)

#: first record only · unread
def handler(event, context):
    record = event["Records"][0]
    ship(record)

#: first body only · unread
def handler(event, context):
    body = json.loads(event["Records"][0]["body"])
    ship(body)
    return {"statusCode": 200}

#: return in the loop · unread
def handler(event, context):
    for record in event["Records"]:
        ship(record)
        return {"statusCode": 200}

#: first record in a helper · unread
def handler(event, context):
    process(event)
def process(event):
    ship(event["Records"][0])

#: rest passed on · retried
def handler(event, context):
    ship(event["Records"][0])
    for record in event["Records"][1:]:
        ship(record)

#: several records refused · retried · silent: no record is used
def handler(event, context):
    if len(event["Records"]) != 1:
        raise ValueError("one record only")
    ship(event["Records"][0])

#: whole event passed on · retried
def handler(event, context):
    print(event["Records"][0])
    ship(event)

#: slice of one · unread
def handler(event, context):
    for record in event["Records"][:1]:
        ship(record)

#: destructured · unread
def handler(event, context):
    first, *rest = event["Records"]
    ship(first)

#: deletes each success itself · retried · silent: deletes processed messages itself
def handler(event, context):
    for record in event["Records"]:
        ship(record)
        queue.delete_message(ReceiptHandle=record["receiptHandle"])

#: deletes each success with a helper · retried · silent: deletes processed messages itself
def handler(event, context):
    for record in event["Records"]:
        ship(record)
        delete_from_queue(record)

#: wrapped by another file · retried · silent: a wrapper from elsewhere may catch
def main(event, context):
    for record in event["Records"]:
        ship(record)
handler = instrument(main)

#: grouped elsewhere · deleted · silent: not the same on all paths
def handler(event, context):
    for group in grouped(event["Records"]):
        try:
            ship(group)
        except Exception as error:
            print(error)
