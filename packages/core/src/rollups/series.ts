import type { StatsSeries, StatsWindow } from "@atlasqueue/contract";
import { composed } from "../database/composed.ts";
import { textArray } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { sumColumns } from "./columns.ts";
import { percentiles } from "./histogram.ts";
import { addFigures, noFigures, type Figures } from "./tally.ts";

const steps: Record<StatsWindow, { step_seconds: number; items: number }> = {
  "15m": { step_seconds: 60, items: 15 },
  "1h": { step_seconds: 60, items: 60 },
  "24h": { step_seconds: 900, items: 96 },
  "30d": { step_seconds: 14_400, items: 180 },
};

/**
 * The figures of a window, without gaps: of a queue, a type, a type in a queue or everything. Sums over queues and types
 * are kept, so it reads one row for each minute, and one for each hour before the last two days, however many queues
 * there are: 3,600 rows at most.
 *
 * @example
 * const { items } = await readSeries(deps, "default", { window: "1h", queue: "mails" });
 */
export async function readSeries(
  deps: Pick<Deps, "database">,
  tenant: string,
  { window, queue = "", type = "" }: { window: StatsWindow; queue?: string | undefined; type?: string | undefined },
): Promise<StatsSeries> {
  const { step_seconds, items } = steps[window];
  const rows = await readRollups(deps, tenant, { queues: [queue], type, step_seconds, items, times: true });
  const [first] = rows;
  if (!first) throw new Error("a series gave no row");
  const buckets = Array.from({ length: items }, noFigures);
  const total = noFigures();
  for (const row of rows) {
    const bucket = row.bucket === null ? undefined : buckets[row.bucket];
    if (!bucket) continue;
    const figures = { ...row, waits: numbersOf(row.waits), runs: numbersOf(row.runs) };
    addFigures(bucket, figures);
    addFigures(total, figures);
  }
  const timeOf = (at: number) => new Date(first.from.getTime() + at * step_seconds * 1_000).toISOString();
  return {
    window,
    step_seconds,
    from: first.from.toISOString(),
    to: first.now.toISOString(),
    items: buckets.map((figures, at) => ({ at: timeOf(at), ...show(figures) })),
    total: show(total),
  };
}

function show({ waits, runs, ...sums }: Figures): StatsSeries["total"] {
  const { submitted, succeeded, failed, dead, retried } = sums;
  return { submitted, succeeded, failed, dead, retried, wait: percentiles(waits), run: percentiles(runs) };
}

/** An array as PostgreSQL writes it. */
const numbersOf = (text: string | null): number[] => JSON.parse(`[${text?.slice(1, -1) ?? ""}]`) as number[];

/** Jobs that died in the last quarter of an hour, and in the 24 hours before it. */
export type RecentDeaths = { lately: number; before: number; since: Date | null };

const quarter_ms = 900_000;
const day_ms = 86_400_000;

export async function recentDeaths(deps: Pick<Deps, "database">, tenant: string): Promise<RecentDeaths> {
  const deaths: RecentDeaths = { lately: 0, before: 0, since: null };
  for (const { at, now, dead } of await readRollups(deps, tenant, { step_seconds: 900, items: 98 })) {
    if (at === null) continue;
    const ago_ms = now.getTime() - at.getTime();
    if (ago_ms < quarter_ms) deaths.lately += dead;
    else if (ago_ms < day_ms + quarter_ms) deaths.before += dead;
    if (ago_ms < quarter_ms && dead > 0 && !(deaths.since && deaths.since <= at)) deaths.since = at;
  }
  return deaths;
}

export type Rollup = Omit<Figures, "waits" | "runs"> & {
  now: Date;
  from: Date;
  queue: string;
  /** When its minute or hour began, and the place of its step. Null in the one row there is when there are no figures. */
  at: Date | null;
  bucket: number | null;
  /** As PostgreSQL writes arrays; null without `times`. */
  waits: string | null;
  runs: string | null;
};

/** The figures of some queues, or of all together, of a type or of all, as they are kept, since the first of some steps. */
export function readRollups(
  deps: Pick<Deps, "database">,
  tenant: string,
  of: { queues?: readonly string[]; type?: string; step_seconds: number; items: number; times?: boolean },
): Promise<readonly Rollup[]> {
  const { queues = [""], type = "", step_seconds, items, times = false } = of;
  const params = [tenant, textArray(queues), type, step_seconds, items, String(times)];
  return executeOn(deps.database)<Rollup>({ text: series, params });
}

// Each figure is in a minute or, once it is folded, in an hour: never in both. Each queue is a range of the primary key of its own.
const series = composed(
  "rollups/series",
  ["tenant", "queues", "type", "step_seconds", "items", "times"],
  `
  WITH span AS MATERIALIZED (
    SELECT now(), to_timestamp((floor(extract(epoch FROM now()) / $4::int) - $5::int + 1) * $4::int) AS "from"
  )
  SELECT span.now, span."from", known.*, floor(extract(epoch FROM at - span."from") / $4::int)::int AS bucket
  FROM span LEFT JOIN (
    SELECT wanted.queue, kept.* FROM unnest($2::text[]) AS wanted(queue) CROSS JOIN LATERAL (
      SELECT at, ${sumColumns.map((column) => `${column}::float8`).join(", ")},
             ${["waits", "runs"].map((column) => `CASE WHEN $6::text::bool THEN ${column}::text END AS ${column}`).join(", ")}
      FROM atlasqueue.rollups
      WHERE tenant = $1 AND rollups.queue = wanted.queue AND type = $3 AND at >= (SELECT "from" FROM span) OFFSET 0) AS kept
  ) AS known ON true`,
);
