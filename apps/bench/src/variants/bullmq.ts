import { FlowProducer, Queue, Worker, type ConnectionOptions } from "bullmq";
import { reportError } from "./report-error.ts";
import type { BenchQueue, Payload, ServerUrls, Variant } from "./variant.ts";

const queue_name = "bench";
const best_in_flight = 100;
/** Its production guide asks for removal; ours keeps its rows, so this is in BullMQ's favour. */
const defaultJobOptions = { removeOnComplete: true, removeOnFail: true };

/** BullMQ on a Redis without persistence: as fast as it gets, and a crash loses the jobs. */
export const bullmqMemory = bullmq("bullmq-memory", "BullMQ, memory only", "redis", (servers) => servers.redis_memory);

/** BullMQ on a Redis that fsyncs each write before it answers: the durable setting. */
export const bullmqDurable = bullmq(
  "bullmq-durable",
  "BullMQ, fsync always",
  "redis, durable",
  (servers) => servers.redis_durable,
);

function bullmq(name: string, title: string, store: Variant["store"], urlOf: (servers: ServerUrls) => string): Variant {
  return {
    name,
    title,
    kind: "peer",
    store,
    share: 1,
    open: async (servers) => openQueue(address(urlOf(servers))),
  };
}

async function openQueue(connection: ConnectionOptions): Promise<BenchQueue> {
  const queue = new Queue<Payload>(queue_name, { connection, defaultJobOptions });
  queue.on("error", reportError);
  await queue.waitUntilReady();
  const flows = new FlowProducer({ connection });
  flows.on("error", reportError);
  // There the job that waits is called the parent.
  const inFlow = (data: Payload) => ({ name: "noop", queueName: queue_name, data, opts: defaultJobOptions });
  return {
    add: (payload) => queue.add("noop", payload),
    addMany: (payloads) => queue.addBulk(payloads.map((data) => ({ name: "noop", data }))),
    addFlow: (parents, child) => flows.add({ ...inFlow(child), children: parents.map(inFlow) }),
    async work(handle, _purpose, concurrency = best_in_flight) {
      const worker = new Worker<Payload>(queue_name, async (job) => handle(job.data), { connection, concurrency });
      worker.on("error", reportError);
      await worker.waitUntilReady();
      return {
        async settled() {
          const counts = await queue.getJobCounts("waiting", "active", "waiting-children");
          return Object.values(counts).every((count) => count === 0);
        },
        stop: () => worker.close(),
      };
    },
    async close() {
      await Promise.all([queue.close(), flows.close()]);
    },
  };
}

function address(url: string): ConnectionOptions {
  const { hostname, port, username, password } = new URL(url);
  const login = { ...(username && { username }), ...(password && { password: decodeURIComponent(password) }) };
  // Null is what its guide requires for a worker's connection.
  return { host: hostname, port: Number(port), ...login, maxRetriesPerRequest: null };
}
