import { composed } from "../database/composed.ts";
import { textArray } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps, QueueRef } from "../deps.ts";

/** Jobs of one kind: a condition, the order in which an index has them, and what is said of each queue, with `first` its first job. */
type Stepped = { name: string; are: string; order: "ASC" | "DESC"; said: string };
/** A place in that order, before all names or after one. */
export type From = { tenant: string; from: string };

/**
 * Looks at which tenants and queues have jobs of a kind. Each look steps from one name to the next in the index, whatever
 * their backlogs.
 *
 * @example
 * const { tenantsFrom, queuesFrom, start } = stepping<{ due: boolean }>({ name: "queues/due-of", are: "due_at IS NOT NULL", … });
 */
export function stepping<Said>({ name, are, order, said }: Stepped) {
  const beyond = order === "ASC" ? ">" : "<";
  const step = (columns: string, where: string, by: string) => `
      SELECT ${columns} FROM atlasqueue.jobs WHERE ${are} AND ${where}
      ORDER BY ${by} LIMIT 1`;
  const byTenant = `jobs.tenant ${order}, jobs.queue ${order}`;
  const byQueue = order === "ASC" ? `${byTenant}, due_at` : byTenant;
  const tenants = `
  WITH RECURSIVE found AS (
    (${step("tenant", `tenant ${beyond} $1`, byTenant)})
    UNION ALL
    SELECT next.tenant FROM found, LATERAL (${step("tenant", `jobs.tenant ${beyond} found.tenant`, byTenant)}) AS next
  )
  SELECT tenant FROM found LIMIT $2::int`;
  const inQueue = (after: string) => `jobs.tenant = wanted.tenant AND jobs.queue ${beyond} ${after}`;
  const queues = composed(
    name,
    ["tenants", "from", "queues_max"],
    `
  SELECT wanted.tenant, first.queue, ${said}
  FROM unnest($1::text[], $2::text[]) AS wanted(tenant, place) CROSS JOIN LATERAL (
    WITH RECURSIVE found AS (
      (${step("queue, due_at", inQueue("wanted.place"), byQueue)})
      UNION ALL
      SELECT next.queue, next.due_at FROM found, LATERAL (${step("queue, due_at", inQueue("found.queue"), byQueue)}) AS next
    )
    SELECT queue, due_at FROM found LIMIT $3::int) AS first
  LEFT JOIN atlasqueue.queues ON queues.tenant = wanted.tenant AND queues.queue = first.queue
  ORDER BY wanted.tenant COLLATE "C" ${order}, first.queue ${order}`,
  );
  return {
    /** Before all names. */
    start: order === "ASC" ? "" : "\u{10FFFF}",
    async tenantsFrom(deps: Pick<Deps, "database">, from: string, tenants_max: number): Promise<string[]> {
      const rows = await executeOn(deps.database)<{ tenant: string }>({ text: tenants, params: [from, tenants_max] });
      return rows.map(({ tenant }) => tenant);
    },
    /** For each tenant up to `queues_max`, in their order; fewer for a tenant means that it has no more. */
    async queuesFrom(
      deps: Pick<Deps, "database">,
      places: readonly From[],
      queues_max: number,
    ): Promise<readonly (QueueRef & Said)[]> {
      if (places.length === 0) return [];
      const columns = [textArray(places.map(({ tenant }) => tenant)), textArray(places.map(({ from }) => from))];
      return executeOn(deps.database)<QueueRef & Said>({ text: queues, params: [...columns, queues_max] });
    },
  };
}
export type Stepping<Said> = ReturnType<typeof stepping<Said>>;
