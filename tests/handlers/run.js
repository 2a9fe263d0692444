// Runs handlers on a batch of three messages of which the second fails, and prints the outcome of each.
//
// Usage: node run.js FILE...; prints a line with the path, the outcome and further effects for each file, as run.py does.
// The types of TypeScript are removed by expressions for the few forms that the test data contain.

const fs = require("node:fs");

const seen = new Set();
const requests = [];
let failing = "m2";
const later = () => new Promise((resolve) => setTimeout(resolve, 2));
const isFailing = (given) => {
  const text = JSON.stringify(given) ?? "";
  for (const one of ["m1", "m2", "m3"]) if (text.includes(one)) seen.add(one);
  return text.includes(failing);
};
const work = async (...given) => {
  const fails = isFailing(given);
  await later();
  if (fails) throw new Error("m2");
};

globalThis.fetch = work;

class Exited extends Error {}

const wrapped = (handler) => {
  const uses = [];
  const run = async (event, context) => {
    let response = await handler(event, context);
    for (const use of uses) if (use.after) response = use.after(event, response);
    return response;
  };
  run.use = (one) => (uses.push(one), run);
  run.handler = (one) => ((handler = one), run);
  return run;
};

const modules = {
  "./elsewhere": {
    ship: work,
    park: async () => {},
    tell: async () => {},
    isFatal: () => true,
    instrument: (handler) => handler,
    eachOf: async (all, each) => { for (const one of all) await each(one).catch(() => {}); },
    logging: () => ({}),
    read: (record) => {
      if (isFailing(record)) throw new Error("m2");
      return { record, isOrder: true, next: "more" };
    },
  },
  "@middy/core": wrapped,
  "@middy/sqs-partial-batch-failure": () => ({
    after: (event, settled) => ({
      batchItemFailures: event.Records.filter((record, at) => settled[at].status === "rejected").map((record) => ({
        itemIdentifier: record.messageId,
      })),
    }),
  }),
  "@aws-lambda-powertools/batch": {
    BatchProcessor: class {},
    EventType: { SQS: "SQS" },
    processPartialResponse: async (event, handler) => {
      const batchItemFailures = [];
      for (const record of event.Records) {
        await Promise.resolve().then(() => handler(record)).catch(() => {
          batchItemFailures.push({ itemIdentifier: record.messageId });
        });
      }
      return { batchItemFailures };
    },
  },
  "@aws-sdk/client-sqs": {
    DeleteMessageCommand: class {},
  },
};

const operations = ["receiveMessage", "sendMessage", "sendMessageBatch", "startExecution", "submitJob"];

// A client that records the requests to a service.
class Client {
  async send(command) {
    requests.push([command.operation, command.given ?? {}]);
    await work(command.given);
    return {};
  }
}
for (const operation of operations) {
  Client.prototype[operation] = function (given) {
    requests.push([operation, given]);
    const result = work(given).then(() => ({}));
    result.promise = () => result;
    return result;
  };
  const command = `${operation[0].toUpperCase()}${operation.slice(1)}Command`;
  modules[command] = class { constructor(given) { Object.assign(this, { operation, given }); } };
}
const sdk = new Proxy({}, { get: (_, name) => modules[name] ?? modules["@aws-sdk/client-sqs"][name] ?? Client });
for (const name of ["sqs", "sfn", "batch"]) modules[`@aws-sdk/client-${name}`] = new Proxy(
  modules["@aws-sdk/client-sqs"], { get: (own, name) => modules[name] ?? own[name] ?? Client });
modules["aws-sdk"] = sdk;

const withoutTypes = (text) =>
  text
    .replace(/^(interface|enum) .*$/gm, "")
    .replace(/\b(private|public|readonly) /g, "")
    .replace(/ as [A-Z]\w*(\[\])?/g, "")
    .replace(/<(T|Order)>\(/g, "(")
    .replace(/(\])!/g, "$1")
    .replace(/: (Promise<\w+>|[A-Z]\w*(\[\])?|T|string\[\]|string|unknown)(?=\s*([,)=;{]|=>))/g, "");

const asCommonJs = (text) =>
  text
    .replace(/^import (\{.*\}) from ("[^"]*");$/gm, "const $1 = require($2);")
    .replace(/^import (\w+) from ("[^"]*");$/gm, "const $1 = require($2);")
    .replace(/^export const handler =/m, "const handler = exports.handler =")
    .replace(/^export async function handler/m, "exports.handler = handler;\nasync function handler")
    .replace(/^export \{ (\w+) as handler \};$/m, "exports.handler = $1;");

const run = async (path, fails = "m2", kind = "a") => {
  seen.clear();
  requests.length = 0;
  failing = fails;
  const records = ["m1", "m2", "m3"].map((one) => ({
    messageId: one,
    eventSource: "aws:sqs",
    receiptHandle: `handle of ${one}`,
    body: one === "m2" && kind === "{" ? kind : JSON.stringify({ id: one, kind: one === "m2" ? kind : "a", lines: [{ id: one }] }),
  }));
  const exports = {};
  const module = { exports };
  let text = fs.readFileSync(path, "utf8");
  if (path.endsWith(".ts")) text = asCommonJs(withoutTypes(text));
  const quiet = { log() {}, warn() {}, error() {}, info() {} };
  const exits = { exit() { throw new Exited(); }, env: { OWN: "own", OTHER: "other" } };
  try {
    new Function("exports", "module", "require", "console", "process", text)(
      exports, module, (name) => modules[name], quiet, exits,
    );
  } catch (error) {
    return { failed: true };
  }
  let crash;
  const crashed = new Promise((resolve) => { crash = () => resolve({ failed: true }); });
  process.on("unhandledRejection", crash);
  const called = new Promise((resolve) => {
    const callback = (error, result) => resolve(error ? { failed: true } : { result });
    try {
      const context = { done: callback, fail: (error) => callback(error ?? "failed"), succeed: (result) => callback(null, result) };
      const result = module.exports.handler({ Records: records }, context, callback);
      if (result && result.then) {
        result.then((value) => resolve({ result: value }), () => resolve({ failed: true }));
      } else {
        // Lambda waits for the event loop.
        setTimeout(() => resolve({ result }), 40);
      }
    } catch {
      resolve({ failed: true });
    }
  });
  const { failed, result } = await Promise.race([called, crashed]);
  // What is left runs while nobody listens, like in a frozen environment.
  await new Promise((resolve) => setTimeout(resolve, 20));
  process.off("unhandledRejection", crash);
  return { failed, result };
};

const effects = async (path) => {
  await run(path, "none");
  const found = [];
  const own = requests.filter(([, given]) => given.QueueUrl === "own").map(([name]) => name);
  if (own.some((name) => name.startsWith("sendMessage"))) found.push("feeds own queue");
  const repeats = ([name, given]) => name === "submitJob" || name === "startExecution" && !("name" in given);
  if (requests.some(repeats)) found.push("starts again");
  for (const given of [[], ["none", "skip"]]) {
    await run(path, "none");
    const isProcessed = seen.has("m3");
    const { failed, result } = await run(path, ...given);
    const failures = JSON.stringify(result?.batchItemFailures) ?? "";
    const name = given.length === 0 && failures.includes("m2") ? "rest unnamed" : "rest skipped";
    if (!failed && isProcessed && !seen.has("m3") && !failures.includes("m3") && !found.includes(name)) found.push(name);
  }
  if (await outcome(path) === "partly retried" && (await run(path, "none", "{")).failed) {
    found.push("fails on a malformed body");
  }
  return found.join(", ");
};

const outcome = async (path) => {
  const { failed, result } = await run(path);
  if (failed) return "retried";
  if (typeof result === "string" && result.includes("batchItemFailures")) return "batch retried";
  const failures = result?.batchItemFailures ?? [];
  if (failures.some((one) => !["m1", "m2", "m3"].includes(one?.itemIdentifier))) return "batch retried";
  if (failures.some((one) => one.itemIdentifier === "m2")) return "partly retried";
  return seen.size === 1 ? "unread" : "deleted";
};

(async () => {
  for (const path of process.argv.slice(2)) console.log(`${path}\t${await outcome(path)}\t${await effects(path)}`);
})();
