import type { Signal } from "@atlasqueue/core";
import { oldestReady, queueDepths, type Deps, type OldestReady, type SeenWorker } from "@atlasqueue/core/internal";
import { duration } from "../output/plain.ts";
import { ok, wrong, type Check } from "./check.ts";

type Look = (deps: Deps & { signal: Signal | undefined }) => Promise<Check>;

const queues_max = 1_000;
const tenants_max = 100;
/** A ready job that has waited this long while workers are idle is one no worker takes. */
const ready_ms_max = 60_000;

/** Workers that announce themselves as alive but take nothing. */
export const checkWorkers: Look = async (deps) => {
  const fleet = await announced(deps);
  if (!fleet) return ok("workers", "only Redis knows which there are");
  const workers = [...fleet.values()].flat();
  const [first, ...others] = workers.filter(({ state }) => state === "stuck");
  if (!first) return ok("workers", `${workers.length} announced, none of them stuck`);
  const more = others.length > 0 ? `, and ${others.length} more` : "";
  return wrong("workers", `${first.id} on ${first.host} (pid ${first.pid}) lives and takes no jobs${more}: restart it`);
};

/** Ready jobs that no worker takes, in queues that are not paused. */
export const checkWaiting: Look = async (deps) => {
  const waiting = (await oldestReady(deps, queues_max))
    .filter(({ ready_ms }) => ready_ms > ready_ms_max)
    .toSorted((a, b) => b.ready_ms - a.ready_ms);
  if (waiting.length === 0) return ok("waiting", `no ready job has waited for more than ${duration(ready_ms_max)}`);
  const fleet = await announced(deps);
  const running = new Map((await queueDepths(deps, queues_max)).map((depth) => [nameOf(depth), depth.running]));
  const left = waiting.flatMap((one) => {
    const serving = (fleet?.get(one.tenant) ?? []).filter(({ queues }) => queues.includes(one.queue));
    const reason = whyLeft(one, running.get(nameOf(one)) ?? 0, serving);
    return reason === undefined ? [] : [`queue ${one.queue} of ${one.tenant} for ${duration(one.ready_ms)}: ${reason}`];
  });
  const [first, ...others] = left;
  if (first === undefined) return ok("waiting", `${waiting.length} queues have a backlog, and busy workers`);
  const more = others.length > 0 ? `; and in ${others.length} more queues` : "";
  return wrong("waiting", `ready jobs wait in ${first}${more}`);
};

/**
 * Undefined when it is being worked on. Workers that lease over HTTP announce nothing, and are seen only by what they
 * run.
 */
function whyLeft({ limited }: OldestReady, running: number, serving: readonly SeenWorker[]): string | undefined {
  if (serving.length === 0) return running === 0 ? "no worker serves it" : undefined;
  if (serving.every(({ state }) => state === "stuck")) return "its workers are stuck";
  const free = serving.filter(({ state, active, concurrency }) => state === "running" && active < concurrency);
  // Its limits may not let more start.
  return free.length > 0 && !limited ? `${free.length} workers with free slots do not take them` : undefined;
}

/** The workers of the tenants that have jobs; undefined where there is no Redis to ask. */
async function announced({ signal, ...deps }: Parameters<Look>[0]): Promise<Map<string, SeenWorker[]> | undefined> {
  if (!signal) return undefined;
  const tenants = new Set((await queueDepths(deps, queues_max)).map(({ tenant }) => tenant));
  const fleet = new Map<string, SeenWorker[]>();
  for (const tenant of [...tenants].slice(0, tenants_max)) fleet.set(tenant, await signal.presence.list(tenant));
  return fleet;
}

const nameOf = ({ tenant, queue }: { tenant: string; queue: string }) => `${tenant} ${queue}`;
