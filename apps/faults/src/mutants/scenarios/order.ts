import type { Scene } from "../scene.ts";

/** A group of jobs, worked through by as many as find one. */
export async function oneGroup(scene: Scene): Promise<void> {
  const ids: string[] = [];
  for (const nonce of ["g1", "g2", "g3", "g4"]) ids.push(await scene.submit(nonce, { group: "g" }));
  for (let round = 0; round < ids.length; round += 1) {
    await scene.core.advanceAll(scene.deps);
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
  const ids: string[] = [];
  for (let at = 0; at < 40; at += 1) ids.push(await scene.submit(`c${at}`, { queue }));
  while (ids.length > 0) {
    const asked = ids.splice(0, 10);
    const leases = await Promise.all(asked.map((id, at) => scene.take(id, `w${at}`)));
    for (const [at, lease] of leases.entries()) {
      if (lease) {
        scene.begin(lease)();
        await scene.complete(lease);
      } else if (!(await scene.sql`SELECT FROM jobs WHERE id = ${asked[at] ?? ""} AND status <> 'queued'`).length)
        ids.push(asked[at] ?? "");
    }
  }
}
