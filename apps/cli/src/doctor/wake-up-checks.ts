import type { Signal } from "@atlasqueue/core";
import { sharedRedis, type Deps } from "@atlasqueue/core/internal";
import { isOthersRedis, queueDepths } from "@atlasqueue/core/internal/tools";
import { ok, wrong, type Check } from "./check.ts";

type Look = (deps: Deps & { signal: Signal }) => Promise<Check>;

const queues_max = 1_000;
/** Ids busy workers may have in hand, between the list and their claim. */
const in_hand_max = 1_000;

/** Whether another database, such as a copy of this one, uses the same keys. */
export const checkOwner: Look = async (deps) =>
  (await isOthersRedis(deps))
    ? wrong("Redis owner", sharedRedis)
    : ok("Redis owner", "no other database had this Redis first");

/** Ready jobs without a wake-up. Superfluous wake-ups do no harm: workers claim only ready jobs. */
export const checkWakeUps: Look = async (deps) => {
  const depths = await queueDepths(deps, queues_max);
  // Wake-ups of a paused queue start nothing. A queue with limits has a mark instead.
  const open = depths.filter(({ queued, held }) => queued > 0 && !held);
  const missing: { tenant: string; queue: string; count: number; queued: number }[] = [];
  for (const { tenant, queue, queued, running } of open) {
    const { length, overflowed } = await deps.signal.look({ tenant, queue });
    const count = queued - length - (running > 0 ? in_hand_max : 0);
    if (count > 0 && !overflowed) missing.push({ tenant, queue, count, queued });
  }
  const [first] = missing;
  if (!first) return ok("wake-ups", `every ready job of ${open.length} queues has a wake-up in Redis`);
  const where = `queue ${first.queue} of ${first.tenant}`;
  return wrong(
    "wake-ups",
    `${where} has ${first.queued} ready jobs, ${first.count} of them without a wake-up` +
      `${missing.length > 1 ? `, and ${missing.length - 1} more queues` : ""}: is a worker or API process running? Run \`doctor --rebuild-wakeups\` to recreate them`,
  );
};

export const checkDeadLetters: Look = async (deps) => {
  const dead = (await queueDepths(deps, queues_max)).reduce((sum, queue) => sum + queue.dead, 0);
  const { length, consistent } = await deps.signal.deadLetters.look();
  if (length === dead && consistent) return ok("dead letters", `${dead}, the same in Redis`);
  return wrong(
    "dead letters",
    `${dead} jobs are dead, Redis lists ${length}: is a worker or API process running? Its sweep repairs this`,
  );
};
