import type { QueueLimitsInput } from "@atlasqueue/contract";
import { between, oneOf, type Chance } from "../chance.ts";
import { queueNames, queues } from "../kinds.ts";
import { insist } from "../submit/insist.ts";
import { pauseFor } from "../submit/pause-for.ts";
import type { Act } from "../submit/turn.ts";
import type { World } from "../submit/world.ts";

/** One person at a time: whose change came last would be anybody's guess. */
const heldBy = new WeakMap<World, Set<string>>();
async function alone(world: World, what: string, act: () => Promise<void>): Promise<void> {
  const held = heldBy.get(world) ?? new Set();
  heldBy.set(world, held);
  if (held.has(what)) return;
  held.add(what);
  try {
    await act();
  } finally {
    held.delete(what);
  }
}

/** Pauses a queue or has it go on, until that is known. */
export async function setPaused(world: World, tenant: string, queue: string, paused: boolean): Promise<void> {
  const begun = world.history.invoke("pause", { tenant, queue, paused });
  const apis = world.apisOf(tenant);
  const known = await insist(world.over, async (tries) => {
    const client = apis[tries % apis.length]?.client;
    await (paused ? client?.pause(queue) : client?.resume(queue));
  });
  if (known.kind === "done") begun.ok({ queue });
  else if (known.kind === "refused") begun.fail(known.error);
  else begun.info(known.error);
}

/** Limits a queue, until that is known. */
export async function setLimits(world: World, tenant: string, queue: string, limits: QueueLimitsInput): Promise<void> {
  const { concurrency = null, rate } = limits;
  const begun = world.history.invoke("limit", {
    tenant,
    queue,
    concurrency,
    rate: rate ? { limit: rate.limit, period_ms: rate.period_seconds * 1_000 } : null,
  });
  const apis = world.apisOf(tenant);
  const known = await insist(world.over, async (tries) => {
    await apis[tries % apis.length]?.client.setLimits(queue, limits);
  });
  if (known.kind === "done") begun.ok({ queue });
  else if (known.kind === "refused") begun.fail(known.error);
  else begun.info(known.error);
}

/** For a moment: nothing of the queue starts meanwhile. */
const pausing: Act = {
  name: "pause",
  weight: 0.05,
  jobs: 1,
  async perform(world, { random }) {
    const [tenant, queue] = [oneOf(random, world.kept), oneOf(random, queueNames)];
    await alone(world, `pause ${tenant} ${queue}`, async () => {
      await setPaused(world, tenant, queue, true);
      await pauseFor(world, between(random, 200, 2_000));
      await setPaused(world, tenant, queue, false);
    });
  },
};

export const concurrencyLimits = (random: Chance): QueueLimitsInput => ({ concurrency: between(random, 2, 8) });
export const rateLimits = (random: Chance): QueueLimitsInput => ({
  rate: { limit: between(random, 20, 60), period_seconds: 1 },
});

const limiting: Act = {
  name: "limit",
  weight: 0.05,
  jobs: 1,
  async perform(world, { random }) {
    const tenant = oneOf(random, world.kept);
    const [queue, draw] = random() < 0.7 ? [queues.limited, concurrencyLimits] : [queues.rated, rateLimits];
    await alone(world, `limit ${tenant} ${queue}`, () => setLimits(world, tenant, queue, draw(random)));
  },
};

export const queueKeeping: readonly Act[] = [pausing, limiting];
