import { readyAmong, type QueueRef } from "@atlasqueue/core/internal";
import type { WorkerDeps } from "../deps.ts";
import { readyTenantsInTurn } from "./ready-tenants.ts";
import type { Served } from "./served.ts";

/** Queues looked at in one statement. */
const queues_max = 2_000;
/** With so many tenants in line, no others are looked for. */
const tenants_max = 500;
/**
 * Between two looks, while jobs keep coming, or at one page: so long, and so many times as long as the last one took.
 * Between pages twice as long after each that brought nothing.
 */
const rest_ms_min = 20;
const rest_times_min = 9;
const rest_ms_max = 1_000;

/** A tenant, and its queues in which jobs were seen. */
type Turn = { tenant: string; queues: ReadonlySet<string> };

export type Found = {
  /** This queue's list ended a wait: there may be more in it, and in others. */
  woken(queue: QueueRef): void;
  /** Jobs were taken. With `more`, the tenant goes to the end of the line, or is found again when that is long. */
  taken(turn: Turn, more: boolean): void;
  /** How long until it is time for `look`. With `all_heard`, as a wait is on all lists, only once something stirs. */
  lookInMs(all_heard: boolean): number;
  /** Put tenants that have ready jobs in our queues in line: some of all, and the next time others. */
  look(): Promise<void>;
  /** Who is next in line, and leaves it. */
  next(): Turn | undefined;
};

/**
 * The tenants that are known to have jobs, in line: first come, first served. Postgres says which of any number of
 * tenants these are in a millisecond or two, in proportion to how many have jobs, not to how many there are; Redis would
 * have to be asked for each of their lists.
 *
 * @example
 * const found = createFound(deps, served);
 * if (found.lookInMs(false) === 0) await found.look();
 */
export function createFound(deps: WorkerDeps, served: Served, now: () => number = () => performance.now()): Found {
  const line = new Map<string, Set<string>>();
  const nextPage = readyTenantsInTurn(deps, served.wanted);
  let page: string[] = [];
  let looked_at = -Infinity;
  let short_ms = rest_ms_min;
  let rest_ms = rest_ms_min;
  let stirs = true;

  const put = ({ tenant, queue }: QueueRef): void => {
    const queues = line.get(tenant);
    if (queues) queues.add(queue);
    else line.set(tenant, new Set([queue]));
  };
  /** Whether any were found in what is left of the page. */
  const lookThrough = async (): Promise<boolean> => {
    const together = Math.max(1, Math.floor(queues_max / served.open().length));
    while (page.length > 0) {
      const ready = await readyAmong(deps, served.queuesOf(page.splice(0, together)));
      for (const queue of ready) put(queue);
      if (ready.length > 0) return true;
    }
    return false;
  };
  const lookAround = async (): Promise<void> => {
    if (await lookThrough()) return;
    page = await nextPage();
    await lookThrough();
  };

  return {
    woken(queue) {
      stirs = true;
      put(queue);
    },
    taken({ tenant, queues }, more) {
      stirs = true;
      if (more && line.size < tenants_max) for (const queue of queues) put({ tenant, queue });
    },
    lookInMs(all_heard) {
      if (line.size >= tenants_max || (all_heard && !stirs)) return Infinity;
      return Math.max(0, looked_at + (stirs || page.length > 0 ? short_ms : rest_ms) - now());
    },
    async look() {
      if (line.size >= tenants_max) return;
      const began_at = now();
      try {
        await lookAround();
        // What is ready may not be able to start: those behind it in the page have waited for their look.
        if (stirs) rest_ms = rest_ms_min;
        else if (page.length === 0) rest_ms *= 2;
        stirs = false;
      } finally {
        looked_at = now();
        short_ms = between(rest_ms_min, (looked_at - began_at) * rest_times_min, rest_ms_max);
        rest_ms = between(short_ms, rest_ms, rest_ms_max);
      }
    },
    next() {
      const [first] = line;
      if (!first) return undefined;
      const [tenant, queues] = first;
      line.delete(tenant);
      return { tenant, queues };
    },
  };
}

const between = (min: number, value: number, max: number): number => Math.min(max, Math.max(min, value));
