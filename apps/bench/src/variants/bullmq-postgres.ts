import { createPostgresBackend, runMigrations, withBackend } from "bullmq";
import { Pool } from "pg";
import { reportError } from "./report-error.ts";
import type { Payload, Variant } from "./variant.ts";

const queue_name = "bench";
const best_in_flight = 10;
const connections_max = 10;
/** Of a worker with more in flight: PostgreSQL has 200 for all. */
const worker_connections_max = 100;
const { Queue, Worker } = withBackend(createPostgresBackend);

/** BullMQ on its own PostgreSQL backend, with a pool sized as its guide says: connections for the concurrency. */
export const bullmqPostgres: Variant = {
  name: "bullmq-postgres",
  title: "BullMQ on PostgreSQL",
  kind: "peer",
  store: "postgres",
  share: 0.25,
  async open(servers) {
    await migrate(servers.postgres);
    const connection = { connectionString: servers.postgres, max: connections_max };
    const defaultJobOptions = { removeOnComplete: true, removeOnFail: true };
    const queue = new Queue<Payload>(queue_name, { connection, defaultJobOptions });
    queue.on("error", reportError);
    await queue.waitUntilReady();
    return {
      add: (payload) => queue.add("noop", payload),
      addMany: (payloads) => queue.addBulk(payloads.map((data) => ({ name: "noop", data }))),
      async work(handle, _purpose, concurrency = best_in_flight) {
        const pool = { ...connection, max: Math.min(concurrency, worker_connections_max) };
        const options = { connection: pool, concurrency };
        const worker = new Worker<Payload>(queue_name, async (job) => handle(job.data), options);
        worker.on("error", reportError);
        await worker.waitUntilReady();
        return {
          async settled() {
            const { waiting = 0, active = 0 } = await queue.getJobCounts("waiting", "active");
            return waiting + active === 0;
          },
          stop: () => worker.close(),
        };
      },
      close: () => queue.close(),
    };
  },
};

async function migrate(url: string): Promise<void> {
  const pool = new Pool({ connectionString: url, max: 1 });
  const client = await pool.connect();
  try {
    await runMigrations(client);
  } finally {
    client.release();
    await pool.end();
  }
}
