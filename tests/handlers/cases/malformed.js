//: parsed before the try · partly retried · effect: fails on a malformed body
exports.handler = async (event) => {
  const batchItemFailures = [];
  for (const record of event.Records) {
    const { id } = JSON.parse(record.body);
    try {
      await ship(id);
    } catch (error) {
      batchItemFailures.push({ itemIdentifier: record.messageId });
    }
  }
  return { batchItemFailures };
};

//: all parsed first · partly retried · effect: fails on a malformed body
exports.handler = async (event) => {
  const orders = event.Records.map(({ body, messageId }) => ({ order: JSON.parse(body), messageId }));
  const batchItemFailures = [];
  await Promise.all(orders.map(async ({ order, messageId }) => {
    try {
      await ship(order);
    } catch (error) {
      batchItemFailures.push({ itemIdentifier: messageId });
    }
  }));
  return { batchItemFailures };
};

//: parsed in the callback, outside of its try · partly retried · effect: fails on a malformed body
exports.handler = async (event) => {
  const batchItemFailures = [];
  await Promise.all(event.Records.map(async (record) => {
    const order = JSON.parse(record.body);
    await ship(order).catch(() => batchItemFailures.push({ itemIdentifier: record.messageId }));
  }));
  return { batchItemFailures };
};

//: settled promises · partly retried
exports.handler = async (event) => {
  const settled = await Promise.allSettled(event.Records.map(async (record) => {
    const order = JSON.parse(record.body);
    await ship(order);
  }));
  const batchItemFailures = [];
  settled.forEach((one, at) => {
    if (one.status === "rejected") batchItemFailures.push({ itemIdentifier: event.Records[at].messageId });
  });
  return { batchItemFailures };
};

//: parsed inside of the try · partly retried
exports.handler = async (event) => {
  const batchItemFailures = [];
  for (const record of event.Records) {
    try {
      await ship(JSON.parse(record.body));
    } catch (error) {
      batchItemFailures.push({ itemIdentifier: record.messageId });
    }
  }
  return { batchItemFailures };
};
