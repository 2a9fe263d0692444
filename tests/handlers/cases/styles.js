//: operations in an object, logged · deleted
const operations = { a: (item) => ship(item), b: async (item) => park(item) };
exports.handler = async (event) => {
  for (const record of event.Records) {
    const { kind } = JSON.parse(record.body);
    try {
      await operations[kind](record);
    } catch (error) {
      console.error(error);
    }
  }
  return 0;
};

//: Promise.all with failures pushed inside · partly retried
exports.handler = async (event) => {
  const batchItemFailures = [];
  await Promise.all(
    event.Records.map(async (record) => {
      try {
        return await processJob(record);
      } catch (error) {
        console.log(`Failed ${record.messageId}: ${error}`);
        batchItemFailures.push({ itemIdentifier: record.messageId });
      }
    }),
  );
  return { batchItemFailures };
};
const processJob = async (record) => {
  await ship(record);
};

//: destructured first record, status 500 · unread
exports.handler = async function (event) {
  try {
    const { Records: [{ body }] } = event;
    await ship(JSON.parse(body));
  } catch (error) {
    console.error(error);
    return { statusCode: 500, body: "error" };
  }
};

//: made by a factory of the file · deleted · unstated: rest skipped
function makeHandler({ run }) {
  return async function (event) {
    try {
      for (const record of event.Records) await run(record);
    } catch (error) {
      console.error(error);
      return { statusCode: 500 };
    }
  };
}
module.exports = { handler: makeHandler({ run: ship }) };

//: reduce as a chain · retried · silent: the result of other code is returned
exports.handler = (event) =>
  event.Records.reduce((before, record) => before.then(() => ship(record)), Promise.resolve());

//: reduce as a chain with a catch · deleted · silent: the result of other code is returned
exports.handler = (event) =>
  event.Records.reduce(
    (before, record) => before.then(() => ship(record)).catch((error) => console.error(error)),
    Promise.resolve(),
  );

//: for await over promises · retried
exports.handler = async (event) => {
  for await (const done of event.Records.map((record) => ship(record))) {
    console.log(done);
  }
};

//: for in over the indexes · retried
exports.handler = async function (event) {
  const records = event.Records;
  for (const index in records) {
    await ship(records[index]);
  }
};

//: index loop with a catch · deleted
exports.handler = async (event) => {
  for (let i = 0; i < event.Records.length; i++) {
    const body = JSON.parse(event.Records[i].body);
    await ship(body).catch((error) => {
      console.log(error);
    });
  }
  return {};
};

//: context.fail · retried
exports.handler = function (event, context) {
  Promise.all(event.Records.map((record) => ship(record)))
    .then(() => context.succeed("done"))
    .catch((error) => context.fail(error));
};

//: context.succeed in the catch · deleted
exports.handler = function (event, context) {
  Promise.all(event.Records.map((record) => ship(record)))
    .then(() => context.succeed("done"))
    .catch((error) => {
      console.error(error);
      context.succeed("failed");
    });
};

//: context.done with the error · retried
exports.handler = function (event, context) {
  Promise.all(event.Records.map((record) => ship(record)))
    .then(() => context.done(null, "done"))
    .catch((error) => context.done(error));
};

//: the error is returned · deleted
exports.handler = async (event) => {
  try {
    await Promise.all(event.Records.map((record) => ship(record)));
  } catch (error) {
    console.log(error);
    return error;
  }
  return "ok";
};

//: failures by filter of a flag · partly retried
exports.handler = async (event) => {
  const results = await Promise.all(
    event.Records.map(async (record) => {
      try {
        await ship(record);
        return { success: true, messageId: record.messageId };
      } catch (error) {
        return { success: false, messageId: record.messageId };
      }
    }),
  );
  const failed = results.filter((result) => !result.success);
  return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) };
};

//: failures by flatMap of settled results · partly retried
exports.handler = async ({ Records }) => {
  const settled = await Promise.allSettled(Records.map(ship));
  return {
    batchItemFailures: settled.flatMap((one, at) =>
      one.status === "rejected" ? [{ itemIdentifier: Records[at].messageId }] : [],
    ),
  };
};

//: class with a bound method · retried
class Worker {
  constructor(client) {
    this.client = client;
    this.handle = this.handle.bind(this);
  }
  async handle(event) {
    for (const record of event.Records) await this.one(record);
  }
  async one(record) {
    await ship(record);
  }
}
exports.handler = new Worker({}).handle;

//: errors are collected and thrown together · retried
exports.handler = async (event) => {
  const errors = [];
  await Promise.all(event.Records.map((record) => ship(record).catch((error) => errors.push(error))));
  if (errors.length) throw new AggregateError(errors);
};

//: switch by the kind, logged · deleted
exports.handler = async (event) => {
  for (const record of event.Records) {
    const body = JSON.parse(record.body);
    try {
      switch (body.kind) {
        case "a":
          await ship(record);
          break;
        case "b":
          await park(record);
          break;
        default:
          console.warn("unknown kind");
      }
    } catch (error) {
      console.error("failed", error);
    }
  }
};

//: chunks of the batch · retried
const chunk = (all, size) => {
  const chunks = [];
  for (let i = 0; i < all.length; i += size) chunks.push(all.slice(i, i + size));
  return chunks;
};
exports.handler = async (event) => {
  for (const part of chunk(event.Records, 2)) {
    await Promise.all(part.map((record) => ship(record)));
  }
};

//: middy with the middleware · partly retried
exports.handler = middy()
  .use(sqsPartialBatchFailure())
  .handler(async (event) => Promise.allSettled(event.Records.map(async (record) => ship(record))));
