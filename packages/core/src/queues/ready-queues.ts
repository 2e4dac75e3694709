import { composed } from "../database/composed.ts";
import { textArray } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps, QueueRef } from "../deps.ts";
import { hasMark } from "../limits/capacity.ts";
import { stepping } from "./stepping.ts";

/** A queue with ready jobs. */
export type ReadyQueue = QueueRef & {
  /** It has limits or turns, so Redis has a mark instead of its ids. */
  marked: boolean;
  paused: boolean;
};

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

/** Backwards, to land on the newest jobs rather than on the entries of claimed ones. */
export const readyQueues = stepping<Omit<ReadyQueue, keyof QueueRef>>({
  name: "queues/ready-queues-of",
  are: "ready_at IS NOT NULL",
  order: "DESC",
  said: facts,
});

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
  const { start, tenantsFrom, queuesFrom } = readyQueues;
  for (let after: string | undefined = start; after !== undefined;) {
    const page: string[] = await tenantsFrom(deps, after, page_tenants_max);
    for (const tenant of page)
      for (let from: string | undefined = start; from !== undefined;) {
        const found: readonly ReadyQueue[] = await queuesFrom(deps, [{ tenant, from }], page_queues_max);
        yield* found.filter(({ paused }) => !paused);
        from = found.length === page_queues_max ? found.at(-1)?.queue : undefined;
      }
    after = page.length === page_tenants_max ? page.at(-1) : undefined;
  }
}
