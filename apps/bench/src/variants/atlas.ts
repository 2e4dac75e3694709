import { createQueue, type Queue, type QueueJob } from "@atlasqueue/core";
import { startAtlasWorker } from "./atlas-worker.ts";
import { asGranted, migrate } from "./granted.ts";
import { productionObservers } from "./observers.ts";
import type { Ours, QueueOf, WorkerNews } from "./ours.ts";
import { startProgram } from "./programs/start-program.ts";
import type { BenchQueue, Payload, ServerUrls, Variant } from "./variant.ts";

/** Each is loaded when a scenario asks for it: a commit whose names differ in one of them can still do the others. */
const ours: Ours = {
  migrate,
  open: openAtlas,
  startWorker: async (servers, work) => startAtlasWorker(servers, work),
  startWorkerProcess: (servers, hear) =>
    startProgram(new URL("./programs/worker.ts", import.meta.url), servers, (news) => hear(news as WorkerNews)),
  startDeployed: async (...args) => (await import("./programs/start-deployed.ts")).startDeployed(...args),
  limit: async (...args) => (await import("./ours/limit.ts")).limit(...args),
  openCounts: async (servers) => (await import("./ours/counts.ts")).openCounts(servers),
  openTraced: async (servers) => (await import("./ours/traced.ts")).openTraced(servers),
  readPlans: async ({ postgres }) => (await import("./ours/plans.ts")).readPlans(postgres),
  emptyTables: async (servers) => (await import("./ours/seed.ts")).emptyTables(servers),
  seedHistory: async (...args) => (await import("./ours/seed.ts")).seedHistory(...args),
  seedBacklog: async (...args) => (await import("./ours/seed.ts")).seedBacklog(...args),
};

/** This system, logging warnings and counting metrics as in production. */
export const atlas: Variant = {
  name: "atlasqueue",
  title: "AtlasQueue",
  kind: "ours",
  store: "postgres",
  share: 1,
  ours,
  open: (servers) => openAtlas(servers),
  async serve(servers) {
    await migrate(servers);
    return startProgram<{ url: string }>(new URL("./programs/api.ts", import.meta.url), asGranted(servers));
  },
};

/** Its producer and worker, on one queue. */
async function openAtlas(
  servers: ServerUrls,
  { tenant, queue = "default", groupOf, dueOf, prepared = true }: QueueOf = {},
): Promise<BenchQueue> {
  await migrate(servers);
  const { observe } = productionObservers();
  const producer = createQueue({
    databaseUrl: asGranted(servers).postgres,
    redisUrl: servers.redis_memory,
    preparedStatements: prepared,
    observe,
    ...(tenant !== undefined && { tenant }),
  });
  let added = 0;
  let succeeded = 0;
  const count = () => void (succeeded += 1);
  const jobOf = (payload: Payload) => ({
    type: "noop",
    queue,
    payload,
    ...(groupOf && { group: groupOf(payload.n) }),
    ...(dueOf && { run_at: dueOf(payload.n).toISOString() }),
  });
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
    async work(handle, _purpose, concurrency) {
      const tenants = tenant === undefined ? {} : { tenants: [tenant] };
      const slots = concurrency === undefined ? {} : { concurrency };
      const worker = startAtlasWorker(servers, { queue, ...tenants, ...slots, prepared, handle, succeeded: count });
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
