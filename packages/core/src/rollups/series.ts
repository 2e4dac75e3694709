import type { StatsSeries, StatsWindow } from "@atlasqueue/contract";
import { composed } from "../database/composed.ts";
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
  const params = [tenant, queue, type, step_seconds, items];
  const rows = await executeOn(deps.database)<Row>({ text: series, params });
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

type Row = Omit<Figures, "waits" | "runs"> & {
  now: Date;
  from: Date;
  /** Null when there is none. */
  bucket: number | null;
  waits: string;
  runs: string;
};

function show({ waits, runs, ...sums }: Figures): StatsSeries["total"] {
  const { submitted, succeeded, failed, dead, retried } = sums;
  return { submitted, succeeded, failed, dead, retried, wait: percentiles(waits), run: percentiles(runs) };
}

/** An array as PostgreSQL writes it. */
const numbersOf = (text: string): number[] => JSON.parse(`[${text.slice(1, -1)}]`) as number[];

// Each figure is in a minute or, once it is folded, in an hour: never in both.
const series = composed(
  "rollups/series",
  ["tenant", "queue", "type", "step_seconds", "items"],
  `
  WITH span AS MATERIALIZED (
    SELECT now(), to_timestamp((floor(extract(epoch FROM now()) / $4::int) - $5::int + 1) * $4::int) AS "from"
  )
  SELECT span.now, span."from", floor(extract(epoch FROM at - span."from") / $4::int)::int AS bucket,
         ${sumColumns.join(", ")}, waits, runs
  FROM span LEFT JOIN (
    SELECT at, ${sumColumns.map((column) => `${column}::float8`).join(", ")}, waits::text, runs::text FROM atlasqueue.rollups
    WHERE tenant = $1 AND queue = $2 AND type = $3 AND at >= (SELECT "from" FROM span)
  ) AS known ON true`,
);

/** Jobs that died in the last quarter of an hour, and in the 24 hours before it. */
export type RecentDeaths = { lately: number; before: number; since: Date | null };

export async function recentDeaths(deps: Pick<Deps, "database">, tenant: string): Promise<RecentDeaths> {
  const [row] = await executeOn(deps.database)<RecentDeaths>({ text: deaths, params: [tenant] });
  return row ?? { lately: 0, before: 0, since: null };
}

const lately = "at > now() - interval '15 minutes'";
const deaths = composed(
  "rollups/recent-deaths",
  ["tenant"],
  `
  SELECT coalesce(sum(dead) FILTER (WHERE ${lately}), 0)::float8 AS lately,
         coalesce(sum(dead) FILTER (WHERE NOT (${lately})), 0)::float8 AS before,
         min(at) FILTER (WHERE ${lately} AND dead > 0) AS since
  FROM atlasqueue.rollups WHERE tenant = $1 AND queue = '' AND type = '' AND at > now() - interval '1 day 15 minutes'`,
);
