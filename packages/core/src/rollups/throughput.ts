import type { Throughput } from "@atlasqueue/contract";
import { composed } from "../database/composed.ts";
import { textArray } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";

const step_seconds = 180;
const steps = 20;

/**
 * What became of the jobs of some queues in the last hour, for a small chart of each: a row for each of its minutes is
 * read.
 *
 * @example
 * const { items } = await readThroughput(deps, "default", ["mails", "reports"]);
 */
export async function readThroughput(
  deps: Pick<Deps, "database">,
  tenant: string,
  queues: readonly string[],
): Promise<Throughput> {
  const params = [tenant, textArray(queues), step_seconds, steps];
  const rows = await executeOn(deps.database)<Row>({ text, params });
  const [first] = rows;
  if (!first) throw new Error("a throughput gave no row");
  const items = new Map(
    queues.map((queue) => [queue, { queue, submitted: zeros(), succeeded: zeros(), failed: zeros() }]),
  );
  for (const { queue, bucket, submitted, succeeded, failed } of rows) {
    const item = queue === null ? undefined : items.get(queue);
    if (!item || bucket < 0 || bucket >= steps) continue;
    item.submitted[bucket] = submitted;
    item.succeeded[bucket] = succeeded;
    item.failed[bucket] = failed;
  }
  return { step_seconds, from: first.from.toISOString(), items: [...items.values()] };
}

type Row = { from: Date; queue: string | null; bucket: number; submitted: number; succeeded: number; failed: number };

const zeros = () => Array.from({ length: steps }, () => 0);

// Each queue is a range of the primary key of its own.
const text = composed(
  "rollups/throughput",
  ["tenant", "queues", "step_seconds", "steps"],
  `
  WITH span AS MATERIALIZED (
    SELECT to_timestamp((floor(extract(epoch FROM now()) / $3::int) - $4::int + 1) * $3::int) AS "from"
  ), known AS (
    SELECT wanted.queue, floor(extract(epoch FROM minutes.at - (SELECT "from" FROM span)) / $3::int)::int AS bucket,
           sum(minutes.submitted)::float8 AS submitted, sum(minutes.succeeded)::float8 AS succeeded,
           sum(minutes.failed)::float8 AS failed
    FROM unnest($2::text[]) AS wanted(queue) CROSS JOIN LATERAL (
      SELECT at, submitted, succeeded, failed FROM atlasqueue.rollups
      WHERE tenant = $1 AND rollups.queue = wanted.queue AND type = '' AND at >= (SELECT "from" FROM span)
      OFFSET 0) AS minutes
    GROUP BY 1, 2
  )
  SELECT span."from", known.* FROM span LEFT JOIN known ON true`,
);
