//: all · retried
exports.handler = async (event) => {
  await Promise.all(event.Records.map(ship));
};

//: all, returned · retried
exports.handler = async (event) => Promise.all(event.Records.map((record) => ship(record)));

//: all of functions that catch · deleted
exports.handler = async (event) => {
  await Promise.all(event.Records.map(async (record) => {
    try { await ship(record); } catch (error) { console.error(error); }
  }));
};

//: all with a catch per promise · deleted
exports.handler = async (event) => {
  await Promise.all(event.Records.map((record) => ship(record).catch((error) => console.error(error))));
};

//: all in a try · deleted
exports.handler = async (event) => {
  try { await Promise.all(event.Records.map(ship)); } catch (error) { console.error(error); }
};

//: all with results checked · retried
exports.handler = async (event) => {
  const results = await Promise.all(event.Records.map(async (record) => {
    try { await ship(record); return true; } catch { return false; }
  }));
  if (results.includes(false)) throw new Error("failed");
};

//: settled and dropped · deleted
exports.handler = async (event) => {
  await Promise.allSettled(event.Records.map(ship));
};

//: settled and logged · deleted
exports.handler = async (event) => {
  const results = await Promise.allSettled(event.Records.map((record) => ship(record)));
  const failed = results.filter((result) => result.status === "rejected");
  failed.forEach((one) => console.error(one.reason));
};

//: settled and thrown · retried
exports.handler = async (event) => {
  const results = await Promise.allSettled(event.Records.map((record) => ship(record)));
  const failed = results.filter((result) => result.status === "rejected");
  if (failed.length > 0) throw failed[0].reason;
};

//: settled, thrown by find · retried
exports.handler = async (event) => {
  const results = await Promise.allSettled(event.Records.map((record) => ship(record)));
  const failed = results.find((result) => result.status === "rejected");
  if (failed) throw failed.reason;
};

//: settled, thrown by some · retried
exports.handler = async (event) => {
  const results = await Promise.allSettled(event.Records.map((record) => ship(record)));
  if (results.some(({ status }) => status === "rejected")) throw new Error("failed");
};

//: settled and reported · partly retried
exports.handler = async (event) => {
  const results = await Promise.allSettled(event.Records.map((record) => ship(record)));
  const batchItemFailures = [];
  results.forEach((result, i) => {
    if (result.status === "rejected") batchItemFailures.push({ itemIdentifier: event.Records[i].messageId });
  });
  return { batchItemFailures };
};

//: settled and reported with filter and map · partly retried
exports.handler = async (event) => {
  const results = await Promise.allSettled(event.Records.map((record) => ship(record)));
  const failed = event.Records.filter((record, i) => results[i].status === "rejected");
  return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) };
};

//: settled and returned · deleted
exports.handler = async (event) => Promise.allSettled(event.Records.map((record) => ship(record)));

//: settled in a variable · deleted
exports.handler = async (event) => {
  const all = event.Records.map((record) => ship(record));
  await Promise.allSettled(all);
  return { ok: true };
};

//: forEach with an async function · deleted
exports.handler = async (event) => {
  event.Records.forEach(async (record) => { await ship(record); });
};

//: forEach by name · deleted
const one = async (record) => { await ship(record); };
exports.handler = async (event) => {
  await event.Records.forEach(one);
};

//: map without all · deleted
const one = async (record) => { await ship(record); };
exports.handler = async (event) => {
  event.Records.map(one);
};

//: call without await · deleted
const one = async (record) => { await ship(record); };
exports.handler = async (event) => {
  for (const record of event.Records) one(record);
};

//: void call · deleted
const one = async (record) => { await ship(record); };
exports.handler = async (event) => {
  for (const record of event.Records) void one(record);
};

//: imported function without await · deleted · silent: it may be synchronous
exports.handler = async (event) => {
  for (const record of event.Records) ship(record);
};

//: pushed and awaited · retried
exports.handler = async (event) => {
  const all = [];
  for (const record of event.Records) all.push(ship(record));
  await Promise.all(all);
};

//: forEach that pushes · retried
exports.handler = async (event) => {
  const all = [];
  event.Records.forEach((record) => all.push(ship(record)));
  await Promise.all(all);
};

//: pushed and never awaited · deleted
const one = async (record) => { await ship(record); };
exports.handler = async (event) => {
  const all = [];
  for (const record of event.Records) all.push(one(record));
  return { started: all.length };
};

//: then chain · retried
exports.handler = (event) => Promise.all(event.Records.map((record) => ship(record).then((result) => console.log(result))));

//: then chain with catch · deleted
exports.handler = (event) =>
  Promise.all(event.Records.map((record) => ship(record)))
    .then(() => ({ statusCode: 200 }))
    .catch((error) => { console.error(error); return { statusCode: 500 }; });

//: then with a second function · deleted
exports.handler = async (event) => {
  for (const record of event.Records) await ship(record).then(() => true, () => false);
};

//: then with a checked second function · retried
exports.handler = async (event) => {
  for (const record of event.Records) {
    const ok = await ship(record).then(() => true, () => false);
    if (!ok) throw new Error("failed");
  }
};

//: reject · retried
exports.handler = (event) => Promise.all(event.Records.map((record) => ship(record)))
  .catch((error) => Promise.reject(new Error(error.message)));

//: returned from the helper · retried
const all = (records) => Promise.all(records.map((record) => ship(record)));
exports.handler = async (event) => { await all(event.Records); };

//: forgotten in the helper · deleted
async function all(records) {
  records.forEach(async (record) => { await ship(record); });
}
exports.handler = async (event) => { await all(event.Records); };

//: sequential reduce · retried
exports.handler = async (event) => {
  await event.Records.reduce((before, record) => before.then(() => ship(record)), Promise.resolve());
};

//: queue from elsewhere · deleted · silent: other code gets a function
exports.handler = async (event) => {
  await eachOf(event.Records, async (record) => { await ship(record); });
};

//: finally passes it on · retried
exports.handler = async (event) => {
  for (const record of event.Records) await ship(record).finally(() => console.log("done"));
};

//: return await in a helper that catches · deleted
async function one(record) {
  try { return await ship(record); } catch (error) { console.error(error); return null; }
}
exports.handler = async (event) => { for (const record of event.Records) await one(record); };

//: return without await in a helper with a catch · retried
async function one(record) {
  try { return ship(record); } catch (error) { console.error(error); return null; }
}
exports.handler = async (event) => { for (const record of event.Records) await one(record); };

//: promise variable awaited · retried
exports.handler = async (event) => {
  for (const record of event.Records) {
    const pending = ship(record);
    console.log("started");
    await pending;
  }
};

//: promise of callbacks · retried
exports.handler = async (event) => {
  for (const record of event.Records) {
    await new Promise((resolve, reject) => { ship(record).then(resolve, reject); });
  }
};

//: race · retried · silent: race is not followed
exports.handler = async (event) => {
  for (const record of event.Records) await Promise.race([ship(record)]);
};

//: read elsewhere, and its field used · deleted
exports.handler = async (event) => {
  for (const record of event.Records) {
    try {
      const order = read(record);
      await ship(order.record);
    } catch (error) { console.error(error); }
  }
};

//: read elsewhere, and taken apart · deleted · unstated: rest skipped
exports.handler = async (event) => {
  try {
    for (const record of event.Records) {
      const { record: order } = read(record);
      await ship(order);
    }
  } catch (error) { return { statusCode: 500 }; }
};

//: read elsewhere, and a method called · deleted
exports.handler = async (event) => {
  for (const record of event.Records) {
    try { await ship(read(record).next.trim(), record); } catch (error) { console.error(error); }
  }
};

//: checked elsewhere · deleted
exports.handler = async (event) => {
  for (const record of event.Records) {
    try { if (read(record)) await ship(record); } catch (error) { console.error(error); }
  }
};

//: checked elsewhere, not caught · retried
exports.handler = async (event) => {
  for (const record of event.Records) {
    if (!read(record).isOrder) continue;
    await ship(record);
  }
};

//: read elsewhere and passed on · deleted · silent: it may be a promise
exports.handler = async (event) => {
  for (const record of event.Records) {
    try { await ship(read(record)); } catch (error) { console.error(error); }
  }
};

//: request without await · deleted
exports.handler = async (event) => {
  for (const record of event.Records) fetch("https://shop", { method: "POST", body: record.body });
};

//: settled, named by the position · partly retried
exports.handler = async (event) => {
  const results = await Promise.allSettled(event.Records.map((record) => ship(record)));
  const failed = results.map((one, at) => (one.status === "rejected" ? event.Records[at].messageId : null));
  return { batchItemFailures: failed.filter(Boolean).map((itemIdentifier) => ({ itemIdentifier })) };
};

//: settled, receipt handles by the position · batch retried
exports.handler = async (event) => {
  const results = await Promise.allSettled(event.Records.map((record) => ship(record)));
  const batchItemFailures = [];
  results.forEach((one, at) => {
    if (one.status === "rejected") batchItemFailures.push({ itemIdentifier: event.Records[at].receiptHandle });
  });
  return { batchItemFailures };
};

//: map of functions that return a promise · deleted
const one = async (record) => { await ship(record); };
exports.handler = async (event) => {
  event.Records.map(async (record) => one(record));
};
