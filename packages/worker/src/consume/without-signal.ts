import type { Found } from "./found.ts";
import type { Served } from "./served.ts";

/** How long a worker with nothing to do rests between two looks into Postgres; half of it is random. */
const rest_ms_max = 1_000;

export type WithoutSignalParts = {
  served: Pick<Served, "tenants" | "discover" | "hasJobs">;
  found: Found;
  /** How many slots are free. */
  free: () => number;
  /** Claim and start so many of a tenant's oldest jobs at most. Says how many. */
  claimOldest: (tenant: string, jobs_max: number) => Promise<number>;
  stop: AbortSignal;
  /** With wake-up marks: how long a worker with nothing to do waits for one. */
  idle_ms_max?: number | undefined;
  now?: () => number;
};

/**
 * Without a signal: the oldest jobs of each tenant that has ready ones, in turn, until the slots were filled once. Says
 * how long to rest: not at all when some were started; where what is ready cannot start, until the next look is due, as
 * others may wait behind it, and as long as the looks without a start took. No longer than a second, or than a worker
 * waits for marks.
 *
 * @example
 * const rest_ms = await fillWithoutSignal({ served, found, free: running.free, claimOldest, stop });
 */
export async function fillWithoutSignal({
  served,
  found,
  free,
  claimOldest,
  stop,
  idle_ms_max,
  now = () => performance.now(),
}: WithoutSignalParts): Promise<number> {
  const idle_ms = idle_ms_max ?? rest_ms_max * (0.5 + Math.random() / 2);
  if (served.tenants().length < 2) await served.discover();
  const [only = "", other] = served.tenants();
  if (other === undefined) return (await claimOldest(only, free())) > 0 ? 0 : idle_ms;
  if (!found.any()) await found.look();
  const began_at = now();
  const room = free();
  let started = 0;
  while (started < room && free() > 0 && !stop.aborted) {
    const next = found.next();
    if (!next) break;
    const asked = free();
    const got = await claimOldest(next.tenant, asked);
    started += got;
    if (got === 0) found.empty(next);
    else {
      found.taken(next, got === asked);
      served.hasJobs(next.tenant);
    }
  }
  return started > 0 ? 0 : Math.min(idle_ms, Math.max(found.lookInMs(idle_ms_max !== undefined), now() - began_at));
}
