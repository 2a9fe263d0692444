//: awaited · retried
export const handler = async (event: SQSEvent): Promise<void> => {
  for (const record of event.Records) await ship(record);
};

//: logged · deleted
export const handler = async (event: SQSEvent): Promise<void> => {
  for (const record of event.Records) {
    try { await ship(JSON.parse(record.body) as Order); } catch (error: unknown) { console.error(error); }
  }
};

//: function declaration · deleted
export async function handler(event: SQSEvent): Promise<Answer> {
  try {
    await Promise.all(event.Records.map((record: SQSRecord) => ship(record)));
  } catch (error: unknown) {
    console.error(error as Error);
  }
  return { statusCode: 200 };
}

//: typed response · partly retried
export const handler = async (event: SQSEvent): Promise<SQSBatchResponse> => {
  const batchItemFailures: SQSBatchItemFailure[] = [];
  for (const record of event.Records) {
    try { await ship(record); } catch { batchItemFailures.push({ itemIdentifier: record.messageId }); }
  }
  return { batchItemFailures };
};

//: typed variable · partly retried
export const handler: SQSHandler = async (event: SQSEvent) => {
  const response: SQSBatchResponse = { batchItemFailures: [] };
  for (const record of event.Records) {
    try { await ship(record); } catch { response.batchItemFailures.push({ itemIdentifier: record.messageId }); }
  }
  return response;
};

//: class · retried
class Shipper {
  private readonly failed: string[] = [];
  public async handle(event: SQSEvent): Promise<void> {
    for (const record of event.Records) {
      try { await ship(record); } catch { this.failed.push(record.messageId); }
    }
    if (this.failed.length > 0) throw new Error(this.failed.join());
  }
}
export const handler = async (event: SQSEvent): Promise<void> => new Shipper().handle(event);

//: class that swallows · deleted
class Shipper {
  public async handle(event: SQSEvent): Promise<void> {
    await Promise.allSettled(event.Records.map((record: SQSRecord) => this.one(record)));
  }
  private async one(record: SQSRecord): Promise<void> { await ship(record); }
}
const shipper: Shipper = new Shipper();
export const handler = shipper.handle.bind(shipper);

//: exported later · retried
const main = async (event: SQSEvent): Promise<void> => {
  await Promise.all(event.Records.map(async (record: SQSRecord): Promise<void> => { await ship(record); }));
};
export { main as handler };

//: rejected results · retried
export const handler = async (event: SQSEvent): Promise<void> => {
  const results = await Promise.allSettled(event.Records.map((record: SQSRecord) => ship(record)));
  const failed = results.filter((r) => r.status === "rejected") as PromiseRejectedResult[];
  if (failed.length) throw failed[0]!.reason;
};

//: rejected results, logged · deleted
export const handler = async (event: SQSEvent): Promise<void> => {
  const results = await Promise.allSettled(event.Records.map((record: SQSRecord) => ship(record)));
  for (const result of results) {
    if (result.status === "rejected") console.error(result.reason);
  }
};

//: forEach · deleted
export const handler = async (event: SQSEvent): Promise<void> => {
  event.Records.forEach(async (record: SQSRecord): Promise<void> => { await ship(record); });
};

//: optional chain · retried
export const handler = async (event: SQSEvent): Promise<void> => {
  for (const record of event?.Records ?? []) await ship(record);
};

//: first record · unread
export const handler = async (event: SQSEvent): Promise<void> => {
  const order: Order = JSON.parse(event.Records[0]!.body);
  await ship(order);
};

//: interface and generic · deleted
interface Order { id: string; }
const parse = <T>(body: string): T => JSON.parse(body) as T;
export const handler = async (event: SQSEvent): Promise<void> => {
  for (const record of event.Records) {
    const order = parse<Order>(record.body);
    try { await ship(order); } catch (error: unknown) { console.error(error); }
  }
};

//: strings as failures · batch retried
export const handler = async (event: SQSEvent): Promise<unknown> => {
  const failed: string[] = [];
  for (const record of event.Records) {
    try { await ship(record); } catch { failed.push(record.messageId); }
  }
  return { batchItemFailures: failed };
};

//: nested helper with status · retried
const one = async (record: SQSRecord): Promise<boolean> => {
  try { await ship(record); return true; } catch { return false; }
};
export const handler = async (event: SQSEvent): Promise<void> => {
  for (const record of event.Records) {
    if (!(await one(record))) throw new Error(record.messageId);
  }
};

//: nested helper with an unused status · deleted
const one = async (record: SQSRecord): Promise<boolean> => {
  try { await ship(record); return true; } catch { return false; }
};
export const handler = async (event: SQSEvent): Promise<void> => {
  for (const record of event.Records) await one(record);
};

//: enum of states · retried
enum State { Done, Failed }
export const handler = async (event: SQSEvent): Promise<void> => {
  const states: string[] = [];
  for (const record of event.Records) {
    try { await ship(record); states.push("done"); } catch { states.push("failed"); }
  }
  if (states.includes("failed")) throw new Error("failed");
};
