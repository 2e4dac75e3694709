import { setTimeout as delay } from "node:timers/promises";
import { percentile } from "../../run/statistics.ts";
import { makePayload } from "../../run/payload.ts";
import type { Ours } from "../../variants/ours.ts";
import type { BenchQueue, ServerUrls } from "../../variants/variant.ts";
import { onlyOurs, oursOf, type Figure, type Scenario } from "../scenario.ts";

const slots = 20;
const handler_ms = 20;
/** The neighbour's jobs, as a part of those of a measurement: it must not run out of them. */
const crowd_part = 0.5;
const crowd_jobs_min = 4_000;
const batch_jobs = 1_000;
/** Of one group that may run at once: more than there are slots, so that it alone could fill them all. */
const group_concurrency = 100;
const seconds_max = 12;
const rest_ms = 25;
const burst_jobs = 10;
const burst_rest_ms = 200;
const warm_up_ms = 1_500;

type Setting = { name: string; by: "tenant" | "group"; fair: boolean };
const settings: readonly Setting[] = [
  { name: "tenants", by: "tenant", fair: false },
  { name: "groups in turn", by: "group", fair: true },
  { name: "groups, oldest first", by: "group", fair: false },
];

/**
 * A small tenant, or group, alone and beside one with a hundred thousand jobs: from the call of submit to the handler's
 * first line, for jobs that come one by one, and ten at once. Handlers take 20 ms, and there are 20 slots.
 */
export const noisyNeighbour: Scenario = {
  name: "noisy-neighbour",
  minutes: 6,
  suits: onlyOurs,
  async run(variant, servers, effort) {
    const ours = oursOf(variant);
    const seconds = Math.min(seconds_max, effort.sustain_seconds / 2);
    const crowd = Math.max(crowd_jobs_min, Math.ceil(effort.jobs * crowd_part));
    const figures: Figure[] = [];
    for (const setting of settings) {
      const alone = await measure({ ours, servers, setting, crowd: 0, seconds });
      const beside = await measure({ ours, servers, setting, crowd, seconds });
      for (const kind of ["one by one", "ten at once"] as const)
        figures.push(...compared(`${setting.name}, ${kind}`, alone[kind], beside[kind]));
    }
    return figures;
  },
};

function compared(name: string, alone: readonly number[], beside: readonly number[]): Figure[] {
  const at = (p: number, waits: readonly number[], which: string): Figure => ({
    scenario: `${name}: ${which} p${p}`,
    unit: "ms",
    value: percentile(waits, p),
  });
  const ratio = percentile(beside, 99) / percentile(alone, 99);
  return [
    ...[50, 99].map((p) => at(p, alone, "alone")),
    ...[50, 99].map((p) => at(p, beside, "beside the crowd")),
    { scenario: `${name}: p99 beside ÷ alone`, unit: "×", value: ratio },
  ];
}

type Waits = Record<"one by one" | "ten at once", number[]>;
type Measurement = { ours: Ours; servers: ServerUrls; setting: Setting; crowd: number; seconds: number };

/** How long the jobs of the small one wait. */
async function measure({ ours, servers, setting, crowd, seconds }: Measurement): Promise<Waits> {
  const { by, fair } = setting;
  // A queue of its own for each measurement: what the last one left waiting is nobody's neighbour here.
  const queue = `noisy-${by}-${fair}-${crowd}`;
  const tenant = (who: string) => (by === "tenant" ? who : "small");
  const openAs = (who: string) =>
    ours.open(servers, { tenant: tenant(who), queue, ...(by === "group" && { groupOf: () => who }) });
  const small = await openAs("small");
  const big = await openAs("big");
  await ours.limit(servers, { tenant: "small", queue }, { group_concurrency, fair });
  const began = new Map<number, number>();
  const entered = new Map<number, (wait_ms: number) => void>();
  const add = (to: BenchQueue, numbers: readonly number[]) => to.addMany(numbers.map((n) => makePayload(n)));
  const worker = await ours.startWorker(servers, {
    queue,
    tenants: [...new Set([tenant("small"), tenant("big")])],
    concurrency: slots,
    async handle({ n }) {
      entered.get(n)?.(performance.now() - (began.get(n) ?? NaN));
      await delay(handler_ms);
    },
    succeeded() {},
  });
  try {
    for (let made = 0; made < crowd; made += batch_jobs)
      await add(
        big,
        Array.from({ length: Math.min(batch_jobs, crowd - made) }, (_, at) => -1 - made - at),
      );
    await delay(warm_up_ms);
    let made = 0;
    const waitsOf = async (count: number): Promise<number[]> => {
      const numbers = Array.from({ length: count }, () => made++);
      const waits = numbers.map((n) => new Promise<number>((resolve) => entered.set(n, resolve)));
      for (const n of numbers) began.set(n, performance.now());
      const [, ...waited] = await Promise.all([add(small, numbers), ...waits]);
      return waited;
    };
    const waits: Waits = { "one by one": [], "ten at once": [] };
    for (const [kind, count, rest] of [
      ["one by one", 1, rest_ms],
      ["ten at once", burst_jobs, burst_rest_ms],
    ] as const)
      for (const end = performance.now() + seconds * 500; performance.now() < end; await delay(rest))
        waits[kind].push(...(await waitsOf(count)));
    return waits;
  } finally {
    await worker.stop();
    await Promise.all([small.close(), big.close()]);
  }
}
