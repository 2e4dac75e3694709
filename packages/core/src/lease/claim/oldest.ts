import type { Deps } from "../../deps.ts";
import { queueKinds } from "../../queues/kinds.ts";
import { claimLimited, markedAndReady } from "./limited.ts";
import { addTo, claimWith, claimTexts, served } from "./statement.ts";
import type { Claimer, Lease } from "../lease.ts";
import { claim_bytes_max, payloadBytes } from "../payload-bytes.ts";
import type { Width } from "../take-leases.ts";

/** The oldest jobs of the highest priority, each kind of queue in its own way, and with its part of the room. */
export async function claimOldest<L extends Lease>(
  deps: Deps,
  jobs_max: number,
  claimer: Claimer,
  width: Width,
): Promise<L[]> {
  const { random = Math.random } = claimer;
  const { plain, marked } = await queueKinds(deps, claimer);
  type Claiming = (jobs_max: number) => Promise<L[]>;
  const kinds = [
    [plain, (room) => claimWith<L>(deps, { ...claimer, queues: plain }, oldest[width], room)],
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
  for (const part of [Math.floor(jobs_max / left.length + random()), jobs_max]) {
    const open: Claiming[] = [];
    for (const claiming of left) {
      const room = Math.min(part, jobs_max - leases.length);
      const before = leases.length;
      if (room > 0) await addTo(deps, claimer, leases, () => claiming(room));
      // Fewer than there was room for are all there are.
      if (leases.length - before === room) open.push(claiming);
    }
    left = open;
  }
  return leases.sort((a, b) => b.priority - a.priority || (a.id < b.id ? -1 : 1));
}

// Each queue's own order, then the best of those: one index scan per queue, none longer than the answer.
const oldest = claimTexts(
  "claim-oldest",
  "jobs_max",
  `id = ANY(ARRAY(
      SELECT id FROM (
        SELECT ready.id, sum(bytes) OVER in_order - bytes AS before, row_number() OVER in_order AS number
        FROM unnest(${served}) AS served(queue),
             LATERAL (SELECT id, priority, ready_at, ${payloadBytes} AS bytes FROM atlasqueue.jobs
                      WHERE tenant = $4 AND jobs.queue = served.queue AND ready_at IS NOT NULL
                      ORDER BY priority DESC, ready_at, id LIMIT $6::int
                      FOR UPDATE SKIP LOCKED) AS ready
        WINDOW in_order AS (ORDER BY ready.priority DESC, ready.ready_at, ready.id)) AS weighed
      WHERE before < ${claim_bytes_max} AND number <= $6::int))`,
);
