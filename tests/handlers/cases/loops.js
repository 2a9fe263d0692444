//: awaited · retried
exports.handler = async (event) => {
  for (const record of event.Records) await ship(record);
};

//: logged · deleted
exports.handler = async (event) => {
  for (const record of event.Records) {
    try { await ship(record); } catch (error) { console.error(error); }
  }
};

//: rethrown · retried
exports.handler = async (event) => {
  for (const record of event.Records) {
    try { await ship(record); } catch (error) { console.error(error); throw error; }
  }
};

//: another error · retried
exports.handler = async (event) => {
  for (const record of event.Records) {
    try { await ship(record); } catch (error) { throw new Error("not shipped", { cause: error }); }
  }
};

//: catch around the loop · deleted · unstated: rest skipped
exports.handler = async (event) => {
  try {
    for (const record of event.Records) await ship(record);
  } catch (error) {
    console.error(error);
  }
  return { statusCode: 200 };
};

//: catch with an error response · deleted · unstated: rest skipped
exports.handler = async (event) => {
  try {
    for (const record of event.Records) await ship(record);
    return { statusCode: 200 };
  } catch (error) {
    return { statusCode: 500, body: error.message };
  }
};

//: catch callback that logs · deleted
exports.handler = async (event) => {
  for (const record of event.Records) await ship(record).catch((error) => console.error(error));
};

//: catch callback by name · deleted
exports.handler = async (event) => {
  for (const record of event.Records) await ship(record).catch(console.error);
};

//: catch callback that throws · retried
exports.handler = async (event) => {
  for (const record of event.Records) {
    await ship(record).catch((error) => { throw new Error(error.message); });
  }
};

//: flag in the catch callback · retried
exports.handler = async (event) => {
  let failed = 0;
  for (const record of event.Records) await ship(record).catch(() => { failed += 1; });
  if (failed > 0) throw new Error("failed");
};

//: sync work · retried
exports.handler = async (event) => {
  for (const record of event.Records) {
    const result = await ship(JSON.parse(record.body));
    console.log(result);
  }
};

//: classic for · deleted
exports.handler = async (event) => {
  for (let i = 0; i < event.Records.length; i++) {
    try { await ship(event.Records[i]); } catch (error) { console.warn(error); }
  }
};

//: classic for, awaited · retried
exports.handler = async (event) => {
  for (let i = 0; i < event.Records.length; i++) await ship(event.Records[i]);
};

//: for in · retried
exports.handler = async (event) => {
  for (const i in event.Records) await ship(event.Records[i]);
};

//: while with shift · retried
exports.handler = async (event) => {
  const records = [...event.Records];
  while (records.length) await ship(records.shift());
};

//: entries · deleted
exports.handler = async (event) => {
  for (const [i, record] of event.Records.entries()) {
    try { await ship(record); } catch (error) { console.log(i, error); }
  }
};

//: destructured event · deleted
exports.handler = async ({ Records }) => {
  for (const { body } of Records) {
    try { await ship(body); } catch { console.log("failed"); }
  }
};

//: finally with continue · deleted
exports.handler = async (event) => {
  for (const record of event.Records) {
    try { await ship(record); } finally { continue; }
  }
};

//: finally with return · deleted · unstated: rest skipped
exports.handler = async (event) => {
  try {
    for (const record of event.Records) await ship(record);
  } finally {
    return { statusCode: 200 };
  }
};

//: finally without effect · retried
exports.handler = async (event) => {
  for (const record of event.Records) {
    try { await ship(record); } finally { console.log("done"); }
  }
};

//: labelled loops · deleted
exports.handler = async (event) => {
  outer: for (const record of event.Records) {
    for (let attempt = 0; attempt < 2; attempt++) {
      try { await ship(record); continue outer; } catch (error) { console.log(error); }
    }
  }
};

//: labelled loops that throw · retried
exports.handler = async (event) => {
  outer: for (const record of event.Records) {
    for (let attempt = 0; attempt < 2; attempt++) {
      try { await ship(record); continue outer; } catch (error) { console.log(error); }
    }
    throw new Error("gave up");
  }
};

//: retries, then throws · retried
exports.handler = async (event) => {
  for (const record of event.Records) {
    for (let attempt = 1; attempt <= 3; attempt++) {
      try { await ship(record); break; } catch (error) { if (attempt === 3) throw error; }
    }
  }
};

//: process exit · retried
exports.handler = async (event) => {
  for (const record of event.Records) {
    try { await ship(record); } catch (error) { console.error(error); process.exit(1); }
  }
};

//: switch · deleted
exports.handler = async (event) => {
  for (const record of event.Records) {
    try {
      switch (JSON.parse(record.body).kind) {
        case "a": await ship(record); break;
        default: await ship(record);
      }
    } catch (error) { console.error(error); }
  }
};

//: only parsing is guarded · retried
exports.handler = async (event) => {
  for (const record of event.Records) {
    let body;
    try { body = JSON.parse(record.body); } catch { continue; }
    await ship(body);
  }
};

//: sent elsewhere · deleted · silent: the message may be safe
exports.handler = async (event) => {
  for (const record of event.Records) {
    try { await ship(record); } catch (error) { await park(record); }
  }
};

//: unrelated call in the catch · deleted
exports.handler = async (event) => {
  for (const record of event.Records) {
    try { await ship(record); } catch { await tell("failed"); }
  }
};

//: condition decides · retried · silent: not the same on all paths
exports.handler = async (event) => {
  for (const record of event.Records) {
    try { await ship(record); } catch (error) { if (isFatal(error)) throw error; }
  }
};

//: counted and compared · retried
exports.handler = async (event) => {
  let done = 0;
  for (const record of event.Records) {
    try { await ship(record); done++; } catch (error) { console.error(error); }
  }
  if (done !== event.Records.length) throw new Error("some failed");
};

//: errors thrown together · retried
exports.handler = async (event) => {
  const errors = [];
  for (const record of event.Records) {
    try { await ship(record); } catch (error) { errors.push(error); }
  }
  if (errors.length) throw new AggregateError(errors);
};

//: errors logged together · deleted
exports.handler = async (event) => {
  const errors = [];
  for (const record of event.Records) {
    try { await ship(record); } catch (error) { errors.push(error); }
  }
  console.error(`${errors.length} failed`);
};

//: set of done ids · retried
exports.handler = async (event) => {
  const done = new Set();
  for (const { messageId, body } of event.Records) {
    try { await ship(body); done.add(messageId); } catch (error) { console.error(error); }
  }
  if (event.Records.some((r) => !done.has(r.messageId))) throw new Error("failed");
};

//: map of results · retried
exports.handler = async (event) => {
  const results = {};
  for (const record of event.Records) {
    try { await ship(record); results[record.messageId] = true; }
    catch { results[record.messageId] = false; }
  }
  if (Object.values(results).includes(false)) throw new Error("failed");
};

//: variable of the module · retried
let failed = false;
exports.handler = async (event) => {
  for (const record of event.Records) {
    try { await ship(record); } catch { failed = true; }
  }
  if (failed) { failed = false; throw new Error("failed"); }
};

//: pages until there is no next one, logged · deleted
exports.handler = async (event) => {
  for (const record of event.Records) {
    try {
      let token;
      while (true) {
        const page = await ship(record.body, token);
        token = page?.next;
        if (!token) break;
      }
    } catch (error) { console.error(error); }
  }
};

//: pages in a loop without a test · deleted
exports.handler = async (event) => {
  for (const record of event.Records) {
    try {
      for (;;) {
        const page = await ship(record.body);
        if (!page?.next) break;
      }
    } catch (error) { console.error(error); }
  }
};

//: a dozen parts, logged · deleted
exports.handler = async (event) => {
  for (const record of event.Records) {
    try {
      for (let part = 0; part < 12; part++) await ship(record, part);
    } catch (error) { console.error(error); }
  }
};

//: attempts in a loop without a test · retried
exports.handler = async (event) => {
  for (const record of event.Records) {
    for (let attempt = 0; ; attempt++) {
      try { await ship(record); break; } catch (error) { if (attempt > 1) throw error; }
    }
  }
};

//: a dozen attempts in a loop without a test · retried · silent: only eight iterations are followed
exports.handler = async (event) => {
  for (const record of event.Records) {
    for (let attempt = 0; ; attempt++) {
      try { await ship(record); break; } catch (error) { if (attempt === 11) throw error; }
    }
  }
};

//: lines of a body, logged · deleted
exports.handler = async (event) => {
  for (const record of event.Records) {
    const { lines } = JSON.parse(record.body);
    try {
      await Promise.all(lines.map(async (line) => { await ship(line); }));
    } catch (error) { console.error(error); }
  }
};

//: lines of a body · retried
exports.handler = async (event) => {
  for (const record of event.Records) {
    await Promise.all(JSON.parse(record.body).lines.map((line) => ship(line)));
  }
};

//: lines of a body, without await · deleted
exports.handler = async (event) => {
  for (const record of event.Records) {
    JSON.parse(record.body).lines.forEach(async (line) => { await ship(line); });
  }
};

//: the latest of the lines of a body, logged · deleted
exports.handler = async (event) => {
  for (const record of event.Records) {
    const { lines } = JSON.parse(record.body);
    const latest = lines.sort((one, other) => other.at - one.at)[0];
    const known = lines.find((line) => line.id);
    try { await ship(latest, known); } catch (error) { console.error(error); }
  }
};
