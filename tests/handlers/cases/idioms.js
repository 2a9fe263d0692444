//: dropped by void · deleted
exports.handler = async (event) => {
  for (const record of event.Records) void ship(record.body);
};
//: first success · deleted
exports.handler = async (event) => {
  await Promise.any(event.Records.map((record) => ship(record.body)));
};
//: pause between attempts · deleted
const pause = (time) => new Promise((resolve) => setTimeout(resolve, time));
exports.handler = async (event) => {
  for (const record of event.Records) {
    for (let attempt = 0; attempt < 3; attempt++) {
      try {
        await ship(record.body);
        break;
      } catch (error) {
        console.error(error);
        await pause(1);
      }
    }
  }
};
//: promise that is rejected · retried
exports.handler = async (event) => {
  for (const record of event.Records) {
    await new Promise((resolve, reject) => ship(record.body).then(resolve, reject));
  }
};
//: functions in a table that swallow · deleted
const quiet = async (message) => {
  try { await ship(message); } catch (error) { console.error(error); }
};
const actions = { a: quiet, b: async (message) => { await ship(message).catch(() => {}); } };
exports.handler = async (event) => {
  for (const record of event.Records) {
    const message = JSON.parse(record.body);
    await actions[message.kind](message);
  }
};
//: event that is recognised · deleted
exports.handler = async (event) => {
  if (!Array.isArray(event.Records) || typeof event.Records === "undefined" || event.httpMethod) throw new Error("no queue");
  for (const record of event.Records) {
    try { await ship(record.body); } catch (error) { console.error(error); }
  }
};
//: concat with one item · partly retried
exports.handler = async (event) => {
  let batchItemFailures = [];
  for (const record of event.Records) {
    try { await ship(record.body); } catch { batchItemFailures = batchItemFailures.concat({ itemIdentifier: record.messageId }); }
  }
  return { batchItemFailures };
};
//: concat with several lists · partly retried
exports.handler = async (event) => {
  const results = await Promise.all(event.Records.map(async (record) => {
    try { await ship(record.body); return []; } catch { return [{ itemIdentifier: record.messageId }]; }
  }));
  return { batchItemFailures: [].concat(...results) };
};
//: push by its prototype · partly retried
exports.handler = async (event) => {
  const batchItemFailures = [];
  for (const record of event.Records) {
    try { await ship(record.body); } catch { Array.prototype.push.call(batchItemFailures, { itemIdentifier: record.messageId }); }
  }
  return { batchItemFailures };
};
//: length of a set · deleted · silent: the comparison is not computed
exports.handler = async (event) => {
  const errors = new Set();
  for (const record of event.Records) {
    try { await ship(record.body); } catch (error) { errors.add(error); }
  }
  if (errors.length > 0) throw new Error("failed");
};
//: forEach has no promises · retried
exports.handler = async (event) => {
  await Promise.all(event.Records.forEach(async (record) => { await ship(record.body); }));
};
//: method that is replaced · deleted
class Orders {
  async one(record) { await ship(record.body); }
}
const original = Orders.prototype.one;
Orders.prototype.one = async function (...given) {
  try { return await original.apply(this, given); } catch (error) { console.error(error); }
};
const orders = new Orders();
exports.handler = async (event) => {
  for (const record of event.Records) await orders.one(record);
};
