// A small application written for BullMQ. Moving it changes this import, and QUEUE_URL.
import { FlowProducer, Queue, QueueEvents, UnrecoverableError, Worker } from "bullmq";

type Order = { id: number; items: string[]; card: string };

/** Takes orders, and resolves with what became of each. */
export async function runShop(url: string, orders: Order[]): Promise<{ log: string[]; shipped: unknown[] }> {
  const connection = { url };
  const log: string[] = [];
  const payments = new Queue<Order>("payments", {
    connection,
    defaultJobOptions: { attempts: 3, backoff: { type: "fixed", delay: 100 }, removeOnFail: { age: 3_600 } },
  });
  const events = new QueueEvents("payments", { connection });
  await events.waitUntilReady();

  const payer = new Worker<Order>(
    "payments",
    async (job) => {
      if (job.data.card === "stolen") throw new UnrecoverableError("the card is stolen");
      if (job.data.card === "slow" && job.attemptsMade === 0) throw new Error("the bank does not answer");
      await job.updateProgress(100);
      return { paid: job.data.id };
    },
    { connection, concurrency: 5 },
  );
  payer.on("failed", (job, error) => log.push(`payment ${job?.data.id} failed: ${error.message}`));
  payer.on("completed", (job) => log.push(`payment ${job.data.id} completed`));
  const packer = new Worker(
    "packing",
    async (job) => {
      if (job.name === "pack") return job.data.item;
      return { order: job.data.id, parcels: Object.values(await job.getChildrenValues()).toSorted() };
    },
    { connection },
  );

  const flows = new FlowProducer({ connection });
  const shipped: unknown[] = [];
  const packing = new QueueEvents("packing", { connection });
  await packing.waitUntilReady();
  for (const order of orders) {
    const payment = await payments.add("charge", order, { jobId: `order-${order.id}` });
    await payments.add("charge", order, { jobId: `order-${order.id}` });
    try {
      await payment.waitUntilFinished(events, 60_000);
    } catch (error) {
      log.push(`order ${order.id} is cancelled: ${(error as Error).message}`);
      continue;
    }
    const children = order.items.map((item) => ({ name: "pack", queueName: "packing", data: { item } }));
    const { job } = await flows.add({ name: "ship", queueName: "packing", data: { id: order.id }, children });
    shipped.push(await job.waitUntilFinished(packing, 60_000));
  }
  for (const one of [payer, packer, flows, payments, events, packing]) await one.close();
  return { log, shipped };
}
