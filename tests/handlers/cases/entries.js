//: exported name · retried
const handler = async (event) => { for (const record of event.Records) await ship(record); };
exports.handler = handler;

//: module exports · deleted
async function handler(event) {
  for (const record of event.Records) {
    try { await ship(record); } catch (error) { console.error(error); }
  }
}
module.exports = { handler };

//: module exports member · retried
module.exports.handler = async function (event) {
  for (const record of event.Records) await ship(record);
};

//: middy · retried
const main = async (event) => { for (const record of event.Records) await ship(record); };
module.exports.handler = middy(main);

//: middy with handler · deleted
const main = async (event) => {
  for (const record of event.Records) {
    try { await ship(record); } catch (error) { console.error(error); }
  }
};
exports.handler = middy().use(logging()).handler(main);

//: middy with partial failures · partly retried
const main = async (event) => Promise.allSettled(event.Records.map((record) => ship(record)));
exports.handler = middy(main).use(sqsPartialBatchFailure());

//: middy with partial failures that are caught · deleted
const main = async (event) => Promise.allSettled(event.Records.map(async (record) => {
  try { await ship(record); } catch (error) { console.error(error); }
}));
exports.handler = middy(main).use(sqsPartialBatchFailure());

//: wrapper of the file that catches · deleted · unstated: rest skipped
const quiet = (inner) => async (event, context) => {
  try { return await inner(event, context); } catch (error) { console.error(error); return { statusCode: 500 }; }
};
exports.handler = quiet(async (event) => { for (const record of event.Records) await ship(record); });

//: wrapper of the file that throws · retried
const logged = (inner) => async (event, context) => {
  try { return await inner(event, context); } catch (error) { console.error(error); throw error; }
};
exports.handler = logged(async (event) => { for (const record of event.Records) await ship(record); });

//: wrapper from elsewhere, caught inside · deleted
exports.handler = instrument(async (event) => {
  for (const record of event.Records) {
    try { await ship(record); } catch (error) { console.error(error); }
  }
});

//: wrapper from elsewhere · retried · silent: a wrapper from elsewhere may catch
exports.handler = instrument(async (event) => { for (const record of event.Records) await ship(record); });

//: class and bind · deleted
class Shipper {
  async handler(event) {
    for (const record of event.Records) {
      try { await this.one(record); } catch (error) { console.error(error); }
    }
  }
  async one(record) { await ship(record); }
}
const shipper = new Shipper();
exports.handler = shipper.handler.bind(shipper);

//: class with an arrow property · retried
class Shipper {
  handle = async (event) => { for (const record of event.Records) await this.one(record); };
  one = async (record) => { await ship(record); };
}
exports.handler = new Shipper().handle;

//: class with a constructor · retried
class Shipper {
  constructor() { this.errors = []; }
  async one(record) {
    try { await ship(record); } catch (error) { this.errors.push(error); }
  }
  async all(event) {
    for (const record of event.Records) await this.one(record);
    if (this.errors.length) throw this.errors[0];
  }
}
exports.handler = async (event) => new Shipper().all(event);

//: arrow around a method · deleted
class Shipper {
  async all(event) {
    for (const record of event.Records) {
      try { await ship(record); } catch (error) { console.error(error); }
    }
  }
}
const shipper = new Shipper();
exports.handler = (event) => shipper.all(event);

//: callback with an error · retried
exports.handler = (event, context, callback) => {
  Promise.all(event.Records.map((record) => ship(record)))
    .then(() => callback(null, "done"))
    .catch((error) => callback(error));
};

//: callback without an error · deleted
exports.handler = (event, context, callback) => {
  Promise.all(event.Records.map((record) => ship(record)))
    .then(() => callback(null, "done"))
    .catch((error) => { console.error(error); callback(null); });
};

//: callback with a response · partly retried
exports.handler = (event, context, callback) => {
  Promise.allSettled(event.Records.map((record) => ship(record))).then((results) => {
    const batchItemFailures = [];
    results.forEach((result, i) => {
      if (result.status === "rejected") batchItemFailures.push({ itemIdentifier: event.Records[i].messageId });
    });
    callback(null, { batchItemFailures });
  });
};

//: not async, nothing awaited · retried
exports.handler = (event) => {
  event.Records.forEach((record) => { ship(record); });
};

//: first record only · unread
exports.handler = async (event) => {
  const record = event.Records[0];
  await ship(record);
};

//: first body only · unread
exports.handler = async (event) => {
  const { body } = event.Records[0];
  await ship(JSON.parse(body));
  return { statusCode: 200 };
};

//: destructured first record · unread
exports.handler = async ({ Records: [record] }) => { await ship(record); };

//: return in the loop · unread
exports.handler = async (event) => {
  for (const record of event.Records) {
    await ship(record);
    return { statusCode: 200 };
  }
};

//: last record only · unread
exports.handler = async (event) => { await ship(event.Records.pop()); };

//: first record, rest passed on · retried
exports.handler = async (event) => {
  const [first, ...rest] = event.Records;
  await ship(first);
  for (const record of rest) await ship(record);
};

//: whole event passed on · retried
exports.handler = async (event) => {
  console.log(event.Records[0]);
  await ship(event);
};

//: response · partly retried
exports.handler = async (event) => {
  const batchItemFailures = [];
  for (const record of event.Records) {
    try { await ship(record); } catch { batchItemFailures.push({ itemIdentifier: record.messageId }); }
  }
  return { batchItemFailures };
};

//: response with Object.assign · partly retried
exports.handler = async (event) => {
  const response = { statusCode: 200 };
  const failures = [];
  for (const record of event.Records) {
    try { await ship(record); } catch { failures.push({ itemIdentifier: record.messageId }); }
  }
  return Object.assign(response, { batchItemFailures: failures });
};

//: response with spread · partly retried
exports.handler = async (event) => {
  let failures = [];
  for (const record of event.Records) {
    try { await ship(record); } catch { failures = [...failures, { itemIdentifier: record.messageId }]; }
  }
  return { ...{ statusCode: 200 }, batchItemFailures: failures };
};

//: response from a helper · partly retried
const one = async (record) => {
  try { await ship(record); return null; } catch { return { itemIdentifier: record.messageId }; }
};
exports.handler = async (event) => {
  const results = await Promise.all(event.Records.map(one));
  return { batchItemFailures: results.filter((result) => result !== null) };
};

//: response with filter Boolean · partly retried
const one = async (record) => {
  try { await ship(record); } catch { return { itemIdentifier: record.messageId }; }
};
exports.handler = async (event) => {
  const results = await Promise.all(event.Records.map(one));
  return { batchItemFailures: results.filter(Boolean) };
};

//: response of strings · batch retried
exports.handler = async (event) => {
  const batchItemFailures = [];
  for (const record of event.Records) {
    try { await ship(record); } catch { batchItemFailures.push(record.messageId); }
  }
  return { batchItemFailures };
};

//: response with a wrong key · batch retried
exports.handler = async (event) => {
  const batchItemFailures = [];
  for (const record of event.Records) {
    try { await ship(record); } catch { batchItemFailures.push({ id: record.messageId }); }
  }
  return { batchItemFailures };
};

//: response as JSON · batch retried
exports.handler = async (event) => {
  const batchItemFailures = [];
  for (const record of event.Records) {
    try { await ship(record); } catch { batchItemFailures.push({ itemIdentifier: record.messageId }); }
  }
  return JSON.stringify({ batchItemFailures });
};

//: empty response in the catch · deleted · unstated: rest skipped
exports.handler = async (event) => {
  try {
    for (const record of event.Records) await ship(record);
  } catch (error) {
    return { batchItemFailures: [] };
  }
};

//: whole batch reported · partly retried
exports.handler = async (event) => {
  try {
    for (const record of event.Records) await ship(record);
    return { batchItemFailures: [] };
  } catch (error) {
    return { batchItemFailures: event.Records.map((record) => ({ itemIdentifier: record.messageId })) };
  }
};

//: powertools · partly retried
const processor = new BatchProcessor(EventType.SQS);
const one = async (record) => { await ship(record.body); };
exports.handler = async (event, context) => processPartialResponse(event, one, processor, { context });

//: powertools, record handler catches · deleted
const processor = new BatchProcessor(EventType.SQS);
const one = async (record) => {
  try { await ship(record.body); } catch (error) { console.error(error); }
};
exports.handler = async (event, context) => processPartialResponse(event, one, processor, { context });

//: deletes each success itself · retried · silent: deletes processed messages itself
exports.handler = async (event) => {
  for (const record of event.Records) {
    await ship(record);
    await client.send(new DeleteMessageCommand({ ReceiptHandle: record.receiptHandle }));
  }
};

//: callback passed on · deleted · silent: other code gets a function
exports.handler = (event, context, callback) => {
  eachOf(event.Records, (record) => ship(record)).then(() => callback(null, "done"));
};

//: handed to another file, whose result is returned · retried · silent: the result of other code is returned
exports.handler = async (event) => {
  const run = instrument(ship);
  return run(event);
};

//: handed to another file, whose result is dropped · retried
exports.handler = async (event) => {
  await ship(event);
};

//: records of several services, of which one is a queue · deleted
exports.handler = async (event) => {
  for (const record of event.Records) {
    if (record.eventSource === "aws:s3") {
      await ship(record.s3.object.key);
      continue;
    }
    try { await ship(record.body); } catch (error) { console.error(error); }
  }
};

//: values with defaults · deleted
exports.handler = async (event) => {
  for (const record of event.Records) {
    const order = JSON.parse(record.body);
    const a = order.a || "a";
    const b = order.b || "b";
    const c = order.c || "c";
    const d = order.d || "d";
    const e = order.e || "e";
    const f = order.f || "f";
    const g = order.g || "g";
    const h = order.h || "h";
    const lines = order.lines ? order.lines.length : 0;
    try {
      await ship(record, a, b, c, d, e, f, g, h, lines);
    } catch (error) {
      console.error(error);
    }
  }
};
