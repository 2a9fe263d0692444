//: command, and a variable · retried · effect: feeds own queue
const sqs = new SQSClient({});
exports.handler = async (event) => {
  for (const record of event.Records) {
    await sqs.send(new SendMessageCommand({ QueueUrl: process.env.OWN, MessageBody: record.body }));
  }
};

//: variables taken apart, and a batch · retried · effect: feeds own queue
const { OWN: QueueUrl } = process.env;
const sqs = new SQSClient({});
exports.handler = async (event) => {
  const Entries = event.Records.map((record) => ({ Id: record.messageId, MessageBody: record.body }));
  const command = new SendMessageBatchCommand({ QueueUrl, Entries });
  const { Failed } = await sqs.send(command);
  if (Failed?.length) throw new Error("not sent");
};

//: client of version 2 in a class · retried · effect: feeds own queue
const sqs = new AWS.SQS();
class Retry {
  constructor(url = process.env.OWN) { this.url = url; }
  async later(record) {
    await sqs.sendMessage({ QueueUrl: this.url, MessageBody: record.body }).promise();
  }
}
const retry = new Retry();
exports.handler = async (event) => {
  await Promise.all(event.Records.map((record) => retry.later(record)));
};

//: another queue · retried
const sqs = new SQSClient({});
const queues = { own: process.env.OWN, other: process.env.OTHER };
exports.handler = async (event) => {
  for (const record of event.Records) {
    await sqs.send(new SendMessageCommand({ QueueUrl: queues.other, MessageBody: record.body }));
  }
};

//: execution without a name · retried · effect: starts again
const flow = new SFNClient({});
exports.handler = async (event) => {
  for (const record of event.Records) {
    await flow.send(new StartExecutionCommand({ stateMachineArn: process.env.FLOW, input: record.body }));
  }
};

//: execution of version 2, with parameters in a variable · retried · effect: starts again
const flow = new AWS.StepFunctions();
exports.handler = async (event) => {
  await Promise.all(event.Records.map(async (record) => {
    const params = { stateMachineArn: "flow", input: JSON.stringify({ body: record.body }) };
    await flow.startExecution(params).promise();
  }));
};

//: job · retried · effect: starts again
const batch = new BatchClient({});
exports.handler = async (event) => {
  for (const { body } of event.Records) {
    const { id } = JSON.parse(body);
    await batch.send(new SubmitJobCommand({ jobName: `order-${id}`, jobQueue: "orders", jobDefinition: "fulfil" }));
  }
};

//: execution with a name · retried
const flow = new SFNClient({});
exports.handler = async (event) => {
  for (const { messageId: name, body: input } of event.Records) {
    await flow.send(new StartExecutionCommand({ stateMachineArn: "flow", name, input }));
  }
};

//: execution with spread parameters · retried · unstated: starts again
const flow = new SFNClient({});
exports.handler = async (event) => {
  for (const record of event.Records) {
    await flow.send(new StartExecutionCommand({ stateMachineArn: "flow", ...JSON.parse(record.body) }));
  }
};
