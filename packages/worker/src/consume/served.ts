import { defaultTenant, readyTenants, top, type QueueRef } from "@atlasqueue/core/internal";
import type { WorkerDeps } from "../deps.ts";

/** Tenants that a worker of all tenants waits for at most: those that had jobs last. */
const tenants_max = 1_000;
/** Tenants that are looked for in one statement. */
const found_max = 500;

export type Served = {
  /** The tenants, those that were looked at longest ago in front. */
  tenants(): readonly string[];
  queuesOf(tenants: readonly string[]): QueueRef[];
  /** This one was looked at: the others come first. */
  lookedAt(tenant: string): void;
  /** This one has jobs: it comes first. */
  hasJobs(tenant: string): void;
  /** Find tenants that have jobs, when all are served; somebody has seen ready jobs. */
  discover(): Promise<void>;
  /** Aborts when a tenant has joined, as whoever waits does not wait for its queues. */
  changed(): AbortSignal;
};

/**
 * Which queues of which tenants a worker takes jobs from, and whose turn it is: the tenant that was looked at longest ago
 * comes first, so that none with a backlog keeps the others waiting. Of all tenants (`*`) it knows those that
 * have had ready jobs since it started: the sweep finds them, going round.
 *
 * @example
 * const served = createServed(deps, ["default", "acme"], ["mail"]);
 */
export function createServed(deps: WorkerDeps, wanted: readonly string[] | "*", names: readonly string[]): Served {
  // In the order of their turns; a name that is put in again goes to the end.
  const turns = new Set<string>(wanted === "*" ? [defaultTenant] : wanted);
  let below = top;
  let changed = new AbortController();

  const add = (tenant: string): void => {
    if (turns.has(tenant)) return;
    // In front are those that were looked at longest ago; one that has jobs is found again.
    if (turns.size >= tenants_max) turns.delete(turns.values().next().value ?? "");
    turns.add(tenant);
    changed.abort();
  };

  return {
    tenants: () => [...turns],
    queuesOf: (tenants) => tenants.flatMap((tenant) => names.map((queue) => ({ tenant, queue }))),
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
