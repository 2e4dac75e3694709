import type { Deps } from "../../deps.ts";
import { queueKinds } from "../../queues/kinds.ts";
import { claimLimited, markedAndReady } from "./limited.ts";
import { addTo, claimWith, claimTexts, served } from "./statement.ts";
import type { Claimer, Lease } from "../lease.ts";
import type { Width } from "../take-leases.ts";

/** The oldest jobs of the highest priority, each kind of queue in its own way, and with its part of the room. */
export async function claimOldest<L extends Lease>(
  deps: Deps,
  jobs_max: number,
  claimer: Claimer,
  width: Width,
): Promise<L[]> {
  const { random = Math.random, size } = claimer;
  const room_max = Math.min(jobs_max, size?.jobs_max() ?? Infinity);
  const { plain, marked } = await queueKinds(deps, claimer);
  type Claiming = (jobs_max: number) => Promise<L[]>;
  const kinds = [
    [plain, (room) => claimPlainOldest<L>(deps, { ...claimer, queues: plain }, room, width)],
    [
      marked,
      async (room) =>
        claimLimited<L>(deps, claimer, await markedAndReady(deps, { ...claimer, queues: marked }), room, width),
    ],
  ] satisfies [string[], Claiming][];
  const ways = kinds.flatMap(([queues, claiming]) => (queues.length > 0 ? [claiming] : []));
  // So that no kind is always the first.
  const first = Math.floor(random() * ways.length);
  let left = [...ways.slice(first), ...ways.slice(0, first)];
  const leases: L[] = [];
  // Parts first, and what is not used of them afterwards: queues of one kind that never run empty would otherwise keep
  // those of another waiting. Rounded at random, as there may be room for fewer jobs than there are kinds.
  for (const part of [Math.floor(room_max / left.length + random()), room_max]) {
    const open: Claiming[] = [];
    for (const claiming of left) {
      const room = Math.min(part, room_max - leases.length);
      const before = leases.length;
      if (room > 0) await addTo(deps, claimer, leases, () => claiming(room));
      // Fewer than there was room for are all there are.
      if (leases.length - before === room) open.push(claiming);
    }
    left = open;
  }
  return leases.sort((a, b) => b.priority - a.priority || (a.id < b.id ? -1 : 1));
}

/** Of queues without limits and turns. Passes over locked jobs. */
export const claimPlainOldest = <L extends Lease>(deps: Deps, claimer: Claimer, jobs_max: number, width: Width) =>
  claimWith<L>(deps, claimer, oldest[width], jobs_max);

// Each queue's own order, then the best of those: one index scan per queue, none longer than the answer.
const oldest = claimTexts(
  "claim-oldest",
  "jobs_max",
  `id = ANY(ARRAY(
      SELECT ready.id
      FROM unnest(${served}) AS served(queue),
           LATERAL (SELECT id, priority, ready_at FROM atlasqueue.jobs
                    WHERE tenant = $4 AND jobs.queue = served.queue AND ready_at IS NOT NULL
                    ORDER BY priority DESC, ready_at, id LIMIT $6::int
                    FOR UPDATE SKIP LOCKED) AS ready
      ORDER BY ready.priority DESC, ready.ready_at, ready.id LIMIT $6::int))`,
);
