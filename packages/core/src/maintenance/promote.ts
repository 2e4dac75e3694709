import type { Deps, QueueRef } from "../deps.ts";
import type { Signal, ReadyJob } from "../signal/signal.ts";
import { announce } from "../signal/announce.ts";
import { countMixedMoves } from "../counts/changes.ts";
import { composed } from "../database/composed.ts";
import { numberArray, textArray, unindexed } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import { stepping } from "../queues/stepping.ts";
import { createTenantRound } from "./tenant-round.ts";

const batch_max = 500;
/** In one go, leaving a sweep time for its other duties. */
const promoted_max = 10_000;

/**
 * Make every due job ready and signal it. Returns how many there were. While there are more than a page, pages of the
 * oldest take turns with looks of `goRound`, which has a share for everybody.
 */
export async function promoteAll(deps: Deps & { signal: Signal }, goRound?: DueRound): Promise<number> {
  let total = 0;
  while (total < promoted_max) {
    const promoted = await promoteDue(deps, batch_max);
    await announce(deps, promoted);
    total += promoted.length;
    if (promoted.length < batch_max) break;
    const others = (await goRound?.()) ?? [];
    await announce(deps, others);
    total += others.length;
  }
  return total;
}

/** Sweeps look up to two seconds ahead; they see anything due later than this in time. */
const horizon_ms = 3_000;
/** Jobs due this close together share a promotion. */
const grain_ms = 20;

export type Promoter = {
  /** A job scheduled by this process is due in `delay_ms`. */
  expectIn(delay_ms: number): void;
  stop(): void;
};

/**
 * Makes jobs due very soon ready on time: a sweep that has just looked ahead would be up to two seconds late. Uses timers
 * in the process that scheduled them; should it die, the sweep finds them. What falls due during a look is the next one's:
 * next to a backlog that takes seconds, looks would pile up in front of everything else.
 *
 * @example
 * const promoter = createPromoter(deps);
 * promoter.expectIn(job.run_at.getTime() - job.created_at.getTime());
 */
export function createPromoter(deps: Deps & { signal: Signal }): Promoter {
  const timers = new Map<number, NodeJS.Timeout>();
  let looking = false;
  let wanted = false;
  const promote = async () => {
    wanted = true;
    if (looking) return;
    looking = true;
    while (wanted) {
      wanted = false;
      try {
        await promoteAll(deps);
      } catch (error) {
        // Whatever it is, the sweep meets it too; nothing may be thrown from a timer.
        deps.observe({ event: "promotion_failed", error: String(error) });
      }
    }
    looking = false;
  };
  const fire = (at: number) => {
    timers.delete(at);
    void promote();
  };
  return {
    expectIn(delay_ms) {
      if (delay_ms > horizon_ms) return;
      const now = performance.now();
      const at = Math.ceil((now + delay_ms) / grain_ms) * grain_ms;
      if (!timers.has(at))
        timers.set(
          at,
          setTimeout(() => fire(at), at - now),
        );
    },
    stop() {
      for (const timer of timers.values()) clearTimeout(timer);
      timers.clear();
      wanted = false;
    },
  };
}

/** Up to `jobs_max` jobs of a queue. */
export type Share = QueueRef & { jobs_max: number };

/**
 * scheduled | failed → queued, for up to `jobs_max` jobs whose `due_at` has come, oldest first, and for a share of those of
 * some queues. Concurrent sweepers skip each other's
 * rows. Signal what it returns; as many as `jobs_max` means there may be more.
 *
 * @example
 * await signal.push(await promoteDue(deps, 500));
 */
export async function promoteDue(deps: Deps, jobs_max: number, shares: readonly Share[] = []): Promise<ReadyJob[]> {
  const params = [
    jobs_max,
    textArray(shares.map(({ tenant }) => tenant)),
    textArray(shares.map(({ queue }) => queue)),
    numberArray(shares.map((share) => share.jobs_max)),
  ];
  const promoted = await executeOn(deps.database)<ReadyJob & { attempts: number; run_at: Date }>({ text, params });
  if (promoted.length === 0) return [];
  const retried = promoted.filter((job) => job.attempts > 0).length;
  deps.observe({ event: "jobs_promoted", scheduled: promoted.length - retried, retried });
  return promoted.toSorted((a, b) => a.run_at.getTime() - b.run_at.getTime());
}

// Of a queue a range of the index of all three columns: with an equality, PostgreSQL could walk through everybody's in order of time.
const text = composed(
  "maintenance/promote",
  ["jobs_max", "tenants", "queues", "shares"],
  `
  WITH due AS MATERIALIZED (
    SELECT * FROM (SELECT id, status FROM atlasqueue.jobs WHERE due_at <= now() ORDER BY due_at LIMIT $1::int FOR UPDATE SKIP LOCKED) AS oldest
    UNION
    SELECT one.id, one.status
    FROM unnest($2::text[], $3::text[], $4::int[]) AS share(tenant, queue, jobs_max) CROSS JOIN LATERAL (
      SELECT id, status FROM atlasqueue.jobs
      WHERE due_at IS NOT NULL AND (jobs.tenant, jobs.queue, due_at) >= (share.tenant, share.queue, '-infinity')
        AND (jobs.tenant, jobs.queue, due_at) <= (share.tenant, share.queue, now())
      ORDER BY jobs.tenant, jobs.queue, due_at LIMIT share.jobs_max FOR UPDATE SKIP LOCKED) AS one
  ), promoted AS (
    UPDATE atlasqueue.jobs SET status = 'queued', ready_at = run_at, due_at = NULL, waits_for = NULL, updated_at = now()
    WHERE id = ANY(ARRAY(SELECT id FROM due)) AND ${unindexed("due_at")} <= now()
    RETURNING id, tenant, queue, priority, attempts, run_at
  ), moved AS (
    SELECT tenant, queue, due.status AS from_status, 'queued' AS to_status FROM promoted JOIN due USING (id)
  ), ${countMixedMoves("moved")}
  SELECT * FROM promoted`,
);

/** Of all queues, in one look. */
const round_jobs_max = 500;

/** Queues with jobs that are due now or later, and whether the first one of each is due now. */
const dueQueues = stepping<{ due: boolean }>({
  name: "queues/waiting-queues-of",
  are: "due_at IS NOT NULL",
  order: "ASC",
  said: "first.due_at <= now() AS due",
});

export type DueRound = () => Promise<ReadyJob[]>;

/**
 * Promotes due jobs, queue after queue: each round continues where the last one ended. Each tenant with due jobs gets an
 * equal share of a round, and its queues share that equally, so a million jobs of one tenant do not delay another's. Signal
 * the jobs that it returns.
 *
 * @example
 * const goRound = createDueRound(deps);
 * await announce(deps, await goRound());
 */
export function createDueRound(deps: Deps): DueRound {
  const round = createTenantRound(deps, dueQueues);
  return async () => {
    const shares = sharesOf([...(await round.next()).values()].map((page) => page.filter(({ due }) => due)));
    return shares.length > 0 ? promoteDue(deps, 0, shares) : [];
  };
}

/** At least one job of each queue. */
function sharesOf(pages: readonly (readonly Omit<Share, "jobs_max">[])[]): Share[] {
  const due = pages.filter((page) => page.length > 0);
  return due.flatMap((page) => {
    const share = Math.ceil(round_jobs_max / due.length / page.length);
    return page.map(({ tenant, queue }) => ({ tenant, queue, jobs_max: share }));
  });
}
