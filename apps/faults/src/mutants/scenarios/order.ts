import { setTimeout as delay } from "node:timers/promises";
import type { Scene } from "../scene.ts";

/** A group of jobs, worked through by as many as find one. */
export async function oneGroup(scene: Scene): Promise<void> {
  const ids: string[] = [];
  for (const nonce of ["g1", "g2", "g3", "g4"]) ids.push(await scene.submit(nonce, { group: "g" }));
  for (let round = 0; round < ids.length; round += 1) {
    // The last first: whoever may not run yet is not to be had.
    const held = [];
    for (const id of ids.toReversed()) {
      const lease = await scene.take(id);
      if (lease) held.push({ lease, end: scene.begin(lease) });
    }
    for (const { lease, end } of held) {
      end();
      await scene.complete(lease);
    }
  }
}

/** Many claim at once in a queue that may run two jobs. */
export async function crowdedQueue(scene: Scene): Promise<void> {
  const queue = "limited";
  const call = scene.history.invoke("limit", { tenant: "default", queue, concurrency: 2 });
  const limits = { concurrency: 2, group_concurrency: null, rate: null, group_rate: null, fair_by: null };
  await scene.core.setLimits(scene.deps, { tenant: "default", queue }, limits);
  call.ok({ queue });
  for (let at = 0; at < 40; at += 1) await scene.submit(`c${at}`, { queue });
  for (;;) {
    // A claim in such a queue takes the oldest, whichever was asked for.
    const asked = await scene.sql<
      { id: string }[]
    >`SELECT id FROM atlasqueue.jobs WHERE status = 'queued' ORDER BY id LIMIT 10`;
    if (asked.length === 0) return;
    for (const lease of await Promise.all(asked.map(({ id }, at) => scene.take(id, `w${at}`)))) {
      if (!lease) continue;
      scene.begin(lease)();
      await scene.complete(lease);
    }
  }
}

/** A claim in a queue with a rate waits for its turn, and others come as soon as there is room again. */
export async function lateStarts(scene: Scene): Promise<void> {
  const queue = "limited";
  const rate = { limit: 2, period_seconds: period_ms / 1_000 };
  const call = scene.history.invoke("limit", {
    tenant: "default",
    queue,
    concurrency: null,
    rate: { limit: rate.limit, period_ms },
  });
  const limits = { concurrency: null, group_concurrency: null, rate, group_rate: null, fair_by: null };
  await scene.core.setLimits(scene.deps, { tenant: "default", queue }, limits);
  call.ok({ queue });
  const ids: string[] = [];
  for (let at = 0; at < 2 * rate.limit; at += 1) ids.push(await scene.submit(`s${at}`, { queue }));
  const claimer = { tenant: "default", queues: [queue], worker_id: "w1", lease_seconds: 30 };
  const take = () => scene.core.claim(scene.deps, ids, claimer);
  // Whoever waits too long passes the queue over, and comes again.
  while (ids.length > 0) {
    const late = ids.length === 2 * rate.limit;
    for (const lease of late ? await behindStranger(scene, queue, take) : await take()) {
      ids.splice(ids.indexOf(lease.id), 1);
      scene.begin(lease)();
      await scene.complete(lease);
    }
  }
}
const period_ms = 500;
const waits_ms = 100;

/** Somebody has the queue's row locked, until the claim has waited for it for a while. */
async function behindStranger<T>({ sql }: Scene, queue: string, take: () => Promise<T>): Promise<T> {
  let taking: Promise<T> | undefined;
  await sql.begin(async (stranger) => {
    await stranger`SELECT FROM atlasqueue.queues WHERE queue = ${queue} FOR UPDATE`;
    taking = take();
    await delay(waits_ms);
  });
  return taking as Promise<T>;
}
