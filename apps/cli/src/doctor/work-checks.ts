import type { Signal } from "@atlasqueue/core";
import { defaultTenant, type Deps, type SeenWorker } from "@atlasqueue/core/internal";
import { oldestReady, queueDepths, ready_ms_max, whyLeft, type Left } from "@atlasqueue/core/internal/tools";
import { duration } from "../output/plain.ts";
import { ok, wrong, type Check } from "./check.ts";

type Look = (deps: Deps & { signal: Signal | undefined }) => Promise<Check>;

const queues_max = 1_000;
const tenants_max = 100;

/** Workers that announce themselves as alive but take nothing. */
export const checkWorkers: Look = async (deps) => {
  const fleet = await announced(deps);
  if (!fleet) return ok("workers", "only Redis knows which there are");
  // One that serves several tenants is announced to each.
  const workers = [...new Map([...fleet.values()].flat().map((worker) => [worker.id, worker])).values()];
  const [first, ...others] = workers.filter(({ state }) => state === "stuck");
  if (!first) return ok("workers", `${workers.length} announced, none of them stuck`);
  const more = others.length > 0 ? `, and ${others.length} more` : "";
  return wrong(
    "workers",
    `${first.id} on ${first.host} (pid ${first.pid}) is alive but takes no jobs${more}: restart it`,
  );
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
    const why = whyLeft({ limited: one.limited, running: running.get(nameOf(one)) ?? 0 }, serving);
    const about = `queue ${one.queue} of ${one.tenant} for ${duration(one.ready_ms)}`;
    return why === undefined ? [] : [`${about}: ${reasons[why](serving)}`];
  });
  const [first, ...others] = left;
  if (first === undefined) return ok("waiting", `${waiting.length} queues have a backlog, and busy workers`);
  const more = others.length > 0 ? `; and in ${others.length} more queues` : "";
  return wrong("waiting", `ready jobs wait in ${first}${more}`);
};

const reasons: Record<Left, (serving: readonly SeenWorker[]) => string> = {
  no_worker: () => "no worker serves it",
  workers_stuck: () => "its workers are stuck",
  free_workers: (serving) => {
    const free = serving.filter(({ state, active, concurrency }) => state === "running" && active < concurrency);
    return `${free.length} workers with free slots do not take them`;
  },
};

/** The workers of the default tenant, and of those that have jobs; undefined where there is no Redis to ask. */
async function announced({ signal, ...deps }: Parameters<Look>[0]): Promise<Map<string, SeenWorker[]> | undefined> {
  if (!signal) return undefined;
  const tenants = new Set([defaultTenant, ...(await queueDepths(deps, queues_max)).map(({ tenant }) => tenant)]);
  const fleet = new Map<string, SeenWorker[]>();
  for (const tenant of [...tenants].slice(0, tenants_max)) fleet.set(tenant, await signal.presence.list(tenant));
  return fleet;
}

const nameOf = ({ tenant, queue }: { tenant: string; queue: string }) => `${tenant} ${queue}`;
