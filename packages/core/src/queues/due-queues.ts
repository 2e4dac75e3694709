import { composed } from "../database/composed.ts";
import { textArray } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps, QueueRef } from "../deps.ts";

/** Before every possible name: where a round begins. */
export const bottom = "";

/**
 * Tenants with jobs that are due now or later, from the name behind `after` up. Steps from one to the next in the index,
 * however many jobs each has.
 *
 * @example
 * const tenants = await waitingTenants(deps, bottom, 50);
 */
export async function waitingTenants(deps: Pick<Deps, "database">, after: string, tenants_max: number) {
  const rows = await executeOn(deps.database)<{ tenant: string }>({ text: tenants, params: [after, tenants_max] });
  return rows.map(({ tenant }) => tenant);
}

const tenants = `
  WITH RECURSIVE found AS (
    (SELECT tenant FROM atlasqueue.jobs WHERE due_at IS NOT NULL AND tenant > $1 ORDER BY tenant, queue, due_at LIMIT 1)
    UNION ALL
    SELECT next.tenant FROM found, LATERAL (
      SELECT tenant FROM atlasqueue.jobs WHERE due_at IS NOT NULL AND tenant > found.tenant
      ORDER BY tenant, queue, due_at LIMIT 1) AS next
  )
  SELECT tenant FROM found LIMIT $2::int`;

/**
 * For each tenant up to `queues_max` queues with such jobs, from the name behind its `after` up, and whether one is due
 * now. In the order of the steps; fewer for a tenant means that it has no more.
 */
export async function waitingQueuesOf(
  deps: Pick<Deps, "database">,
  from: readonly { tenant: string; after: string }[],
  queues_max: number,
): Promise<readonly (QueueRef & { due: boolean })[]> {
  if (from.length === 0) return [];
  const columns = [textArray(from.map(({ tenant }) => tenant)), textArray(from.map(({ after }) => after))];
  return executeOn(deps.database)({ text: queuesOf, params: [...columns, queues_max] });
}

const queuesOf = composed(
  "queues/waiting-queues-of",
  ["tenants", "after", "queues_max"],
  `
  SELECT wanted.tenant, step.queue, step.due_at <= now() AS due
  FROM unnest($1::text[], $2::text[]) AS wanted(tenant, after) CROSS JOIN LATERAL (
    WITH RECURSIVE found AS (
      (SELECT queue, due_at FROM atlasqueue.jobs
       WHERE due_at IS NOT NULL AND jobs.tenant = wanted.tenant AND queue > wanted.after
       ORDER BY jobs.tenant, queue, due_at LIMIT 1)
      UNION ALL
      SELECT next.queue, next.due_at FROM found, LATERAL (
        SELECT queue, due_at FROM atlasqueue.jobs
        WHERE due_at IS NOT NULL AND jobs.tenant = wanted.tenant AND jobs.queue > found.queue
        ORDER BY jobs.tenant, queue, due_at LIMIT 1) AS next
    )
    SELECT queue, due_at FROM found LIMIT $3::int) AS step
  ORDER BY wanted.tenant, step.queue`,
);
