import { createQueue } from "@atlasqueue/core";
import { openTelemetry } from "@atlasqueue/core/opentelemetry";
import { Command } from "@commander-js/extra-typings";
import { startServers } from "../run/servers.ts";
import { makeBatches } from "../run/payload.ts";
import { startAtlasWorker } from "../variants/atlas-worker.ts";
import { asGranted, migrate } from "../variants/granted.ts";
import type { ServerUrls } from "../variants/variant.ts";

// pnpm bench:tracing: what the tracing port costs a worker whose program has registered no SDK. Processor time of this
// process alone, which is steadier than a rate; with the port and without it in turns, the order changing each time.
const { jobs, pairs } = new Command("pnpm bench:tracing")
  .description("Compare the processor time of a job with the tracing port and without it, where no SDK is.")
  .option("--jobs <n>", "in one measurement", Number, 20_000)
  .option("--pairs <n>", "measurements of each", Number, 20)
  .parse(process.argv.slice(2), { from: "user" })
  .opts();

const batch_jobs = 1_000;
const ways = { without: undefined, with: openTelemetry() };
type Way = keyof typeof ways;

/** Processor time of one job, in microseconds. */
async function measure(servers: ServerUrls, way: Way): Promise<number> {
  const queue = createQueue({ databaseUrl: asGranted(servers).postgres, redisUrl: servers.redis_memory });
  for (const batch of makeBatches(jobs, batch_jobs))
    await queue.submitMany(batch.map((payload) => ({ type: "noop", payload })));
  await queue.close();
  const all = Promise.withResolvers<void>();
  let left = jobs;
  const before = process.cpuUsage();
  const worker = startAtlasWorker(servers, {
    queue: "default",
    tracing: ways[way],
    handle: () => {},
    succeeded: () => void ((left -= 1) === 0 && all.resolve()),
  });
  await all.promise;
  const { user, system } = process.cpuUsage(before);
  await worker.stop();
  return (user + system) / jobs;
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

/** What the port is asked where no SDK is, in nanoseconds; a claim asks twice, a settlement and a submission once. */
function askedNs(): number {
  const calls = 20_000_000;
  let on = 0;
  const began = performance.now();
  for (let call = 0; call < calls; call += 1) if (ways.with.on()) on += 1;
  if (on > 0) throw new Error("an SDK is registered");
  return ((performance.now() - began) * 1e6) / calls;
}

const servers = await startServers();
try {
  const { urls } = await servers.fresh();
  await migrate(urls);
  for (const way of ["without", "with"] as const) await measure(urls, way);
  const took: Record<Way, number[]> = { without: [], with: [] };
  for (let pair = 0; pair < pairs; pair += 1) {
    const order: Way[] = pair % 2 === 0 ? ["without", "with"] : ["with", "without"];
    for (const way of order) took[way].push(await measure(urls, way));
  }
  const ratios = took.with.map((us, pair) => us / (took.without[pair] ?? 1));
  const [low = 0, high = 0] = [0.25, 0.75].map((part) => ratios.toSorted((a, b) => a - b)[Math.floor(part * pairs)]);
  process.stdout.write(
    `a question whether anybody traces: ${askedNs().toFixed(1)} ns\n` +
      `without the port ${median(took.without).toFixed(2)} µs a job, with it ${median(took.with).toFixed(2)}; ` +
      `ratio of ${pairs} pairs: median ${median(ratios).toFixed(4)}, quartiles ${low.toFixed(4)} and ${high.toFixed(4)}\n`,
  );
} finally {
  await servers.stop();
}
