import { connectDatabase, observeAll, redisSignal } from "@atlasqueue/core";
import { createFollowUps, defaultKeys, defaultTenant } from "@atlasqueue/core/internal";
import { createSubmitter } from "@atlasqueue/core/internal/http";
import { submitJob } from "@atlasqueue/contract";
import { startAtlasWorker } from "../atlas-worker.ts";
import { productionObservers } from "../observers.ts";
import type { Traced } from "../ours.ts";
import type { Payload, ServerUrls } from "../variant.ts";
import { noteJourneys, type Noting } from "./journey.ts";

/** A producer and a worker in this process, with all journeys noted. */
export async function openTraced(servers: ServerUrls): Promise<Traced> {
  const journeys = noteJourneys();
  const { watch } = journeys;
  const producer = openProducer(servers, journeys);
  const worker = startAtlasWorker(servers, { queue: "default", handle: () => {}, succeeded: () => {}, watch });
  return {
    add: producer.add,
    async close() {
      await producer.close();
      // It settles what it has claimed; jobs that it has not even begun are no part of the figures.
      await worker.stop();
      return journeys;
    },
  };
}

/** As `createQueue` puts it together, with someone watching its parts. */
function openProducer({ postgres, redis_memory }: ServerUrls, { watch, submitted, named }: Noting) {
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
    async add(payload: Payload): Promise<void> {
      const times = submitted();
      const request = submitJob.parse({ type: "noop", queue: "default", payload });
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
