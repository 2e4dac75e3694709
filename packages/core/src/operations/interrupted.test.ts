import { brokenConnection, steppingDatabase, ownSignal } from "@atlasqueue/harness";
import { type Mock, expect, test, vi, onTestFinished } from "vitest";
import { replayWorld, tenant } from "../../test/replay-world.ts";
import type { Deps } from "../deps.ts";
import { type FollowUps, createFollowUps } from "../follow-ups.ts";
import type { Signal } from "../signal/signal.ts";
import { replayAll } from "../dead-letters/bulk.ts";
import { carryOnOperations } from "./step.ts";

const world = replayWorld();
const { dead, start, step, look } = world;

test("while a page is under way, no lock of it outlives it, and a stopped one holds nobody up", async () => {
  await dead(600);
  const row = await start({ filter: { all: true } });
  await step();
  const locks = await world.sql`
    SELECT relation::regclass AS on FROM pg_locks JOIN pg_stat_activity USING (pid)
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND mode = 'RowShareLock'`;
  expect(locks).toEqual([]);
  // One process stands still in the middle of a page: another does pages of another replay meanwhile.
  const other = await start({ filter: { all: true } });
  await world.sql`UPDATE atlasqueue.operations SET next_at = now() - interval '1 hour' WHERE id = ${row.id}`;
  await world.sql.begin(async (stranger) => {
    await stranger`SELECT FROM atlasqueue.operations WHERE id = ${row.id} FOR UPDATE`;
    expect(await step()).toBe(true);
  });
  expect((await look(other)).done).toBe(100);
});

type BrokenDeps = Deps & { signal: Signal; followUps: FollowUps; broken: Mock };

test.each([
  [
    "of the background",
    async (on: BrokenDeps) => {
      const row = await start({ filter: { all: true } });
      await expect(carryOnOperations(on, new AbortController().signal)).rejects.toThrow("CONNECTION_CLOSED");
      expect(on.broken).toHaveBeenCalled();
      expect((await look(row)).done).toBe(500);
    },
  ],
  [
    "of a request",
    async (on: BrokenDeps) => {
      await expect(replayAll(on, { tenant }, { dry_run: false })).rejects.toThrow("CONNECTION_CLOSED");
      expect(on.broken).toHaveBeenCalled();
    },
  ],
])("what one page replayed is followed up even if the next one fails: %s", async (_of, act) => {
  await dead(600);
  const oldest = await world.sql`SELECT id FROM atlasqueue.jobs ORDER BY dead_at LIMIT 500`;
  const signal = ownSignal();
  onTestFinished(() => signal.close());
  await signal.deadLetters.add((await world.sql`SELECT id FROM atlasqueue.jobs`).map(({ id }) => String(id)));
  const followUps = createFollowUps({ ...world.deps, signal });
  const broken = vi.fn<() => void>();
  let committed = false;
  const database = steppingDatabase(world.deps.database, (kind, _number, text) => {
    if (kind === "statement" && committed && text.includes("UPDATE atlasqueue.jobs SET status")) {
      broken();
      throw brokenConnection();
    }
    if (kind === "answer" && /COMMIT|UPDATE atlasqueue.jobs SET status/.test(text)) committed = true;
  });
  await act({ ...world.deps, database, signal, followUps, broken });
  await followUps.stop();
  const ids = new Set(oldest.map(({ id }) => String(id)));
  expect(new Set((await signal.take([{ tenant, queue: "default" }], 1_000)).ids)).toEqual(ids);
  expect((await signal.deadLetters.look()).length).toBe(100);
});
