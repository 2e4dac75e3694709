import { submitJob } from "@atlasqueue/contract";
import {
  connectDatabase,
  createLogger,
  createMetrics,
  defaultKeys,
  defaultTenant,
  logEvents,
  migrateDatabase,
  observeAll,
  redisSignal,
  submit,
  type Submission,
} from "@atlasqueue/core";
import { defineHandler, startWorker } from "@atlasqueue/worker";
import { z } from "zod";
import type { BenchQueue, Payload, ServerUrls, Variant } from "./variant.ts";

const concurrency = 500;
const payload = z.object({ n: z.number(), text: z.string().optional() });

/** This system, logging warnings and counting metrics as in production. */
export const atlas: Variant = {
  name: "atlasqueue",
  title: "AtlasQueue",
  kind: "ours",
  store: "postgres",
  share: 1,
  async open(servers) {
    await migrateDatabase(servers.postgres);
    const producer = openProducer(servers);
    return {
      add: (one) => producer.submitMany([one]),
      addMany: (many) => producer.submitMany(many),
      work: (handle) => work(servers, handle),
      close: () => producer.close(),
    };
  },
};

/** The one place to change when `createQueue` takes over from `submit`. */
function openProducer(servers: ServerUrls) {
  const { deps, close } = connect(servers, 10);
  return {
    async submitMany(payloads: Payload[]): Promise<void> {
      const submissions = payloads.map((one): Submission => ({
        tenant: defaultTenant,
        request: submitJob.parse({ type: "noop", payload: one }),
      }));
      await submit(deps, submissions, { idempotency_ttl_seconds: 86_400 });
    },
    close,
  };
}

async function work(servers: ServerUrls, handle: (payload: Payload) => void): ReturnType<BenchQueue["work"]> {
  const { deps, close } = connect(servers, 5);
  const handlers = [defineHandler("noop", payload, (one) => handle(one as Payload))];
  const worker = startWorker(deps, { handlers, concurrency });
  return {
    async settled() {
      const { sql } = deps.database;
      const left = await sql`SELECT 1 FROM jobs WHERE status = 'queued'
        UNION ALL SELECT 1 FROM jobs WHERE status = 'running' LIMIT 1`;
      return left.length === 0;
    },
    async stop() {
      await worker.stop({ deadline_ms: 5_000 });
      await close();
    },
  };
}

function connect(servers: ServerUrls, connections_max: number) {
  const logger = createLogger("warn", "bench");
  const observe = observeAll(logEvents(logger), createMetrics().observe);
  const database = connectDatabase({ url: servers.postgres, connections_max, timeout_ms: 30_000 });
  const signal = redisSignal({ url: servers.redis_memory, keys: defaultKeys });
  const close = async () => {
    await signal.close();
    await database.close();
  };
  return { deps: { database, signal, observe, logger }, close };
}
