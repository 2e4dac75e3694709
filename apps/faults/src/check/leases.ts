import type { Moved } from "../audit/read-audit.ts";
import type { HandlerRun, Story } from "./facts.ts";

/**
 * How a lease ended: `settled` by its holder, `given` back by it, `parked`, `lost` to the sweep, `cancelled` by people, or not
 * yet.
 */
type LeaseEnd = "settled" | "given" | "parked" | "lost" | "cancelled" | "open";

/** A job under one token, from the claim to the move that ended it. */
export type Held = {
  job: string;
  attempt: number;
  token: string | null;
  worker: string | null;
  from_ms: number;
  to_ms: number;
  end: LeaseEnd;
  claimed: Moved;
  stopped: Moved | undefined;
};

/** Two clocks are read to compare a line with a move: so far they may be apart. */
export const clocks_ms = 50;

/** The leases of a job, in their order. */
export function leasesOf(story: Story): Held[] {
  const leases: Held[] = [];
  for (const [at, claimed] of story.moves.entries()) {
    if (claimed.status !== "running" || claimed.was === "running") continue;
    const stopped = story.moves.slice(at + 1).find(({ was, status }) => was === "running" && status !== "running");
    const { attempts, token, worker, at_ms } = claimed;
    leases.push({
      job: story.id,
      attempt: attempts,
      token,
      worker,
      from_ms: at_ms,
      to_ms: stopped?.at_ms ?? Infinity,
      end: stopped ? endOf(claimed, stopped) : "open",
      claimed,
      stopped,
    });
  }
  return leases;
}

function endOf(claimed: Moved, { status, attempts, dead_reason }: Moved): LeaseEnd {
  switch (status) {
    case "queued":
      return attempts < claimed.attempts ? "given" : "lost";
    case "dead":
      return dead_reason === "lease_lost" ? "lost" : "settled";
    case "scheduled":
      return "parked";
    case "cancelled":
      return "cancelled";
    default:
      return "settled";
  }
}

/**
 * Whether a handler ran under a lease: the same attempt, begun after the claim and before the next one with that number. An
 * attempt that was given back is another worker's within a few ms, so a remote handler, which tells its worker, needs that one.
 */
export function ranUnder(run: HandlerRun, lease: Held): boolean {
  return (
    run.attempt === lease.attempt &&
    (!run.remote || run.worker === lease.worker) &&
    run.from_ms >= lease.from_ms - clocks_ms &&
    run.from_ms <= lease.to_ms + clocks_ms
  );
}
