import type { CatchUp } from "@atlasqueue/contract";
import type { Slots } from "./cron/cron.ts";

/** A slot later than this was missed. Less than the shortest time between two slots. */
const grace_ms = 59_000;

/** The most slots `all` makes up for, the latest ones; earlier ones are given up. */
export const caught_up_max = 1_000;

export type Firing = {
  /** The slots that get a job now, oldest first. */
  fire: Date[];
  /** The first slot left for later; null when there will be none. */
  next_at: Date | null;
  /** The slots from this one up to the first that is fired get no job. */
  missed_from: Date | null;
};

/**
 * What to do at `now` about a schedule whose slots from `next_at` on are still to be dealt with. At most `slots_max`
 * are fired at once; then `next_at` is in the past and there is more to do.
 *
 * @example
 * const { fire, next_at } = catchUp("one", readCron("0 * * * *", "UTC"), next_at, now, 100);
 */
export function catchUp(kind: CatchUp, slots: Slots, next_at: Date, now: Date, slots_max: number): Firing {
  const due = wanted(kind, slots, { next_at, now, at_least: slots_max + 1 });
  const fire = due.slice(0, slots_max);
  const [first] = fire;
  return {
    fire,
    next_at: due[slots_max] ?? slots.after(now, 1)[0] ?? null,
    missed_from: first === undefined || first > next_at ? next_at : null,
  };
}

type Late = { next_at: Date; now: Date; at_least: number };

/** The wanted slots from `next_at` up to now, however late it is: the oldest `at_least`, or all. */
function wanted(kind: CatchUp, slots: Slots, { next_at, now, at_least }: Late): Date[] {
  switch (kind) {
    case "none":
      return slots.upTo(now, 1, next_at).filter((slot) => now.getTime() - slot.getTime() <= grace_ms);
    case "one":
      return slots.upTo(now, 1, next_at);
    case "all": {
      // So few that none is given up, as they are a minute apart at least: the first are enough.
      const isRecent = now.getTime() - next_at.getTime() < caught_up_max * 60_000;
      if (!isRecent) return slots.upTo(now, caught_up_max, next_at);
      return slots.after(new Date(next_at.getTime() - 1), at_least).filter((slot) => slot <= now);
    }
    default:
      return kind satisfies never;
  }
}
