import { DatabaseTimeoutError } from "@atlasqueue/core";
import { readyAmong, type QueueRef } from "@atlasqueue/core/internal";
import type { WorkerDeps } from "../deps.ts";
import { createLookPace } from "./look-pace.ts";
import { readyTenantsInTurn } from "./ready-tenants.ts";
import { reportTrouble } from "./report-trouble.ts";
import type { Served } from "./served.ts";

/** Queues looked at in one statement. */
const queues_max = 2_000;
/** With so many tenants in line, no others are looked for. */
const tenants_max = 500;
/** How long a queue that gave nothing is left out by looks: so long, and twice as long each time. */
const empty_ms = { min: 50, max: 1_000 };

/** A tenant, and its queues in which jobs were seen. */
export type Turn = { tenant: string; queues: ReadonlySet<string> };

export type Found = {
  /** This queue's list ended a wait: there may be more in it, and in others. */
  woken(queue: QueueRef): void;
  /** Jobs were taken. With `more`, the tenant goes to the end of the line, or is found again when that is long. */
  taken(turn: Turn, more: boolean): void;
  /** It gave nothing: its jobs cannot start, or another worker has them. */
  empty(turn: Turn): void;
  /** It could not be asked: it is first in line again. */
  putBack(turn: Turn): void;
  /** How long until it is time for `look`. With `all_heard`, as a wait is on all lists, only once something stirs. */
  lookInMs(all_heard: boolean): number;
  /**
   * Put tenants that have ready jobs in our queues in line: some of all, and the next time others. One at a time. Never
   * rejects: a look that fails is reported, and the next one is due after its rest.
   */
  look(): Promise<void>;
  /** The look that is under way. */
  looking(): Promise<void> | undefined;
  /** Whether anyone is in line. */
  any(): boolean;
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
  let began_at = 0;
  /** Late though the database answered others meanwhile. */
  const wasSlow = (error: unknown) =>
    error instanceof DatabaseTimeoutError && deps.database.pulse.answered_at > began_at;
  const pace = createLookPace(now, wasSlow);

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
  /** Whether some of the page is left: what is ready may not be able to start, and those behind it wait for their look. */
  const lookAround = async (): Promise<boolean> => {
    if (!(await lookThrough())) {
      page = await nextPage();
      await lookThrough();
    }
    return page.length > 0;
  };

  const lookOnce = async (): Promise<void> => {
    forgetOld();
    began_at = performance.now();
    try {
      await pace.around(lookAround);
    } catch (error) {
      reportTrouble(deps, error);
    } finally {
      looking = undefined;
    }
  };

  return {
    woken(queue) {
      pace.stir();
      left_out.delete(nameOf(queue));
      put(queue);
    },
    taken(turn, more) {
      const { tenant, queues } = turn;
      pace.stir();
      for (const queue of queuesOf(turn)) left_out.delete(nameOf(queue));
      // It has just left the line: a full one becomes shorter, or others would not be looked for while these have more.
      if (more && line.size + 1 < tenants_max) for (const queue of queues) put({ tenant, queue });
    },
    empty(turn) {
      for (const name of queuesOf(turn).map(nameOf)) {
        const before = left_out.get(name);
        const ms = before ? Math.min(empty_ms.max, before.ms * 2) : empty_ms.min;
        left_out.set(name, { until: now() + ms, ms });
      }
    },
    putBack({ tenant, queues }) {
      const behind = [...line];
      line.clear();
      line.set(tenant, new Set(queues));
      for (const [name, theirs] of behind) for (const queue of theirs) put({ tenant: name, queue });
    },
    lookInMs(all_heard) {
      return looking || line.size >= tenants_max ? Infinity : pace.dueInMs(all_heard);
    },
    look: () => (looking ??= lookOnce()),
    looking: () => looking,
    any: () => line.size > 0,
    next() {
      const [first] = line;
      if (!first) return undefined;
      const [tenant, queues] = first;
      line.delete(tenant);
      return { tenant, queues };
    },
  };
}
