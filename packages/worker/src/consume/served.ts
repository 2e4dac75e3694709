import { defaultTenant, readyTenants, top, type QueueRef } from "@atlasqueue/core/internal";
import type { WorkerDeps } from "../deps.ts";

/** How many tenants a worker for all tenants waits for: those that most recently had jobs. */
const tenants_max = 1_000;
/** Tenants looked for in one statement. */
const found_max = 500;

export type Served = {
  /** The tenants, those looked at longest ago first. */
  tenants(): readonly string[];
  /** Their queues that do not rest. */
  queuesOf(tenants: readonly string[]): QueueRef[];
  /** Every queue of every tenant. */
  all(): QueueRef[];
  /** The names of the queues that do not rest. */
  open(): readonly string[];
  /** No jobs are taken from the queues of this name, until `resume`. */
  rest(queue: string): void;
  resume(): void;
  /** This one was looked at: the others now come first. */
  lookedAt(tenant: string): void;
  /** This one has jobs: it comes first. */
  hasJobs(tenant: string): void;
  /** Find tenants that have jobs, when all are served and ready jobs have been seen. */
  discover(): Promise<void>;
  /** Aborts when a tenant has joined or a rest begins or ends, as current waits are for other queues then. */
  changed(): AbortSignal;
};

/**
 * Which queues of which tenants a worker takes jobs from, and in which order: the tenant looked at longest ago comes
 * first, so that none with a backlog keeps the others waiting. With all tenants (`*`) it knows those that have had
 * ready jobs since it started: the sweep finds them, going round.
 *
 * @example
 * const served = createServed(deps, ["default", "acme"], ["mail"]);
 */
export function createServed(deps: WorkerDeps, wanted: readonly string[] | "*", names: readonly string[]): Served {
  // In the order of their turns; a name put in again goes to the end.
  const turns = new Set<string>(wanted === "*" ? [defaultTenant] : wanted);
  let below = top;
  const resting = new Set<string>();
  let open = names;
  let changed = new AbortController();

  const add = (tenant: string): void => {
    if (turns.has(tenant)) return;
    // In front are those looked at longest ago; one that has jobs is found again.
    if (turns.size >= tenants_max) turns.delete(turns.values().next().value ?? "");
    turns.add(tenant);
    changed.abort();
  };

  const refs = (tenants: Iterable<string>, queues: readonly string[]): QueueRef[] =>
    [...tenants].flatMap((tenant) => queues.map((queue) => ({ tenant, queue })));
  const nowOpen = (): void => {
    open = names.filter((name) => !resting.has(name));
    changed.abort();
  };

  return {
    tenants: () => [...turns],
    queuesOf: (tenants) => refs(tenants, open),
    all: () => refs(turns, names),
    open: () => open,
    rest(queue) {
      if (resting.has(queue)) return;
      resting.add(queue);
      nowOpen();
    },
    resume() {
      resting.clear();
      nowOpen();
    },
    lookedAt(tenant) {
      if (turns.delete(tenant)) turns.add(tenant);
    },
    hasJobs(tenant) {
      if (!turns.delete(tenant)) return;
      const others = [...turns];
      turns.clear();
      for (const one of [tenant, ...others]) turns.add(one);
    },
    async discover() {
      if (wanted !== "*") return;
      const found = await readyTenants(deps, below, found_max);
      below = found.length === found_max ? (found.at(-1) ?? top) : top;
      for (const tenant of found) add(tenant);
    },
    changed() {
      if (changed.signal.aborted) changed = new AbortController();
      return changed.signal;
    },
  };
}
