import type { Deps } from "../../deps.ts";
import type { FollowUps } from "../../follow-ups.ts";
import { pause } from "../../pause.ts";
import { announce } from "../../signal/announce.ts";
import type { ReadyJob, Signal } from "../../signal/signal.ts";

/** A job in a caller's transaction. After the commit, `ready` is to be signalled, and a `pending` job is to be admitted. */
export type InsideJob = { id: string; ready?: ReadyJob | undefined; pending?: boolean | undefined };

export type Announcements = {
  remember(job: InsideJob): void;
  /** Never rejects. What is not done by the database's deadline, the sweep does. */
  announce(jobs: readonly { id: string }[]): Promise<void>;
};

const remembered_max = 10_000;

/**
 * What jobs that were submitted in callers' transactions need after the commit.
 *
 * const announcements = createAnnouncements(deps, followUps);
 * announcements.remember({ id, pending: true });
 * await announcements.announce([{ id }]);
 */
export function createAnnouncements(
  deps: Deps & { signal: Signal },
  followUps: Pick<FollowUps, "drain">,
): Announcements {
  const remembered = new Map<string, ReadyJob | "pending">();
  return {
    remember({ id, ready, pending }) {
      if (ready || pending) remembered.set(id, ready ?? "pending");
      // Rolled back, or never announced: the oldest are forgotten.
      if (remembered.size > remembered_max) remembered.delete(remembered.keys().next().value ?? "");
    },
    async announce(jobs) {
      const known = jobs.flatMap(({ id }) => {
        const job = remembered.get(id);
        remembered.delete(id);
        return job ? [job] : [];
      });
      await announce(
        deps,
        known.flatMap((job) => (job === "pending" ? [] : [job])),
      );
      if (!known.includes("pending")) return;
      const drained = new AbortController();
      await Promise.race([followUps.drain(), pause(deps.database.timeout_ms, drained.signal)]);
      drained.abort();
    },
  };
}
