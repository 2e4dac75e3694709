import { connectDatabase, observeAll, redisSignal } from "@atlasqueue/core";
import { createFollowUps, createSubmitter, defaultKeys, defaultTenant } from "@atlasqueue/core/internal";
import { submitJob } from "@atlasqueue/contract";
import { atPace } from "../run/pace.ts";
import { makePayload } from "../run/payload.ts";
import { startAtlasWorker } from "../variants/atlas-worker.ts";
import { productionObservers } from "../variants/observers.ts";
import type { ServerUrls } from "../variants/variant.ts";
import { noteJourneys, type Journeys } from "./journey.ts";

type Load = { per_second: number; seconds: number };

/** A producer and a worker in this process at a steady rate, job by job, with all journeys noted. */
export async function traceHalfLoad(servers: ServerUrls, load: Load): Promise<Journeys> {
  const journeys = noteJourneys();
  const { watch } = journeys;
  const producer = openProducer(servers, journeys);
  const worker = startAtlasWorker(servers, { queue: "default", handle: () => {}, succeeded: () => {}, watch });
  const adds: Promise<unknown>[] = [];
  try {
    await atPace(load, (count) => {
      for (let added = 0; added < count; added += 1) adds.push(producer.add(adds.length));
    });
    await Promise.all(adds);
  } finally {
    await producer.close();
    // It settles what it has claimed; jobs that it has not even begun are no part of the figures.
    await worker.stop();
  }
  return journeys;
}

/** As `createQueue` puts it together, with someone watching its parts. */
function openProducer({ postgres, redis_memory }: ServerUrls, { watch, submitted, named }: Journeys) {
  const connections = connectDatabase({
    url: postgres,
    connectionsMax: 4,
    timeoutMs: 10_000,
    preparedStatements: true,
  });
  const database = watch.database(connections);
  const signal = watch.signal(redisSignal({ url: redis_memory, keys: defaultKeys }));
  const deps = { database, signal, observe: observeAll(productionObservers().observe, watch.observe) };
  const followUps = createFollowUps(deps);
  const submitter = createSubmitter({ ...deps, followUps }, { idempotency_ttl_seconds: 86_400 });
  return {
    async add(n: number): Promise<void> {
      const times = submitted();
      const request = submitJob.parse({ type: "noop", queue: "default", payload: makePayload(n) });
      const outcome = await submitter.submit({ tenant: defaultTenant, request }, 1_000);
      if (outcome.kind === "created") named(times, outcome.job.id);
    },
    async close(): Promise<void> {
      await submitter.close();
      await followUps.stop();
      await Promise.all([connections.close(), signal.close()]);
    },
  };
}
