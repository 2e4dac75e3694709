import { composed } from "../database/composed.ts";
import { textArray } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps, QueueRef } from "../deps.ts";
import { hasMark } from "../limits/room.ts";

/** A queue with ready jobs. */
export type ReadyQueue = QueueRef & {
  /** It has limits or turns, so Redis has a mark instead of its ids. */
  marked: boolean;
  paused: boolean;
};

/** After every possible name: where a round begins. */
export const top = "\u{10FFFF}";

/**
 * Tenants with ready jobs, from the name before `below` down. Steps from one to the next in the index, whatever their
 * backlogs; backwards, to land on the newest jobs rather than on the entries of claimed ones.
 *
 * @example
 * const tenants = await readyTenants(deps, top, 50);
 */
export async function readyTenants(deps: Pick<Deps, "database">, below: string, tenants_max: number) {
  const rows = await executeOn(deps.database)<{ tenant: string }>({ text: tenants, params: [below, tenants_max] });
  return rows.map(({ tenant }) => tenant);
}

const tenants = `
  WITH RECURSIVE found AS (
    (SELECT tenant FROM atlasqueue.jobs WHERE ready_at IS NOT NULL AND tenant < $1 ORDER BY tenant DESC, queue DESC LIMIT 1)
    UNION ALL
    SELECT next.tenant FROM found, LATERAL (
      SELECT tenant FROM atlasqueue.jobs WHERE ready_at IS NOT NULL AND tenant < found.tenant
      ORDER BY tenant DESC, queue DESC LIMIT 1) AS next
  )
  SELECT tenant FROM found LIMIT $2::int`;

/**
 * Those of the tenants that have ready jobs: one look into the index for each, in one statement.
 *
 * @example
 * const tenants = await readyTenantsAmong(deps, ["acme", "beta"]);
 */
export async function readyTenantsAmong(deps: Pick<Deps, "database">, among: readonly string[]): Promise<string[]> {
  const rows = await executeOn(deps.database)<{ tenant: string }>({ text: tenantsAmong, params: [textArray(among)] });
  return rows.map(({ tenant }) => tenant);
}

const tenantsAmong = `
  SELECT wanted.tenant FROM unnest($1::text[]) AS wanted(tenant), LATERAL (
    SELECT FROM atlasqueue.jobs WHERE ready_at IS NOT NULL AND jobs.tenant = wanted.tenant
    ORDER BY jobs.tenant DESC, queue DESC LIMIT 1) AS ready`;

const facts = `coalesce(${hasMark}, false) AS marked, paused_at IS NOT NULL AS paused`;

/**
 * For each tenant up to `queues_max` queues with ready jobs, from the name before its `below` down. In the order of the steps; fewer for a tenant means that it has no more.
 */
export async function readyQueuesOf(
  deps: Pick<Deps, "database">,
  from: readonly { tenant: string; below: string }[],
  queues_max: number,
): Promise<readonly ReadyQueue[]> {
  if (from.length === 0) return [];
  const columns = [textArray(from.map(({ tenant }) => tenant)), textArray(from.map(({ below }) => below))];
  return executeOn(deps.database)<ReadyQueue>({ text: queuesOf, params: [...columns, queues_max] });
}

const queuesOf = composed(
  "queues/ready-queues-of",
  ["tenants", "below", "queues_max"],
  `
  SELECT wanted.tenant, step.queue, ${facts}
  FROM unnest($1::text[], $2::text[]) AS wanted(tenant, below) CROSS JOIN LATERAL (
    WITH RECURSIVE found AS (
      (SELECT queue FROM atlasqueue.jobs
       WHERE ready_at IS NOT NULL AND jobs.tenant = wanted.tenant AND queue < wanted.below
       ORDER BY jobs.tenant DESC, queue DESC LIMIT 1)
      UNION ALL
      SELECT next.queue FROM found, LATERAL (
        SELECT queue FROM atlasqueue.jobs
        WHERE ready_at IS NOT NULL AND jobs.tenant = wanted.tenant AND jobs.queue < found.queue
        ORDER BY jobs.tenant DESC, queue DESC LIMIT 1) AS next
    )
    SELECT queue FROM found LIMIT $3::int) AS step
  LEFT JOIN atlasqueue.queues ON queues.tenant = wanted.tenant AND queues.queue = step.queue
  ORDER BY wanted.tenant COLLATE "C" DESC, step.queue DESC`,
);

/** Those of the queues with ready jobs that are not paused: one look into the index for each, in one statement. */
export async function readyAmong(
  deps: Pick<Deps, "database">,
  among: readonly QueueRef[],
): Promise<readonly ReadyQueue[]> {
  if (among.length === 0) return [];
  const columns = [textArray(among.map(({ tenant }) => tenant)), textArray(among.map(({ queue }) => queue))];
  return executeOn(deps.database)<ReadyQueue>({ text: readyOf, params: columns });
}

// LIMIT 1 makes the look an index scan of one row; EXISTS alone may become a join with the whole backlog.
const readyOf = composed(
  "queues/ready-among",
  ["tenants", "queues"],
  `
  SELECT wanted.tenant, wanted.queue, ${facts}
  FROM unnest($1::text[], $2::text[]) AS wanted(tenant, queue)
  LEFT JOIN atlasqueue.queues ON queues.tenant = wanted.tenant AND queues.queue = wanted.queue, LATERAL (
    SELECT FROM atlasqueue.jobs WHERE jobs.tenant = wanted.tenant AND jobs.queue = wanted.queue AND ready_at IS NOT NULL
    ORDER BY jobs.tenant DESC, jobs.queue DESC, priority, ready_at DESC, jobs.id DESC LIMIT 1) AS ready
  WHERE paused_at IS NULL`,
);

const page_tenants_max = 500;
const page_queues_max = 1_000;

/** Every tenant's queues with ready jobs that are not paused, page by page. */
export async function* everyReadyQueue(deps: Pick<Deps, "database">): AsyncGenerator<ReadyQueue> {
  for (let tenant_below: string | undefined = top; tenant_below !== undefined;) {
    const page: string[] = await readyTenants(deps, tenant_below, page_tenants_max);
    for (const tenant of page)
      for (let below: string | undefined = top; below !== undefined;) {
        const found: readonly ReadyQueue[] = await readyQueuesOf(deps, [{ tenant, below }], page_queues_max);
        yield* found.filter(({ paused }) => !paused);
        below = found.length === page_queues_max ? found.at(-1)?.queue : undefined;
      }
    tenant_below = page.length === page_tenants_max ? page.at(-1) : undefined;
  }
}
