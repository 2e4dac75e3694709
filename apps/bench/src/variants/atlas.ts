import {
  connectDatabase,
  createLogger,
  createMetrics,
  createQueue,
  defaultKeys,
  logEvents,
  migrateDatabase,
  observeAll,
  redisSignal,
} from "@atlasqueue/core";
import { defineHandler, startWorker } from "@atlasqueue/worker";
import { z } from "zod";
import type { BenchQueue, Payload, ServerUrls, Variant } from "./variant.ts";

const concurrency = 500;
const schema = z.object({ n: z.number(), text: z.string().optional() });

/** This system, logging warnings and counting metrics as in production. */
export const atlas: Variant = {
  name: "atlasqueue",
  title: "AtlasQueue",
  kind: "ours",
  store: "postgres",
  share: 1,
  async open(servers) {
    await migrateDatabase(servers.postgres);
    const queue = createQueue({
      databaseUrl: servers.postgres,
      redisUrl: servers.redis_memory,
      observe: observers().observe,
    });
    return {
      add: (payload) => queue.submit({ type: "noop", payload }),
      addMany: (payloads) => queue.submitMany(payloads.map((payload) => ({ type: "noop", payload }))),
      work: (handle) => work(servers, handle),
      close: () => queue.close(),
    };
  },
};

async function work(servers: ServerUrls, handle: (payload: Payload) => void): ReturnType<BenchQueue["work"]> {
  const database = connectDatabase({ url: servers.postgres, connections_max: 5, timeout_ms: 5_000 });
  const signal = redisSignal({ url: servers.redis_memory, keys: defaultKeys });
  let unsettled = 0;
  const { logger, observe } = observers();
  const counting = observeAll(observe, ({ event }) => {
    if (event === "handler_start") unsettled += 1;
    else if (event === "job_succeeded") unsettled -= 1;
  });
  const handlers = [defineHandler("noop", schema, (one) => handle(one as Payload))];
  const worker = startWorker({ database, signal, logger, observe: counting }, { handlers, concurrency });
  return {
    async settled() {
      // First by its own events, as nothing in the database is indexed for this question.
      if (unsettled > 0) return false;
      return (await database.sql`SELECT 1 FROM jobs WHERE status IN ('queued', 'running') LIMIT 1`).length === 0;
    },
    async stop() {
      await worker.stop({ deadline_ms: 5_000 });
      await Promise.all([signal.close(), database.close()]);
    },
  };
}

function observers() {
  const logger = createLogger("warn", "bench");
  return { logger, observe: observeAll(logEvents(logger), createMetrics().observe) };
}
