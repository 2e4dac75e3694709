import { createShares } from "@atlasqueue/contract";
import { isUuid, uuidArray } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { takeOrThrow } from "../shares.ts";
import type { Signal } from "../signal/signal.ts";

export type FinishedWaits = {
  /**
   * Resolves when the job has finished, at the latest after `wait_ms` or when `gone` aborts; look at the job then. Call
   * it before checking whether the job has already finished, or you may miss that moment. Throws `NoRoomError` when too
   * many wait, and never rejects.
   */
  until(job: { tenant: string; id: string }, wait_ms: number, gone: AbortSignal): Promise<void>;
  /** From now on no call waits. */
  close(): void;
  /** Aborts then, for those who would ask again. */
  closing: AbortSignal;
};

/** A notice can be lost: all waits share one look into Postgres each second. */
const look_ms = 1_000;
const waiters_max_default = 10_000;

/**
 * Wakes callers waiting for jobs to finish: by the notice from the process that settled them, with one query a second
 * for all as the safety net.
 *
 * `waiters_max`: of all tenants together, which share it.
 *
 * @example
 * const finished = watch.until(id, 20_000, gone);
 * await finished;
 */
export function createFinishedWaits(
  deps: Pick<Deps, "database"> & { signal: Signal },
  waiters_max = waiters_max_default,
): FinishedWaits {
  const waiting = new Map<string, Set<() => void>>();
  const waits = createShares(waiters_max);
  let unlisten: (() => void) | undefined;
  let timer: NodeJS.Timeout | undefined;
  const closing = new AbortController();

  const wake = (ids: readonly string[]) => {
    for (const id of ids) for (const resolve of waiting.get(id) ?? []) resolve();
  };
  const look = async (): Promise<void> => {
    timer = undefined;
    try {
      wake(await finishedAmong(deps, [...waiting.keys()]));
    } catch {
      // Postgres is away: callers find out when they ask for their job.
    }
    schedule();
  };
  const schedule = () => {
    if (waiting.size > 0) timer ??= setTimeout(() => void look(), look_ms);
  };

  return {
    until({ tenant, id }, wait_ms, gone) {
      if (closing.signal.aborted || gone.aborted) return Promise.resolve();
      takeOrThrow(waits, tenant, 1, "requests that wait for a job to finish");
      return new Promise((resolve) => {
        unlisten ??= deps.signal.notices.listen("finished", wake);
        const others = waiting.get(id) ?? new Set();
        const end = () => {
          clearTimeout(deadline);
          gone.removeEventListener("abort", end);
          if (others.delete(end)) waits.give(tenant, 1);
          if (others.size === 0) waiting.delete(id);
          resolve();
        };
        const deadline = setTimeout(end, wait_ms);
        gone.addEventListener("abort", end, { once: true });
        waiting.set(id, others.add(end));
        schedule();
      });
    },
    close() {
      clearTimeout(timer);
      unlisten?.();
      for (const resolves of waiting.values()) for (const resolve of resolves) resolve();
      closing.abort();
    },
    closing: closing.signal,
  };
}

/** Those of the jobs that have finished, or no longer exist. The caller checks whose they are. */
async function finishedAmong(deps: Pick<Deps, "database">, ids: readonly string[]): Promise<string[]> {
  const wanted = ids.filter(isUuid);
  if (wanted.length === 0) return [];
  const text = `
    SELECT id FROM atlasqueue.jobs WHERE id = ANY($1::uuid[]) AND status NOT IN ('succeeded', 'dead', 'cancelled')`;
  const open = await executeOn(deps.database)<{ id: string }>({ text, params: [uuidArray(wanted)] });
  const waiting = new Set(open.map(({ id }) => id));
  return wanted.filter((id) => !waiting.has(id));
}
