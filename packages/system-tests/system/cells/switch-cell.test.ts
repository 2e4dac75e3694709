// @module-tag nightly
import { migrateDatabase } from "@atlasqueue/core";
import { pause } from "@atlasqueue/core/internal";
import { eventually, ownServers } from "@atlasqueue/harness";
import { defineHandler } from "@atlasqueue/worker";
import postgres from "postgres";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { replicaSteps } from "../replica-page.ts";
import { expectTrueCounts, queueOf, twoCells, workOn, type TestCell } from "./two-cells.ts";

// To another PostgreSQL, as apps/docs/pages/operate/moving-cells.md says it.

/** Jobs of each kind until stopped: plain ones with keys, groups and flows. Resolves with the ids of those with keys. */
function createLoad(cell: TestCell) {
  const queue = queueOf(cell);
  const stop = new AbortController();
  const ids = new Map<string, string>();
  const run = async () => {
    for (let n = 0; !stop.signal.aborted; n += 1) {
      const key = `key-${n}`;
      const grouped = { type: "notes", group: "g", idempotency_key: key, payload: { n } };
      const [{ id } = { id: "" }] = await queue.submitMany([grouped]);
      ids.set(key, id);
      await queue.submitFlow({
        jobs: [
          { type: "notes", ref: "a" },
          { type: "notes", depends_on: ["a"] },
        ],
      });
      await pause(20, stop.signal);
    }
  };
  const running = run();
  return {
    ids,
    async end() {
      stop.abort();
      await running;
      await queue.close();
    },
  };
}

test(
  "a cell goes on with a logical replica on another server, while another cell of its server works",
  { timeout: 300_000 },
  async () => {
    const servers = await Promise.all([ownServers(), ownServers()]);
    onTestFinished(async () => void (await Promise.all(servers.map((one) => one.stop()))));
    const [old_server, new_server] = servers;
    const admin = postgres(old_server.postgres.url, { max: 1 });
    await admin.unsafe("ALTER SYSTEM SET wal_level = 'logical'");
    await admin.end();
    await old_server.postgres.stop();
    await old_server.postgres.restart();
    const urls = { OLD: old_server.postgres.url, NEW: new_server.postgres.url };
    const [home, east] = await twoCells([urls.OLD, urls.OLD]);
    const [publish, subscribe, isCopied, isCaughtUp, takeOver] = replicaSteps("moving-cells", urls);

    const places: number[] = [];
    const ran = new Map<string, number>();
    const notes = defineHandler("notes", z.looseObject({ n: z.number().optional() }), async ({ n }, { job }) => {
      ran.set(job.id, (ran.get(job.id) ?? 0) + 1);
      if (n !== undefined) places.push(n);
    });
    const others = defineHandler("notes", z.looseObject({}), async () => {});
    const staying = [workOn(home, [others]), createLoad(home)] as const;
    const worker = workOn(east, [notes]);
    const load = createLoad(east);
    await eventually(() => expect(places.length).toBeGreaterThan(20), { timeout_ms: 30_000 });

    await publish?.();
    await migrateDatabase(urls.NEW, { schema: "east" });
    await subscribe?.();
    await eventually(async () => expect(await isCopied?.()).toEqual([{ copied: true }]), { timeout_ms: 60_000 });
    const before = places.length;
    await eventually(() => expect(places.length).toBeGreaterThan(before + 50), { timeout_ms: 30_000 });

    await load.end();
    await worker.stop();
    await eventually(async () => expect(await isCaughtUp?.()).toEqual([{ copied: true }]), { timeout_ms: 30_000 });
    await takeOver?.();
    const [, there] = await twoCells([urls.OLD, urls.NEW]);
    const moved = { ...there, common: { ...there.common, keys: east.common.keys } };
    workOn(moved, [notes]);
    const again = createLoad(moved);
    const statuses = () => moved.database.sql<{ status: string }[]>`SELECT DISTINCT status FROM east.jobs`;
    await eventually(() => expect(again.ids.size).toBeGreaterThan(load.ids.size + 20), { timeout_ms: 60_000 });
    await again.end();
    await staying[1].end();
    await eventually(async () => expect(await statuses()).toEqual([{ status: "succeeded" }]), { timeout_ms: 60_000 });
    // The same keys name the same jobs.
    for (const [key, id] of load.ids) expect([key, again.ids.get(key)]).toEqual([key, id]);
    expect(places).toEqual(Array.from({ length: again.ids.size }, (_, n) => n));
    expect([...ran.values()].filter((times) => times > 1)).toEqual([]);
    await expectTrueCounts(home, moved);
  },
);
