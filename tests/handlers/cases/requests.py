#: client, and a variable · retried · effect: feeds own queue
sqs = boto3.client("sqs")
def handler(event, context):
    for record in event["Records"]:
        if record["body"]:
            sqs.send_message(QueueUrl=os.environ["OWN"], MessageBody=record["body"], DelaySeconds=300)

#: constant of the module, and a function that sends · retried · effect: feeds own queue
sqs = boto3.client("sqs")
QUEUE = os.environ.get("OWN", "")
def again(url, body):
    sqs.send_message(QueueUrl=url, MessageBody=body)
def handler(event, context):
    for record in event["Records"]:
        again(QUEUE, record["body"])

#: queue of a resource, and a batch · retried · effect: feeds own queue
queue = boto3.resource("sqs").Queue(os.getenv("OWN"))
def handler(event, context):
    entries = [{"Id": record["messageId"], "MessageBody": record["body"]} for record in event["Records"]]
    queue.send_messages(Entries=entries)

#: field of a class · retried · effect: feeds own queue
class Retry:
    def __init__(self):
        self.url = os.environ["OWN"]
        self.sqs = boto3.client("sqs")
    def later(self, record):
        self.sqs.send_message(QueueUrl=self.url, MessageBody=record["body"])
def handler(event, context):
    retry = Retry()
    for record in event["Records"]:
        retry.later(record)

#: another queue · retried
sqs = boto3.client("sqs")
def handler(event, context):
    for record in event["Records"]:
        sqs.send_message(QueueUrl=os.environ["OTHER"], MessageBody=record["body"])

#: a variable for the other queue with a name alike · retried
sqs = boto3.client("sqs")
OWN = os.environ["OTHER"]
def handler(event, context):
    for record in event["Records"]:
        sqs.send_message(QueueUrl=OWN, MessageBody=record["body"])

#: only a deletion from its queue · retried · silent: it deletes messages itself
sqs = boto3.client("sqs")
def handler(event, context):
    for record in event["Records"]:
        sqs.delete_message(QueueUrl=os.environ["OWN"], ReceiptHandle=record["receiptHandle"])

#: receives, and ignores the event · deleted · silent: no work on the records · effect: polls own queue
sqs = boto3.client("sqs")
URL = os.environ["OWN"]
def handler(event, context):
    print(event)
    got = sqs.receive_message(QueueUrl=URL, MaxNumberOfMessages=10)
    for message in got.get("Messages", []):
        sqs.delete_message(QueueUrl=URL, ReceiptHandle=message["ReceiptHandle"])

#: loop that receives · deleted · silent: no work on the records · effect: polls own queue
queue = boto3.resource("sqs").Queue(os.environ["OWN"])
def handler(event, context):
    for attempt in range(2):
        for message in queue.receive_messages(MaxNumberOfMessages=10):
            ship(message)

#: receives in a function · deleted · silent: no work on the records · effect: polls own queue
sqs = boto3.client("sqs")
def messages(queue):
    return sqs.receive_message(QueueUrl=queue).get("Messages", [])
def handler(event, context):
    for message in messages(os.environ["OWN"]):
        ship(message["Body"])

#: receives from another queue · deleted · silent: no work on the records
sqs = boto3.client("sqs")
def handler(event, context):
    for message in sqs.receive_message(QueueUrl=os.environ["OTHER"]).get("Messages", []):
        ship(message["Body"])

#: receives, and reads the event · retried
sqs = boto3.client("sqs")
def handler(event, context):
    for record in event["Records"]:
        ship(record["body"])
    for message in sqs.receive_message(QueueUrl=os.environ["OWN"]).get("Messages", []):
        ship(message["Body"])

#: receives, and passes the event on · retried · unstated: polls own queue
sqs = boto3.client("sqs")
def handler(event, context):
    ship(event)
    for message in sqs.receive_message(QueueUrl=os.environ["OWN"]).get("Messages", []):
        ship(message["Body"])

#: execution without a name · retried · effect: starts again
flow = boto3.client("stepfunctions")
def handler(event, context):
    for record in event["Records"]:
        flow.start_execution(stateMachineArn=os.environ["FLOW"] if False else "flow", input=record["body"])

#: execution in a function, with options · retried · effect: starts again
flow = boto3.client("stepfunctions")
def start(order):
    options = {"stateMachineArn": "flow", "input": json.dumps(order)}
    return flow.start_execution(**options)
def handler(event, context):
    return [start(json.loads(record["body"])) for record in event["Records"]] and None

#: job · retried · effect: starts again
batch = boto3.client("batch")
def handler(event, context):
    for record in event["Records"]:
        batch.submit_job(jobName="order", jobQueue="orders", jobDefinition="fulfil", parameters={"body": record["body"]})

#: execution with a name · retried
flow = boto3.client("stepfunctions")
def handler(event, context):
    for record in event["Records"]:
        flow.start_execution(stateMachineArn="flow", name=record["messageId"], input=record["body"])

#: execution with options that get a name · retried
flow = boto3.client("stepfunctions")
def handler(event, context):
    for record in event["Records"]:
        options = {"stateMachineArn": "flow", "input": record["body"]}
        options["name"] = record["messageId"]
        flow.start_execution(**options)

#: execution after a conditional write · retried · unstated: starts again
flow = boto3.client("stepfunctions")
table = boto3.resource("dynamodb").Table("started")
def handler(event, context):
    for record in event["Records"]:
        table.put_item(Item={"id": record["messageId"]}, ConditionExpression="attribute_not_exists(id)")
        flow.start_execution(stateMachineArn="flow", input=record["body"])
