//: stops, and names the failed message only · partly retried · effect: rest unnamed
exports.handler = async (event) => {
  const batchItemFailures = [];
  for (const record of event.Records) {
    try {
      await ship(JSON.parse(record.body));
    } catch (error) {
      batchItemFailures.push({ itemIdentifier: record.messageId });
      break;
    }
  }
  return { batchItemFailures };
};

//: returns the failed message from a loop with an index · partly retried · effect: rest unnamed
exports.handler = async (event) => {
  for (let i = 0; i < event.Records.length; i++) {
    const record = event.Records[i];
    try {
      await ship(record.body);
    } catch (error) {
      console.error(error);
      return { batchItemFailures: [{ itemIdentifier: record.messageId }] };
    }
  }
  return { batchItemFailures: [] };
};

//: names the current message outside of the loop · partly retried · effect: rest unnamed
exports.handler = async (event) => {
  let current;
  try {
    for (const { messageId, body } of event.Records) {
      current = messageId;
      await ship(body);
    }
  } catch (error) {
    return { batchItemFailures: [{ itemIdentifier: current }] };
  }
  return { batchItemFailures: [] };
};

//: names the rest by a slice · partly retried
exports.handler = async (event) => {
  for (const [at, record] of event.Records.entries()) {
    try {
      await ship(record.body);
    } catch (error) {
      return { batchItemFailures: event.Records.slice(at).map((one) => ({ itemIdentifier: one.messageId })) };
    }
  }
  return { batchItemFailures: [] };
};

//: names the rest in a second loop · partly retried
exports.handler = async (event) => {
  const batchItemFailures = [];
  for (let i = 0; i < event.Records.length; i += 1) {
    try {
      await ship(event.Records[i].body);
    } catch (error) {
      for (let j = i; j < event.Records.length; j += 1) {
        batchItemFailures.push({ itemIdentifier: event.Records[j].messageId });
      }
      break;
    }
  }
  return { batchItemFailures };
};

//: all at once · partly retried
exports.handler = async (event) => {
  const batchItemFailures = [];
  await Promise.all(event.Records.map(async (record) => {
    try {
      await ship(record.body);
    } catch (error) {
      batchItemFailures.push({ itemIdentifier: record.messageId });
    }
  }));
  return { batchItemFailures };
};

//: return for messages of another kind · retried · effect: rest skipped
exports.handler = async (event) => {
  for (const record of event.Records) {
    const order = JSON.parse(record.body);
    if (order.kind !== "a") return;
    await ship(order);
  }
};

//: return in a switch · retried · effect: rest skipped
exports.handler = async (event) => {
  for (const record of event.Records) {
    const { kind } = JSON.parse(record.body);
    switch (kind) {
      case "skip":
        return { statusCode: 204 };
      default:
        await ship(record.body);
    }
  }
  return { statusCode: 200 };
};

//: break with an index · retried · effect: rest skipped
exports.handler = async (event) => {
  for (let i = 0; i < event.Records.length; i++) {
    const order = JSON.parse(event.Records[i].body);
    if (order.kind === "skip") break;
    await ship(order);
  }
};

//: return in a function for all records · retried · effect: rest skipped
const all = async (records) => {
  for (const record of records) {
    const order = JSON.parse(record.body);
    if (order.kind === "skip") return false;
    await ship(order);
  }
  return true;
};
exports.handler = async (event) => {
  await all(event.Records);
};

//: return in a callback for each record · retried
exports.handler = async (event) => {
  await Promise.all(event.Records.map(async (record) => {
    const order = JSON.parse(record.body);
    if (order.kind === "skip") return;
    await ship(order);
  }));
};

//: continue of a labelled loop · retried
exports.handler = async (event) => {
  records: for (const record of event.Records) {
    for (const line of JSON.parse(record.body).lines) {
      if (line.kind === "skip") continue records;
      await ship(line);
    }
  }
};

//: break of an inner loop · retried
exports.handler = async (event) => {
  for (const record of event.Records) {
    for (const line of JSON.parse(record.body).lines) {
      if (line.kind === "skip") break;
      await ship(line);
    }
  }
};
