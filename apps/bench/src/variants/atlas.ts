import { createQueue, migrateDatabase, type Queue, type QueueJob } from "@atlasqueue/core";
import { startAtlasWorker } from "./atlas-worker.ts";
import { productionObservers } from "./observers.ts";
import { startProgram } from "../programs/start-program.ts";
import type { BenchQueue, Payload, ServerUrls, Variant } from "./variant.ts";

/** This system, logging warnings and counting metrics as in production. */
export const atlas: Variant = {
  name: "atlasqueue",
  title: "AtlasQueue",
  kind: "ours",
  store: "postgres",
  share: 1,
  open: (servers) => openAtlas(servers),
  async serve(servers) {
    await migrateDatabase(servers.postgres);
    return startProgram<{ url: string }>(new URL("../programs/api.ts", import.meta.url), servers);
  },
};

type QueueOf = {
  queue?: string;
  /** The group of the n-th job. Default: none has one. */
  groupOf?: (n: number) => string;
  /** Whether statements are prepared. Default: they are. */
  prepared?: boolean;
};

/** Its producer and worker, on a queue of that name. */
export async function openAtlas(
  servers: ServerUrls,
  { queue = "default", groupOf, prepared = true }: QueueOf = {},
): Promise<BenchQueue> {
  await migrateDatabase(servers.postgres);
  const { observe } = productionObservers();
  const producer = createQueue({
    databaseUrl: servers.postgres,
    redisUrl: servers.redis_memory,
    preparedStatements: prepared,
    observe,
  });
  let added = 0;
  let succeeded = 0;
  const count = () => void (succeeded += 1);
  const jobOf = (payload: Payload) => ({ type: "noop", queue, payload, ...(groupOf && { group: groupOf(payload.n) }) });
  return {
    async add(payload) {
      added += 1;
      await producer.submit(jobOf(payload));
    },
    async addMany(payloads) {
      added += payloads.length;
      await producer.submitMany(payloads.map(jobOf));
    },
    async addFlow(parents, child) {
      added += parents.length + 1;
      await addFlow(producer, parents.map(jobOf), jobOf(child));
    },
    async work(handle) {
      const worker = startAtlasWorker(servers, { queue, prepared, handle, succeeded: count });
      // By its own events: no index in the database serves this question.
      return { settled: async () => succeeded >= added, stop: worker.stop };
    },
    close: () => producer.close(),
  };
}

const flow_jobs_max = 1_000;

/** In one request; with more jobs than one takes, the last waits for jobs that exist. */
async function addFlow(producer: Queue, parents: readonly QueueJob[], child: QueueJob): Promise<void> {
  if (parents.length < flow_jobs_max) {
    const jobs = parents.map((job, at) => ({ ...job, ref: `p${at}` }));
    await producer.submitFlow({ jobs: [...jobs, { ...child, depends_on: jobs.map(({ ref }) => ref) }] });
    return;
  }
  const stored = await producer.submitMany([...parents]);
  await producer.submitFlow({ jobs: [{ ...child, depends_on: stored.map(({ id }) => id) }] });
}
