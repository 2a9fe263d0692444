//: an exported function with a local helper, logged · deleted
async function one(record: SQSRecord) {
  try {
    await ship(record);
  } catch (error: unknown) {
    console.error(error);
  }
}
export async function handler(event: SQSEvent) {
  await Promise.all(event.Records.map(one));
}

//: a class with private members · retried
class Consumer {
  private readonly name: string = "orders";
  public handle = async (event: SQSEvent) => {
    for (const record of event.Records) {
      await ship({ name: this.name, record });
    }
  };
}
const consumer = new Consumer();
export const handler = consumer.handle;

//: first record only · unread
export async function handler(event: SQSEvent) {
  const records: SQSRecord[] = event.Records;
  await ship(records[0].body);
  return {};
}

//: results without a look · deleted
export const handler = async (event: SQSEvent) => {
  await Promise.allSettled(event.Records.map((record: SQSRecord) => ship(record)));
};
