// @module-tag nightly
import { beforeEach, expect, test } from "vitest";
import { eventually, forFile } from "@atlasqueue/harness";
import { ack, createMany, lease } from "./remote-client.ts";
import { startSystem, type Api } from "./system.ts";

const system = forFile(startSystem);
beforeEach(async () => {
  await system.sql`TRUNCATE atlasqueue.jobs, atlasqueue.claims`;
  await system.redis.flushall();
});

const quiet = { LOG_LEVEL: "error" };

const clients = async (): Promise<string[]> =>
  String(await system.redis.client("LIST"))
    .split("\n")
    .filter(Boolean);
/** The API's waits end in a pop on the queue's list. */
const isListening = () =>
  eventually(async () => expect((await clients()).filter((one) => one.includes("cmd=blpop"))).toHaveLength(1));
const open = async (api: Api): Promise<number> => {
  const text = await (await fetch(`${api.url}/metrics`)).text();
  return Number(/^nodejs_active_resources\{type="TCPSocketWrap"\} (\d+)/m.exec(text)?.[1] ?? 0);
};
/** A number of waiting calls, all of which have reached the API. */
async function waitingCalls(api: Api, count: number, wait_seconds = 30) {
  const before = await open(api);
  const calls = Array.from({ length: count }, (_, at) => lease(api.url, { worker_id: `remote-${at}`, wait_seconds }));
  for (const call of calls) call.catch(() => {});
  await eventually(async () => expect((await open(api)) - before).toBeGreaterThanOrEqual(count - 1));
  await isListening();
  return calls;
}

test("a thousand waiting calls cost no query and no more connections, and each gets one of a thousand jobs", async () => {
  const api = await system.startApi(quiet);
  await lease(api.url);
  const idle = (await clients()).length;
  const calls = await waitingCalls(api, 1_000);

  const [backends] = await system.sql<{ n: number }[]>`
    SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name = 'atlasqueue-api'`;
  expect(backends?.n).toBeLessThanOrEqual(10);
  // Besides the connection for commands, the one that waits.
  expect((await clients()).length - idle).toBeLessThanOrEqual(1);

  const watched = await system.sql.reserve();
  const transactions = async () => {
    const [row] = await watched<{ n: number }[]>`
      SELECT pg_stat_clear_snapshot(), xact_commit::int AS n FROM pg_stat_database WHERE datname = current_database()`;
    return row?.n ?? 0;
  };
  // Backends report what they did after being idle for a while, at most ten seconds: two waits on the signal go by.
  const before = await transactions();
  const pops = async () => Number(/cmdstat_blpop:calls=(\d+)/.exec(await system.redis.info("commandstats"))?.[1] ?? 0);
  const popped = await pops();
  await eventually(async () => expect((await pops()) - popped).toBeGreaterThanOrEqual(1), {
    timeout_ms: 15_000,
    interval_ms: 500,
  });
  const looks = 40;
  expect((await transactions()) - before).toBeLessThan(looks + 20);
  watched.release();

  const ids = await createMany(api.url, 1_000);
  const held = (await Promise.all(calls)).flat();
  expect(held.map(({ job }) => job.id).toSorted()).toEqual(ids.toSorted());
  expect(new Set(held.map(({ job }) => job.worker_id)).size).toBe(1_000);
});

test("SIGTERM while a hundred calls wait: they are answered at once with no jobs, and the exit code is 0", async () => {
  const api = await system.startApi(quiet);
  const calls = await waitingCalls(api, 100);
  const watching = createMany(api.url, 1, { queue: "watched" }).then(([id]) =>
    fetch(`${api.url}/v1/jobs/${id}?wait_seconds=30`),
  );
  await eventually(async () =>
    expect(await system.sql`SELECT FROM atlasqueue.jobs WHERE queue = 'watched'`).toHaveLength(1),
  );
  const started = performance.now();
  api.process.kill("SIGTERM");
  expect((await Promise.all(calls)).flat()).toEqual([]);
  await watching.catch(() => {});
  // Their waits would have ended after thirty seconds.
  expect(performance.now() - started).toBeLessThan(20_000);
  expect(await api.process.waitForExit(20_000)).toMatchObject({ code: 0 });
});

test("clients that hang up in the middle of a wait cost no job and no attempt", async () => {
  const api = await system.startApi(quiet);
  for (let round = 0; round < 10; round += 1) {
    const gone = new AbortController();
    const left = Array.from({ length: 20 }, () =>
      lease(api.url, { worker_id: "gone", wait_seconds: 30, lease_seconds: 3_600 }, gone.signal).catch(() => []),
    );
    await isListening();
    // They leave at the moment the jobs come, or the moment after.
    const creating = createMany(api.url, 20);
    if (round % 2 === 0) await creating;
    gone.abort();
    const [ids] = await Promise.all([creating, ...left]);
    const seen = new Set((await Promise.all(left)).flat().map(({ job }) => job.id));
    await eventually(async () => {
      for (const { job } of await lease(api.url, { worker_id: "stays", max_jobs: 100, wait_seconds: 0.2 })) {
        expect(job.attempts).toBe(1);
        seen.add(job.id);
      }
      // Those whose answer was already written: only the lease shows that no one read it. Some of them are still on their
      // way back, and come in the next round.
      const unread = await system.sql<{ id: string }[]>`
        SELECT id FROM atlasqueue.jobs WHERE id = ANY(${ids}::uuid[]) AND worker_id = 'gone'`;
      for (const { id } of unread) seen.add(id);
      expect(ids.filter((id) => !seen.has(id))).toEqual([]);
    });
  }
  const [id] = await createMany(api.url, 1);
  await eventually(async () => {
    const held = await lease(api.url, { wait_seconds: 10 });
    for (const { job } of held) expect(job.attempts).toBe(1);
    expect(held).toMatchObject([{ job: { id } }]);
    for (const one of held) expect((await ack(api.url, one)).status).toBe(200);
  });
});
