import type { Deps } from "../../deps.ts";
import { queueKinds } from "../../queues/kinds.ts";
import { claimLimited, markedAndReady } from "./limited.ts";
import { addTo, claimWith } from "./statement.ts";
import type { Claimer, Lease } from "../lease.ts";

/** The oldest jobs of the highest priority, each kind of queue in its own way, and with its part of the room. */
export async function claimOldest(deps: Deps, jobs_max: number, claimer: Claimer): Promise<Lease[]> {
  const { random = Math.random, size } = claimer;
  const room_max = Math.min(jobs_max, size?.jobs_max() ?? Infinity);
  const { plain, marked } = await queueKinds(deps, claimer);
  type Claiming = (jobs_max: number) => Promise<Lease[]>;
  const kinds = [
    [plain, (room) => claimWith(deps, { ...claimer, queues: plain }, room)],
    [
      marked,
      async (room) => claimLimited(deps, claimer, await markedAndReady(deps, { ...claimer, queues: marked }), room),
    ],
  ] satisfies [string[], Claiming][];
  const ways = kinds.flatMap(([queues, claiming]) => (queues.length > 0 ? [claiming] : []));
  // So that no kind is always the first.
  const first = Math.floor(random() * ways.length);
  let left = [...ways.slice(first), ...ways.slice(0, first)];
  const leases: Lease[] = [];
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
