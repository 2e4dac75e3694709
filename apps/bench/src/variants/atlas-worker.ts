import { connectDatabase, observeAll, redisSignal } from "@atlasqueue/core";
import { defaultKeys } from "@atlasqueue/core/internal";
import { defineHandler, startWorker, type WorkerDeps } from "@atlasqueue/worker";
import { z } from "zod";
import { asGranted } from "./granted.ts";
import { productionObservers } from "./observers.ts";
import type { Work } from "./ours.ts";
import type { Watch } from "./ours/journey.ts";
import type { Payload, ServerUrls } from "./variant.ts";

const most_at_once = 500;
const schema = z.object({ n: z.number(), text: z.string().optional() });

/** What nobody asks for through the seam. */
type Watched = {
  /** Default: none, as its users have it who do not trace. */
  tracing?: WorkerDeps["tracing"];
  /** Default: nobody. */
  watch?: Watch;
};

/** Our worker in this process, for jobs of the type "noop". */
export function startAtlasWorker(servers: ServerUrls, work: Work & Watched): { stop(): Promise<void> } {
  const connections = connectDatabase({
    url: asGranted(servers).postgres,
    connectionsMax: 5,
    timeoutMs: 5_000,
    preparedStatements: work.prepared ?? true,
  });
  const redis = redisSignal({ url: servers.redis_memory, keys: defaultKeys });
  const database = work.watch?.database(connections) ?? connections;
  const signal = work.watch?.signal(redis) ?? redis;
  const { logger, observe } = productionObservers();
  const counting = observeAll(observe, ({ event }) => {
    if (event === "job_succeeded") work.succeeded();
  });
  const all = work.watch ? observeAll(counting, work.watch.observe) : counting;
  const handlers = [defineHandler("noop", schema, (payload) => work.handle(payload as Payload))];
  const worker = startWorker(
    { database, signal, logger, observe: all, tracing: work.tracing },
    {
      handlers,
      queues: [work.queue, ...(work.others ?? [])],
      ...(work.tenants && { tenants: work.tenants }),
      concurrency: work.concurrency ?? most_at_once,
    },
  );
  return {
    async stop() {
      await worker.stop({ deadlineMs: 5_000 });
      await Promise.all([redis.close(), connections.close()]);
    },
  };
}
