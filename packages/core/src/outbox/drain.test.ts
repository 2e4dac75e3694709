import { eventually, recordEvents, steppingDatabase } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { engineHarness } from "../../test/engine-harness.ts";
import { drainPage, type Handler, type Handlers } from "./drain-page.ts";
import { createDrainer } from "./drainer.ts";

const { deps, add, addMany, besideStranger } = engineHarness();

const write = async (key: string, { kind = "a", tenant = "default", version = 1 } = {}) => {
  const [row] = await deps.database.sql<{ id: string }[]>`
    INSERT INTO atlasqueue.outbox (kind, version, tenant, key) VALUES (${kind}, ${version}, ${tenant}, ${key}) RETURNING id`;
  return row?.id ?? "";
};
const left = async () =>
  (await deps.database.sql<{ key: string }[]>`SELECT key FROM atlasqueue.outbox ORDER BY id`).map(({ key }) => key);
const delays = async () =>
  (
    await deps.database.sql<{ ms: number }[]>`
    SELECT round(1000 * extract(epoch FROM not_before - now()))::float8 AS ms FROM atlasqueue.outbox ORDER BY id`
  ).map(({ ms }) => ms);
const due = () => deps.database.sql`UPDATE atlasqueue.outbox SET not_before = '-infinity'`;

/** Handles rows of the kind `a`, and notes their jobs. */
function recording(handle: Handler = async () => ({})) {
  const seen: string[] = [];
  const handlers: Handlers = {
    a: {
      version: 1,
      handle: async (execute, rows, is_alone) => {
        const handled = await handle(execute, rows, is_alone);
        return { ...handled, committed: async () => void seen.push(...rows.flatMap(({ key }) => key ?? [])) };
      },
    },
  };
  return { seen, handlers };
}

test("each tenant's oldest rows come first, and tenants have equal shares of a page", async () => {
  const jobs = await addMany(9);
  for (const id of jobs.slice(0, 8)) await write(id);
  const other = jobs[8] ?? "";
  await write(other, { tenant: "other" });
  const { seen, handlers } = recording();
  await drainPage(deps, handlers, 4);
  expect(seen).toEqual([jobs[0], jobs[1], other]);
});

test("rows of unknown kinds and newer versions are left", async () => {
  const [job = ""] = await add({});
  await write(job, { version: 2 });
  await write(job, { kind: "b" });
  const { seen, handlers } = recording();
  expect(await drainPage(deps, handlers, 10)).toMatchObject({ rows: 0 });
  expect([seen, await left()]).toEqual([[], [job, job]]);
});

test("a row whose job is locked is put off for twice as long each time, up to 30 s, and others go on", async () => {
  const [stuck = "", free = ""] = await addMany(2);
  await write(stuck);
  await write(free);
  const { seen, handlers } = recording();
  await besideStranger([stuck], async () => {
    expect(await drainPage(deps, handlers, 10)).toMatchObject({ rows: 2 });
    expect([seen, await left()]).toEqual([[free], [stuck]]);
    expect((await delays())[0]).toBeLessThanOrEqual(250);
    await deps.database.sql`UPDATE atlasqueue.outbox SET not_before = now() + interval '1 minute'`;
    expect(await drainPage(deps, handlers, 10)).toMatchObject({ rows: 0 });
    for (const ms of [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
      await due();
      await drainPage(deps, handlers, 10);
      const [put_off_ms = 0] = await delays();
      expect(put_off_ms).toBeLessThanOrEqual(ms);
      // Shorter ones may be over.
      if (ms > 5_000) expect(put_off_ms).toBeGreaterThan(ms / 2);
    }
  });
  await due();
  await drainPage(deps, handlers, 10);
  expect([seen, await left()]).toEqual([[free, stuck], []]);
});

test("many rows of one tenant that were put off are not read again before they are due", async () => {
  const jobs = await addMany(60);
  for (const id of jobs) await write(id);
  const { seen, handlers } = recording();
  await besideStranger(jobs.slice(0, 55), async () => {
    while ((await drainPage(deps, handlers, 10)).rows > 0);
    expect(seen).toEqual(jobs.slice(55));
  });
});

test("a row that its handler leaves for the next page keeps its id", async () => {
  const [job = ""] = await add({});
  const id = await write(job);
  const { handlers } = recording(async (_execute, rows) => ({
    again: rows.map((row) => ({ ...row, payload: { at: 5 } })),
  }));
  await drainPage(deps, handlers, 10);
  expect(
    await deps.database.sql`SELECT id::text, payload, not_before = '-infinity' AS is_due FROM atlasqueue.outbox`,
  ).toEqual([{ id, payload: { at: 5 }, is_due: true }]);
});

test("a row that its handler fails on is put off alone, and the others are acted on", async () => {
  const jobs = await addMany(9);
  for (const id of jobs) await write(id);
  const bad = jobs[4] ?? "";
  const recorded = recordEvents();
  const { seen, handlers } = recording(async (execute, rows) => {
    if (rows.some(({ key }) => key === bad)) await execute({ text: "SELECT 1 / 0", params: [] });
    return {};
  });
  const outbox = createDrainer({ ...deps, observe: recorded.observe }, handlers);
  await eventually(async () => {
    await outbox.drain();
    expect(await left()).toEqual([bad]);
  });
  outbox.stop();
  expect(seen.toSorted()).toEqual(jobs.filter((id) => id !== bad).toSorted());
  expect(JSON.stringify(recorded.named("outbox_failed"))).toContain("division by zero");
});

test("what is put off comes back by itself", async () => {
  const [job = ""] = await add({});
  await write(job);
  const { seen, handlers } = recording();
  const outbox = createDrainer(deps, handlers);
  await besideStranger([job], async () => void (await outbox.drain()));
  await eventually(() => expect(seen).toEqual([job]));
  outbox.stop();
});

test("rows that are to be tried alone are, before they are due, and in turn with pages", async () => {
  const jobs = await addMany(4);
  for (const id of jobs.slice(0, 3)) await write(id);
  const pages: string[][] = [];
  const { handlers } = recording(async (_execute, rows, is_alone) => {
    pages.push(rows.flatMap(({ key }) => key ?? []));
    if (pages.length === 1) await write(jobs[3] ?? "");
    return is_alone ? {} : { alone: rows.slice(0, 2) };
  });
  const outbox = createDrainer(deps, handlers);
  await outbox.drain();
  outbox.stop();
  expect(pages).toEqual([jobs.slice(0, 3), [jobs[0]], [jobs[3]], [jobs[1]]]);
  expect(await left()).toEqual([]);
});

test("of a lane, the oldest row is acted on first, however late, and others go on", async () => {
  const jobs = await addMany(4);
  for (const [at, id] of jobs.entries())
    await deps.database.sql`
      INSERT INTO atlasqueue.outbox (kind, tenant, key, lane) VALUES ('a', 'default', ${id}, ${at === 3 ? "other" : "lane"})`;
  await deps.database.sql`
    UPDATE atlasqueue.outbox SET not_before = now() + interval '1 minute' WHERE key = ${jobs[0] ?? ""}`;
  const { seen, handlers } = recording();
  const outbox = createDrainer(deps, handlers);
  await outbox.drain();
  expect(seen).toEqual([jobs[3]]);
  await due();
  await outbox.drain();
  outbox.stop();
  expect(seen).toEqual([jobs[3], ...jobs.slice(0, 3)]);
});

test("two drainers share the rows, and one that stands still in a page keeps only the rows of that page", async () => {
  const jobs = await addMany(40);
  for (const id of jobs) await write(id);
  const stuck = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  const database = steppingDatabase(deps.database, async (step) => {
    if (step !== "commit") return;
    reached.resolve();
    await stuck.promise;
  });
  const first = recording();
  const page = drainPage({ database }, first.handlers, 10);
  await reached.promise;
  const second = recording();
  const outbox = createDrainer(deps, second.handlers);
  await outbox.drain();
  expect(second.seen.toSorted()).toEqual(jobs.slice(10).toSorted());
  stuck.resolve();
  await page;
  expect([...first.seen, ...second.seen].toSorted()).toEqual(jobs.toSorted());
  expect(await left()).toEqual([]);
  outbox.stop();
});

test("the server ends a page whose process stands still, and another process acts on its rows", async () => {
  const [job = ""] = await add({});
  await write(job);
  const reached = Promise.withResolvers<void>();
  const stuck = Promise.withResolvers<void>();
  const { seen, handlers } = recording(async () => {
    reached.resolve();
    await stuck.promise;
    return {};
  });
  const page = drainPage(deps, handlers, 10).catch((error: unknown) => error);
  await reached.promise;
  const second = recording();
  await eventually(async () => {
    await drainPage(deps, second.handlers, 10);
    expect(second.seen).toEqual([job]);
  });
  stuck.resolve();
  expect(await page).toBeInstanceOf(Error);
  expect(seen).toEqual([]);
});
