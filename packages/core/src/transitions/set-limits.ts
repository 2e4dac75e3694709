import type { QueueLimits } from "@atlasqueue/contract";
import { executeOn } from "../database/statement.ts";
import type { Deps, QueueRef } from "../deps.ts";

/**
 * Set all limits of a queue; those left out are taken away. They hold from the next claim on: what runs already runs on.
 * Its groups are looked at again, as more of their jobs may go now.
 *
 * @example
 * await setLimits(deps, { tenant: "default", queue: "mail" }, { concurrency: 7, group_concurrency: null, rate: null, group_rate: null });
 */
export async function setLimits(deps: Deps, { tenant, queue }: QueueRef, limits: QueueLimits): Promise<void> {
  const { concurrency, group_concurrency, rate, group_rate } = limits;
  const numbers = [concurrency, rate?.limit, rate?.period_seconds, group_rate?.limit, group_rate?.period_seconds];
  await executeOn(deps.database)({
    text,
    params: [tenant, queue, ...[...numbers, group_concurrency].map((number) => String(number ?? ""))],
  });
  deps.observe({ event: "queue_limited", tenant, queue });
}

const integer = (place: number) => `nullif($${place}, '')::int`;
const seconds = (place: number) => `nullif($${place}, '')::float8`;

const text = `
  WITH decided AS (
    INSERT INTO queues (tenant, queue, concurrency, rate_limit, rate_period_seconds, group_rate_limit, group_rate_period_seconds,
                        group_concurrency)
    VALUES ($1, $2, ${integer(3)}, ${integer(4)}, ${seconds(5)}, ${integer(6)}, ${seconds(7)}, ${integer(8)})
    ON CONFLICT (tenant, queue) DO UPDATE SET
      concurrency = excluded.concurrency, rate_limit = excluded.rate_limit, rate_period_seconds = excluded.rate_period_seconds,
      group_rate_limit = excluded.group_rate_limit, group_rate_period_seconds = excluded.group_rate_period_seconds,
      group_concurrency = excluded.group_concurrency
  )
  INSERT INTO group_handovers (tenant, queue, group_key)
  SELECT tenant, queue, group_key FROM job_groups WHERE tenant = $1 AND queue = $2`;
