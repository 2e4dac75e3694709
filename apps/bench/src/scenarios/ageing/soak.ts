import { openHttpConnection } from "../../run/http-connection.ts";
import { atPace } from "../../run/pace.ts";
import { makePayload } from "../../run/payload.ts";
import { median } from "../../run/statistics.ts";
import { onlyOurs, oursOf, type Figure, type Scenario } from "../scenario.ts";
import { driftOf } from "./drift.ts";
import { watch, watched, type Sample } from "./watch.ts";

const per_second = 1_000;
/** After a pause as many as are due; one request takes no more than this. */
const batch_max = 500;
const looks = 120;
/** One job in so many fails once and is tried again; one in so many dies. */
const flaky_every = 100;
const dead_every = 1_000;

type Plans = ReadonlyMap<string, string>;

/**
 * An API and a worker under a steady load, with keys, retries, dead letters and a short retention: whether tables,
 * indexes, dead rows, the log, memory and the cost of a job are flat in the second half, and the plans the same.
 */
export const soak: Scenario = {
  name: "soak",
  suits: onlyOurs,
  rounds_max: 1,
  minutes: 11,
  seconds_max: ({ soak_minutes }) => soak_minutes * 60 + 120,
  async run(variant, servers, { soak_minutes }, meter) {
    const ours = oursOf(variant);
    const seconds = soak_minutes * 60;
    let handled = 0;
    let sent = 0;
    // Most of the time as many go as come.
    const deployed = await ours.startDeployed(servers, { handled: (count) => void (handled = count), forgetful: true });
    const { api, worker, stop } = deployed;
    const { look, close } = await watch(servers, { api: api.pid, worker: worker.pid });
    const connection = await openHttpConnection(api.url);
    const samples: (Sample & { waiting: number; cpu_us: number; log_bytes: number })[] = [];
    const scanned: number[] = [];
    let plans: Plans | undefined;
    try {
      const rate = await meter.start([api.pid, worker.pid]);
      const started = performance.now();
      const load = atPace({ per_second, seconds }, async (count) => {
        for (let left = count; left > 0; left -= batch_max) {
          const jobs = Array.from({ length: Math.min(left, batch_max) }, () => jobOf(sent++));
          await connection.post("/v1/jobs/batch", JSON.stringify({ jobs }));
        }
      });
      // A load that fails ends the looks.
      let loading = true;
      const loaded = load.finally(() => (loading = false));
      loaded.catch(() => {});
      let scanned_rows = (await look()).scanned_rows;
      const look_seconds = Math.max(1, seconds / looks);
      while (loading) {
        const before = handled;
        const interval = await meter.start([api.pid, worker.pid]);
        await Promise.race([pauseSeconds(look_seconds), loaded]);
        const done = Math.max(1, handled - before);
        const { costs } = await interval.end(done);
        const sample = await look();
        scanned.push((sample.scanned_rows - scanned_rows) / done);
        ({ scanned_rows } = sample);
        const { client_us = NaN, postgres_us = NaN, redis_us = NaN, wal_bytes = NaN } = costs ?? {};
        const cpu_us = client_us + postgres_us + redis_us;
        samples.push({ ...sample, waiting: sent - handled, cpu_us, log_bytes: wal_bytes });
        if (performance.now() - started > seconds * 500) plans ??= await ours.readPlans(servers);
      }
      await loaded;
      const whole = await rate.end(handled);
      const changed = plans ? changedPlans(plans, await ours.readPlans(servers)) : [];
      const figure = (name: string, unit: Figure["unit"], values: number[], slack: number): Figure => {
        const value = median(values.slice(Math.floor(values.length / 2)));
        return { scenario: `soak: ${name}`, unit, value, ageing: driftOf(values, slack) };
      };
      const ageing = driftOf([0, changed.length], 0);
      return [
        { scenario: "soak", ...whole },
        figure(
          "jobs not done yet",
          "jobs",
          samples.map(({ waiting }) => waiting),
          per_second,
        ),
        ...watched.map(({ of, name, unit, slack }) =>
          figure(
            name,
            unit,
            samples.map((one) => one[of]),
            slack,
          ),
        ),
        figure(
          "CPU a job",
          "µs",
          samples.map(({ cpu_us }) => cpu_us),
          0,
        ),
        figure(
          "log a job",
          "bytes",
          samples.map(({ log_bytes }) => log_bytes),
          0,
        ),
        figure("rows scanned in sequence, a job", "rows", scanned, 1),
        {
          scenario: "soak: plans that changed in the second half",
          unit: "plans",
          value: changed.length,
          ageing: { ...ageing, flat: changed.length === 0, ...(changed.length > 0 && { note: changed.join(", ") }) },
        },
      ];
    } finally {
      connection.close();
      await close();
      await stop();
    }
  },
};

function jobOf(n: number): object {
  const dies = n % dead_every === 0;
  return {
    type: dies || n % flaky_every === 1 ? "flaky" : "noop",
    payload: makePayload(n),
    idempotency_key: `soak-${n}`,
    ...(dies && { max_attempts: 1 }),
  };
}

/** The names of the statements that are run otherwise. */
function changedPlans(before: Plans, after: Plans): string[] {
  return [...before].filter(([name, plan]) => after.get(name) !== plan).map(([name]) => name);
}

const pauseSeconds = (seconds: number) => new Promise<void>((resolve) => setTimeout(resolve, seconds * 1_000));
