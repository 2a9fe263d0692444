import json

import boto3

table = boto3.resource("dynamodb").Table("shipments")


def handler(event, context):
    for record in event["Records"]:
        try:
            order = json.loads(record["body"])
            table.put_item(Item={"id": order["id"], "items": order["items"]})
        except Exception as error:
            print("cannot ship", error)
