import { setTimeout as delay } from "node:timers/promises";
import type { Scene } from "../scene.ts";

const needed = <T>(value: T | undefined): T => {
  if (value === undefined) throw new Error("the scene could not be set");
  return value;
};

/** The child of a flow is released by the outbox. */
export async function flowOfTwo(scene: Scene): Promise<void> {
  const { core, deps, history } = scene;
  const queue = core.createQueue({ databaseUrl: scene.url });
  const nonces = ["parent", "child"];
  const call = history.invoke("submit", { via: "flow", jobs: nonces.map((nonce) => scene.wanted(nonce)) });
  const { jobs } = await queue.submitFlow({
    jobs: [
      { ref: "a", type: "scene", payload: { nonce: "parent" } },
      { type: "scene", payload: { nonce: "child" }, depends_on: ["a"] },
    ],
  });
  call.ok({ answers: jobs.map(({ id }, at) => ({ nonce: nonces[at] ?? "", job: id, created: true })) });
  await queue.close();
  const followUps = core.createFollowUps(deps);
  await scene.drain();
  await followUps.drain();
  await followUps.stop();
  await scene.drain();
}

/** A remote worker repeats a lease request after it lost one of two jobs and another worker got it. */
export async function repeatedToken(scene: Scene): Promise<void> {
  const { core, deps } = scene;
  const lost = await scene.submit("lost");
  const ids = [lost, await scene.submit("kept")];
  const worker = { tenant: "default", worker_id: "remote-1", lease_seconds: 30, lease_token: crypto.randomUUID() };
  const leased = await core.claim(deps, ids, { ...worker, queues: ["default"] });
  const ends = leased.map((job) => scene.begin(job));
  await scene.endLeases();
  const kept = leased.filter(({ id }) => id !== lost);
  await core.extendLeases(deps, kept, 30);
  await core.recoverExpired(deps, 10);
  const second = needed(await scene.take(lost));
  const end = scene.begin(second);
  const followUps = core.createFollowUps(deps);
  const poll = core.createLongPoll({ ...deps, followUps });
  const request = { ...worker, queue: "default", jobs_max: 2, wait_ms: 0 };
  const { jobs } = await poll.lease(request, new AbortController().signal);
  const name = "jobs given under a token that does not hold them";
  scene.history
    .invoke("sample", { of: "number", name, value: jobs.filter(({ id }) => id === lost).length, bound: 0 })
    .ok({});
  for (const endFirst of ends) endFirst();
  for (const job of kept) await scene.complete(job);
  end();
  await scene.complete(second);
  await poll.close();
  await followUps.stop();
}

/** A queue that runs one job at a time, whose worker sleeps until it is woken. */
export async function wokenByMark(scene: Scene): Promise<void> {
  const { core, deps } = scene;
  const queue = { tenant: "default", queue: "limited" };
  const limits = { concurrency: 1, group_concurrency: null, rate: null, group_rate: null, fair_by: null };
  const followUps = core.createFollowUps(deps);
  const call = scene.history.invoke("limit", { ...queue, concurrency: 1 });
  followUps.limitsChanged(queue, await core.setLimits(deps, queue, limits));
  await followUps.idle();
  call.ok({ queue: queue.queue });
  for (const nonce of ["m1", "m2", "m3"]) await scene.submit(nonce, { queue: queue.queue });
  const claimer = { tenant: "default", queues: [queue.queue], worker_id: "w1", lease_seconds: 30 };
  const take = async () => (await deps.signal.take([queue], 1)).ids;
  for (let ids = await take(); ids.length > 0; ids = await take()) {
    for (const lease of await core.claim(deps, ids, claimer)) {
      scene.begin(lease)();
      await scene.complete(lease);
      await followUps.settled([{ job: lease, became: "succeeded" }]);
    }
    await followUps.idle();
  }
  await followUps.stop();
}

/** PostgreSQL was away, so that the worker could not renew. A sweep comes first, and then the worker renews. */
export async function backAfterOutage(scene: Scene): Promise<void> {
  const { core, deps } = scene;
  const id = await scene.submit("renewed late");
  const lease = needed(await scene.take(id));
  const end = scene.begin(lease);
  await scene.endLeases();
  const stop = new AbortController();
  const followUps = core.createFollowUps(deps);
  const sweeper = core.createSweeper({ ...deps, followUps, logger: core.createLogger("silent", "scene") }, stop.signal);
  const swept = sweeper.run();
  await delay(renews_after_ms);
  await core.extendLeases(deps, [lease], 30);
  stop.abort();
  await swept;
  await followUps.stop();
  const [job] = await scene.sql<{ status: string }[]>`SELECT status FROM atlasqueue.jobs WHERE id = ${id}`;
  const name = "leases ended before their worker could renew";
  const ended = job?.status === "running" ? 0 : 1;
  scene.history.invoke("sample", { of: "number", name, value: ended, bound: 0 }).ok({});
  end();
  await scene.complete(lease);
  await scene.drain();
}
const renews_after_ms = 1_500;

/** Jobs join a group in the moment in which the only job of it ends. */
export async function joinsAtTheEnd(scene: Scene): Promise<void> {
  for (let at = 0; at < pairs; at += 1) {
    const group = `g${at}`;
    const lease = needed(await scene.take(await scene.submit(`${group} first`, { group })));
    const end = scene.begin(lease);
    end();
    const [second] = await Promise.all([
      scene.submit(`${group} second`, { group }),
      scene.submit(`${group} third`, { group }),
      scene.complete(lease),
    ]);
    await scene.work(second);
    await scene.drain();
  }
}
const pairs = 60;
