import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps, QueueRef } from "../deps.ts";
import { startsWithin } from "./room.ts";

/**
 * How many jobs of a queue started within the period of its rate, up to now; undefined for one without a rate.
 *
 * @example
 * const used = await startsOf(deps, { tenant: "default", queue: "mail" });
 */
export async function startsOf(deps: Pick<Deps, "database">, { tenant, queue }: QueueRef): Promise<number | undefined> {
  const [row] = await executeOn(deps.database)<{ starts: number }>({ text, params: [tenant, queue] });
  return row?.starts;
}

const text = composed(
  "limits/starts",
  ["tenant", "queue"],
  `
  SELECT (SELECT coalesce(sum(count), 0)::int FROM atlasqueue.queue_starts
          WHERE ${startsWithin("queues", "IS NULL", "rate_period_seconds")}) AS starts
  FROM atlasqueue.queues WHERE tenant = $1 AND queue = $2 AND rate_limit IS NOT NULL`,
);
