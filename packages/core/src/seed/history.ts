import { composed } from "../database/composed.ts";
import { textArray } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import { defaultTenant, type Deps } from "../deps.ts";
import { foldMinutes } from "../rollups/fold.ts";
import { addFigures, createTally, noFigures, type Rollup } from "../rollups/tally.ts";
import { writeRollups } from "../rollups/write.ts";
import { namedQueues } from "./kinds.ts";

const page_rows = 20_000;
const fold_rows = 2_000;
const minutes_a_day = 1_440;

type Row = {
  id: string;
  queue: string;
  type: string;
  status: string;
  attempts: number;
  made_minutes_ago: number;
  ended_minutes_ago: number | null;
  waited_ms: number | null;
  ran_ms: number | null;
};

/**
 * The figures of the day, from its jobs, and those of a month before it: every day like this one, a little more or
 * less. Those of numbered queues are in the sums only, under one name.
 */
export async function seedHistory(deps: Pick<Deps, "database">, days: number): Promise<void> {
  const hours = new Map<number, Map<string, Rollup>>();
  for (const [minutes_ago, tally] of await tallyDay(deps)) {
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

/** The day's jobs, by how many minutes ago. */
async function tallyDay(deps: Pick<Deps, "database">) {
  const execute = executeOn({ ...deps.database, timeout_ms: 60_000 });
  const tallies = new Map<number, ReturnType<typeof createTally>>();
  const tallyAt = (minutes_ago: number) => {
    const at = Math.floor(Math.max(0, minutes_ago));
    let tally = tallies.get(at);
    if (!tally) tallies.set(at, (tally = createTally()));
    return tally;
  };
  let after = "00000000-0000-0000-0000-000000000000";
  for (;;) {
    const rows = await execute<Row>({
      text: page,
      params: [defaultTenant, after, page_rows, textArray(namedQueues), minutes_a_day],
    });
    for (const row of rows) note(row, tallyAt);
    after = rows.at(-1)?.id ?? after;
    if (rows.length < page_rows) return tallies;
  }
}

function note(row: Row, tallyAt: (minutes_ago: number) => ReturnType<typeof createTally>): void {
  const job = { tenant: defaultTenant, queue: row.queue, type: row.type };
  tallyAt(row.made_minutes_ago).submitted(job);
  if (row.ended_minutes_ago === null || row.attempts === 0) return;
  const tally = tallyAt(row.ended_minutes_ago);
  for (let attempt = 1; attempt < row.attempts; attempt += 1) tally.ended(job, "retried");
  const became = row.status === "succeeded" ? "succeeded" : row.status === "dead" ? "dead" : "retried";
  tally.ended(job, became, row.waited_ms ?? NaN, row.ran_ms ?? NaN);
}

/** How busy a day was, compared with the last one: weekends are quiet. */
const likeness = (day: number) => (day % 7 < 2 ? 0.45 : 0.85 + 0.25 * Math.abs(Math.sin(day)));

function scaled(rollup: Rollup, factor: number): Rollup {
  const of = (count: number) => Math.round(count * factor);
  return {
    ...rollup,
    submitted: of(rollup.submitted),
    succeeded: of(rollup.succeeded),
    failed: of(rollup.failed),
    dead: of(rollup.dead),
    retried: of(rollup.retried),
    waits: rollup.waits.map(of),
    runs: rollup.runs.map(of),
  };
}

const page = composed(
  "seed/page",
  ["tenant", "after", "rows_max", "named", "minutes_max"],
  `
  SELECT id, CASE WHEN queue = ANY($4::text[]) THEN queue ELSE 'customers' END AS queue, type, status, attempts,
         extract(epoch FROM now() - created_at)::float8 / 60 AS made_minutes_ago,
         CASE WHEN status IN ('succeeded', 'dead', 'failed') THEN extract(epoch FROM now() - updated_at)::float8 / 60 END AS ended_minutes_ago,
         CASE WHEN status <> 'failed' THEN least(extract(epoch FROM started_at - run_at), 30)::float8 * 1000 END AS waited_ms,
         extract(epoch FROM finished_at - started_at)::float8 * 1000 AS ran_ms
  FROM atlasqueue.jobs
  WHERE tenant = $1 AND id > $2::text::uuid AND created_at > now() - make_interval(mins => $5::int)
  ORDER BY id LIMIT $3::int`,
);
