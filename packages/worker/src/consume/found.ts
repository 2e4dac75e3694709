import { readyAmong, type QueueRef } from "@atlasqueue/core/internal";
import type { WorkerDeps } from "../deps.ts";
import { readyTenantsInTurn } from "./ready-tenants.ts";
import { reportTrouble } from "./report-trouble.ts";
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
/** However long a look takes. */
const rest_after_slow_ms_max = 60_000;

/** How long a queue in whose list there was nothing is left out by looks: so long, and twice as long each time. */
const empty_ms = { min: 50, max: 1_000 };
/** After a look that failed. */
const rest_after_failure_ms = 500;

/** A tenant, and its queues in which jobs were seen. */
type Turn = { tenant: string; queues: ReadonlySet<string> };

export type Found = {
  /** This queue's list ended a wait: there may be more in it, and in others. */
  woken(queue: QueueRef): void;
  /** Jobs were taken. With `more`, the tenant goes to the end of the line, or is found again when that is long. */
  taken(turn: Turn, more: boolean): void;
  /** Its lists had nothing: its jobs cannot start, or another worker has them. */
  empty(turn: Turn): void;
  /** How long until it is time for `look`. With `all_heard`, as a wait is on all lists, only once something stirs. */
  lookInMs(all_heard: boolean): number;
  /**
   * Put tenants that have ready jobs in our queues in line: some of all, and the next time others. One at a time. Never
   * rejects: a look that fails is reported, and the next one is due after its rest.
   */
  look(): Promise<void>;
  /** The look that is under way. */
  looking(): Promise<void> | undefined;
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
  /** Until when queues are left out, and how long the last time was. */
  const left_out = new Map<string, { until: number; ms: number }>();
  let page: string[] = [];
  let looking: Promise<void> | undefined;
  let looked_at = -Infinity;
  let short_ms = rest_ms_min;
  let rest_ms = rest_ms_min;
  let stirs = true;

  const put = ({ tenant, queue }: QueueRef): void => {
    const queues = line.get(tenant);
    if (queues) queues.add(queue);
    else line.set(tenant, new Set([queue]));
  };
  const nameOf = ({ tenant, queue }: QueueRef) => JSON.stringify([tenant, queue]);
  const queuesOf = ({ tenant, queues }: Turn) => [...queues].map((queue) => ({ tenant, queue }));
  const isLeftOut = (queue: QueueRef) => (left_out.get(nameOf(queue))?.until ?? 0) > now();
  /** Whether any were found in what is left of the page. */
  const lookThrough = async (): Promise<boolean> => {
    const together = Math.max(1, Math.floor(queues_max / served.open().length));
    while (page.length > 0) {
      const ready = await readyAmong(deps, served.queuesOf(page.splice(0, together)));
      const some = ready.filter((queue) => !isLeftOut(queue));
      for (const queue of some) put(queue);
      if (some.length > 0) return true;
    }
    return false;
  };
  const forgetOld = (): void => {
    for (const [name, { until }] of left_out) if (until + empty_ms.max <= now()) left_out.delete(name);
  };
  const lookAround = async (): Promise<void> => {
    if (await lookThrough()) return;
    page = await nextPage();
    await lookThrough();
  };

  const lookOnce = async (): Promise<void> => {
    const began_at = now();
    let failed = false;
    // What stirs from here on is not known to this look, which may go on beside claims.
    const stirred = stirs;
    stirs = false;
    forgetOld();
    try {
      await lookAround();
      // What is ready may not be able to start: those behind it in the page have waited for their look.
      if (stirred) rest_ms = rest_ms_min;
      else if (page.length === 0) rest_ms *= 2;
    } catch (error) {
      failed = true;
      stirs ||= stirred;
      reportTrouble(deps, error);
    } finally {
      looked_at = now();
      short_ms = between(
        failed ? rest_after_failure_ms : rest_ms_min,
        (looked_at - began_at) * rest_times_min,
        rest_after_slow_ms_max,
      );
      rest_ms = between(short_ms, rest_ms, Math.max(short_ms, rest_ms_max));
      looking = undefined;
    }
  };

  return {
    woken(queue) {
      stirs = true;
      left_out.delete(nameOf(queue));
      put(queue);
    },
    taken(turn, more) {
      const { tenant, queues } = turn;
      stirs = true;
      for (const queue of queuesOf(turn)) left_out.delete(nameOf(queue));
      if (more && line.size < tenants_max) for (const queue of queues) put({ tenant, queue });
    },
    empty(turn) {
      for (const name of queuesOf(turn).map(nameOf)) {
        const before = left_out.get(name);
        const ms = before ? Math.min(empty_ms.max, before.ms * 2) : empty_ms.min;
        left_out.set(name, { until: now() + ms, ms });
      }
    },
    lookInMs(all_heard) {
      if (looking || line.size >= tenants_max || (all_heard && !stirs)) return Infinity;
      return Math.max(0, looked_at + (stirs || page.length > 0 ? short_ms : rest_ms) - now());
    },
    look: () => (looking ??= lookOnce()),
    looking: () => looking,
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
