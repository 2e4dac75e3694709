import type { QueueDefaults } from "@atlasqueue/contract";
import { composed } from "../database/composed.ts";
import { lockTimeout } from "../database/clauses.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps, QueueRef } from "../deps.ts";

/**
 * Set what jobs of a queue have where they name none of their own; null is the system's default. All that is submitted from
 * now on has it, jobs that exist stay as they are.
 *
 * @example
 * await setDefaults(deps, { tenant: "default", queue: "mail" }, { ...none, max_attempts: 3 });
 */
export async function setDefaults(deps: Deps, { tenant, queue }: QueueRef, defaults: QueueDefaults): Promise<void> {
  const given = Object.fromEntries(Object.entries(defaults).filter(([, value]) => value !== null));
  const json = Object.keys(given).length > 0 ? JSON.stringify(given) : "";
  await executeOn(deps.database)({ text, params: [tenant, queue, json] });
  deps.observe({ event: "queue_defaults_set", tenant, queue });
}

const text = composed(
  "queues/set-defaults",
  ["tenant", "queue", "defaults"],
  `
  INSERT INTO atlasqueue.queues (tenant, queue, defaults) SELECT $1, $2, nullif($3, '')::json WHERE ${lockTimeout}
  ON CONFLICT (tenant, queue) DO UPDATE SET defaults = excluded.defaults`,
);
