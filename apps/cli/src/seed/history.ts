import { defaultTenant, type Deps } from "@atlasqueue/core/internal";
import {
  addFigures,
  createTally,
  foldMinutes,
  noFigures,
  writeRollups,
  type Rollup,
} from "@atlasqueue/core/internal/tools";
import { kindsOf } from "./kinds.ts";
import type { DayShape } from "./jobs.ts";

const fold_rows = 2_000;
const minutes_a_day = 1_440;
/** The longest wait that is made up. */
const wait_ms_max = 30_000;

type Tally = ReturnType<typeof createTally>;

/**
 * Figures of a day of that shape, and of some days before it: every day like this one, a little more or less. Numbered
 * queues have none of their own.
 */
export async function seedHistory(deps: Pick<Deps, "database">, shape: DayShape, days: number): Promise<void> {
  const hours = new Map<number, Map<string, Rollup>>();
  for (const [minutes_ago, tally] of tallyDay(shape)) {
    const rollups = tally.take();
    await writeRollups(deps, rollups, minutes_ago * 60_000);
    const hour = Math.floor(minutes_ago / 60);
    const sums = hours.get(hour) ?? new Map<string, Rollup>();
    hours.set(hour, sums);
    for (const one of rollups) {
      const key = JSON.stringify([one.queue, one.type]);
      const sum = sums.get(key) ?? { tenant: one.tenant, queue: one.queue, type: one.type, ...noFigures() };
      addFigures(sum, one);
      sums.set(key, sum);
    }
  }
  for (const [hour, sums] of hours)
    for (let day = 1; day <= days; day += 1) {
      const rollups = [...sums.values()].map((one) => scaled(one, likeness(day)));
      await writeRollups(deps, rollups, (day * 24 + hour + 0.5) * 3_600_000);
    }
  while ((await foldMinutes(deps, fold_rows)) > 0);
}

/** By how many minutes ago. */
function tallyDay(shape: DayShape): Map<number, Tally> {
  const tallies = new Map<number, Tally>();
  for (const one of ["finished", "open", "dead"] as const) {
    const { own, shares } = kindsOf(one);
    for (const { share, queue, type, status, wait_ms, run_ms } of own)
      for (let left = (shape[one] * share) / shares; left > 0; left -= 1) {
        const moment = Math.random();
        const minutes_ago = Math.floor(minutes_a_day * Math.max(0, 0.998 * moment + 0.05 * Math.sin(moment * 12.566)));
        const tally = tallies.get(minutes_ago) ?? createTally();
        tallies.set(minutes_ago, tally);
        const job = { tenant: defaultTenant, queue, type };
        tally.submitted(job);
        const waited_ms = Math.min(wait_ms_max, wait_ms * (0.3 + 4 * Math.random() ** 6));
        const ran_ms = run_ms * (0.4 + 3 * Math.random() ** 5);
        if (status === "succeeded" || status === "dead") tally.ended(job, status, waited_ms, ran_ms);
        if (status === "failed") tally.ended(job, "retried");
      }
  }
  return tallies;
}

/** How busy a day was, compared with the last one: weekends are quiet. */
const likeness = (day: number) => (day % 7 < 2 ? 0.45 : 0.85 + 0.25 * Math.abs(Math.sin(day)));

function scaled(rollup: Rollup, factor: number): Rollup {
  const of = (count: number) => Math.round(count * factor);
  const made = { ...rollup, waits: rollup.waits.map(of), runs: rollup.runs.map(of) };
  for (const name of ["submitted", "succeeded", "failed", "dead", "retried"] as const) made[name] = of(rollup[name]);
  return made;
}
