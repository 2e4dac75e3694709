import { defaultTenant, type QueueRef } from "@atlasqueue/core/internal";
import type { WorkerDeps } from "../deps.ts";
import { readyTenantsInTurn } from "./ready-tenants.ts";

/** How many tenants a worker for all tenants knows: those that most recently had jobs. */
const tenants_max = 1_000;

export type Served = ReturnType<typeof createServed>;

/**
 * Which queues of which tenants a worker takes jobs from. With all tenants (`*`) it knows those that have had ready jobs
 * since it started: the sweep finds them, going round.
 */
export function createServed(deps: WorkerDeps, wanted: readonly string[] | "*", names: readonly string[]) {
  // A name put in again goes to the end.
  const known = new Set<string>(wanted === "*" ? [defaultTenant] : wanted);
  const nextReady = readyTenantsInTurn(deps, wanted);
  const resting = new Set<string>();
  const full = new Set<string>();
  let open = names;
  let changed = new AbortController();

  const add = (tenant: string): void => {
    if (known.has(tenant)) return;
    // In front are those that had jobs longest ago; one that has some is found again.
    if (known.size >= tenants_max) known.delete(known.values().next().value ?? "");
    known.add(tenant);
    changed.abort();
  };

  const nowOpen = (): void => {
    open = names.filter((name) => !resting.has(name) && !full.has(name));
    changed.abort();
  };

  return {
    /** Whose queues: `*` for all tenants. */
    wanted,
    /** The tenants, those that had jobs longest ago first. */
    tenants: () => [...known],
    /** Their queues that are open. */
    queuesOf: (tenants: readonly string[]): QueueRef[] =>
      tenants.flatMap((tenant) => open.map((queue) => ({ tenant, queue }))),
    /** The names of the queues that do not rest, and have a free slot if they have slots of their own. */
    open: () => open,
    /** No jobs are taken from the queues of this name, until `resume`. */
    rest(queue: string): void {
      if (resting.has(queue)) return;
      resting.add(queue);
      nowOpen();
    },
    resume(): void {
      resting.clear();
      nowOpen();
    },
    /** All slots of this queue are taken, or no longer. */
    setFull(queue: string, is_full: boolean): void {
      if (is_full) full.add(queue);
      else full.delete(queue);
      nowOpen();
    },
    /** This one has jobs: it comes last. */
    hasJobs(tenant: string): void {
      if (known.delete(tenant)) known.add(tenant);
      else add(tenant);
    },
    /** Find tenants that have jobs, when all are served and ready jobs have been seen. */
    async discover(): Promise<void> {
      if (wanted === "*") for (const tenant of (await nextReady()).tenants) add(tenant);
    },
    /** Aborts when a tenant has joined, a rest begins or ends, or a full queue has room, as current waits are for other queues then. */
    changed(): AbortSignal {
      if (changed.signal.aborted) changed = new AbortController();
      return changed.signal;
    },
  };
}
