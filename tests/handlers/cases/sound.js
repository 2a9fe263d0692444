// Constructs that decide whether a failure is retried.

//: getter decides · retried
class Tracker {
  constructor() { this.failed = []; }
  get ok() { return this.failed.length === 0; }
}
exports.handler = async (event) => {
  const tracker = new Tracker();
  for (const record of event.Records) {
    try { await ship(record); } catch (error) { tracker.failed.push(error); }
  }
  if (!tracker.ok) throw new Error("failed");
};

//: getter of an object · retried
exports.handler = async (event) => {
  const tracker = { failed: [], get ok() { return this.failed.length === 0; } };
  for (const record of event.Records) {
    try { await ship(record); } catch (error) { tracker.failed.push(error); }
  }
  if (!tracker.ok) throw new Error("failed");
};

//: method of an object changes it · retried
const tracker = { failed: 0, fail() { this.failed += 1; } };
exports.handler = async (event) => {
  for (const record of event.Records) {
    try { await ship(record); } catch (error) { tracker.fail(); }
  }
  if (tracker.failed) throw new Error("failed");
};

//: method of a base class that swallows · deleted
class Base {
  async one(record) { try { await ship(record); } catch (error) { console.error(error); } }
}
class Orders extends Base {
  async one(record) { console.log("start"); await super.one(record); }
}
const orders = new Orders();
exports.handler = async (event) => { for (const record of event.Records) await orders.one(record); };

//: constructor of a base class · retried
class Base {
  constructor(strict) { this.strict = strict; }
  async one(record) { try { await ship(record); } catch (error) { if (this.strict) throw error; } }
}
class Orders extends Base { constructor() { super(true); } }
exports.handler = async (event) => { const orders = new Orders(); for (const record of event.Records) await orders.one(record); };

//: null is not the default · retried
const make = ({ quiet = true }) => async (record) => {
  try { await ship(record); } catch (error) { if (!quiet) throw error; }
};
const run = make({ quiet: null });
exports.handler = async (event) => { for (const record of event.Records) await run(record); };

//: undefined is the default · deleted
const make = ({ quiet = true }) => async (record) => {
  try { await ship(record); } catch (error) { console.error(error); if (!quiet) throw error; }
};
const run = make({ quiet: undefined });
exports.handler = async (event) => { for (const record of event.Records) await run(record); };

//: instanceof of classes of the file · retried
class Failed { constructor(error) { this.error = error; } }
const attempt = async (record) => { try { return await ship(record); } catch (error) { return new Failed(error); } };
exports.handler = async (event) => {
  for (const record of event.Records) {
    const result = await attempt(record);
    if (result instanceof Failed) throw result.error;
  }
};

//: static field · retried
class Tracker { static failed = 0; }
exports.handler = async (event) => {
  for (const record of event.Records) {
    try { await ship(record); } catch (error) { Tracker.failed += 1; }
  }
  if (Tracker.failed > 0) throw new Error("failed");
};

//: field set by reflection · retried
const tracker = { failed: false };
exports.handler = async (event) => {
  for (const record of event.Records) {
    try { await ship(record); } catch (error) { Reflect.set(tracker, "failed", true); }
  }
  if (tracker.failed) throw new Error("failed");
};

//: length set to zero · deleted
exports.handler = async (event) => {
  const errors = [];
  for (const record of event.Records) {
    try { await ship(record); } catch (error) { console.error(error); errors.push(error); }
  }
  errors.length = 0;
  if (errors.length) throw errors[0];
};

//: generator outside of its try · retried
function* started(records) { for (const record of records) yield ship(record); }
exports.handler = async (event) => {
  let all = [];
  try { all = started(event.Records); } catch (error) { console.error(error); }
  for (const one of all) await one;
};

//: bound argument · retried
async function process(strict, record) {
  try { await ship(record); } catch (error) { if (strict) throw error; }
}
const run = process.bind(null, true);
exports.handler = async (event) => { for (const record of event.Records) await run(record); };

//: key of ReceiveMessage · deleted · silent: unknown key
exports.handler = async (event) => {
  for (const record of event.Records) {
    try {
      await ship(record.Body);
    } catch {}
  }
};

//: name from the keys of ReceiveMessage · deleted · silent: unknown key
exports.handler = async (event) => {
  for (const { Body, MessageId } of event.Records) {
    try {
      await ship(Body, MessageId);
    } catch {}
  }
};

//: either key · deleted
exports.handler = async (event) => {
  for (const record of event.Records) {
    try {
      await ship(record.Body ?? record.body);
    } catch {}
  }
};

//: records of S3 in a test event · retried
exports.handler = async (event) => {
  for (const record of event.Records) {
    for (const upload of JSON.parse(record.body).Records) await ship(upload);
  }
};

//: optional records of S3 · deleted
exports.handler = async (event) => {
  for (const record of event.Records) {
    try {
      await Promise.all(JSON.parse(record.body).Records?.map((upload) => ship(upload)) ?? []);
    } catch {}
  }
};
