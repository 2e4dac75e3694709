// @module-tag slow
import { expect, test } from "vitest";
import type { Job } from "@atlasqueue/contract";
import { eventually, forFile } from "@atlasqueue/harness";
import { inParallel, startSystem, type Api } from "./system.ts";

const system = forFile(startSystem);

/** Submit with one key until there is a final answer, as a client does. */
async function insist(api: Api, key: string): Promise<{ id: string; tries: number }> {
  for (let tries = 1; ; tries += 1) {
    const answer = await api.submit({ type: "demo.echo", payload: { key } }, key);
    if (answer.status === 201 || answer.status === 200) return { id: ((await answer.json()) as Job).id, tries };
    expect(answer.status).toBe(503);
    expect(answer.headers.get("retry-after")).toBe("1");
    await answer.body?.cancel();
  }
}

test("Redis flushed, then gone under load, then Postgres restarted: nothing is lost, stuck or unanswered", async () => {
  const api = await system.startApi({ LOG_LEVEL: "error" });
  const created: string[] = [];

  // 1. Five hundred queued jobs lose their signals.
  created.push(...(await inParallel(500, 20, (at) => api.create({ type: "demo.echo", payload: { at } }))));
  await system.redis.flushall();
  const quiet = { LOG_LEVEL: "error", WORKER_CONCURRENCY: "20" };
  await Promise.all([system.startWorker(quiet), system.startWorker(quiet)].map((one) => one.catch(() => undefined)));

  // 2. Redis is stopped, while jobs keep coming, and until some of them have run without it.
  await system.servers.redis.stop();
  const away = await inParallel(500, 8, async (at) => {
    const answer = await api.submit({ type: "demo.echo" }, `away-${at}`);
    expect(answer.status).toBe(201);
    return ((await answer.json()) as Job).id;
  });
  created.push(...away);
  await eventually(async () => expect(await api.read(away[0] ?? "")).toMatchObject({ status: "succeeded" }));
  await system.servers.redis.restart();

  // 3. Postgres restarts, while jobs keep coming. Every submit is answered, and those answered 503 in the end succeed.
  const during = inParallel(400, 20, (at) => insist(api, `restart-${at}`));
  await system.servers.postgres.restart();
  created.push(...(await during).map((one) => one.id));

  await eventually(
    async () => {
      const rows = await system.sql<
        { status: string; n: number }[]
      >`SELECT status, count(*)::int AS n FROM atlasqueue.jobs GROUP BY status`;
      expect(rows).toEqual([{ status: "succeeded", n: new Set(created).size }]);
    },
    { timeout_ms: 60_000 },
  );
}, 150_000);
