import { expect, test } from "vitest";
import { engineHarness } from "../../test/engine-harness.ts";
import { openDatabase, openProxy } from "../../test/opened.ts";
import type { Database } from "../database/connect.ts";
import { createFollowUps } from "../follow-ups.ts";
import { memorySignal } from "../signal/memory/signal.ts";
import { bulkJobs, type BulkAction } from "./bulk.ts";

const { deps, url, addMany, besideStranger, take, status } = engineHarness();

const change = async (
  action: BulkAction,
  which: Parameters<typeof bulkJobs>[3],
  { database = deps.database, stop = new AbortController().signal }: { database?: Database; stop?: AbortSignal } = {},
) => {
  const signal = memorySignal();
  const followUps = createFollowUps({ ...deps, signal });
  try {
    return await bulkJobs({ ...deps, database, followUps }, "default", action, which, { dry_run: false, stop });
  } finally {
    await followUps.stop();
  }
};

/** Well below a deadline, well above the time of some statements. */
const waited_ms_max = 4_000;

test.each(["by ids", "by a filter"])("a locked job keeps no other from being changed, %s", async (by) => {
  const ids = await addMany(250);
  const which: Parameters<typeof bulkJobs>[3] = by === "by ids" ? { ids } : {};
  await besideStranger([ids[200]], async () => {
    const began = performance.now();
    expect(await change("cancel", which)).toMatchObject({ matched: 250, changed: 249, next: undefined });
    expect(await change("retry", which)).toMatchObject({ matched: 249, changed: 249, next: undefined });
    expect(performance.now() - began).toBeLessThan(waited_ms_max);
  });
  expect(await change("cancel", which)).toMatchObject({ matched: 250, changed: 250, next: undefined });
});

test("a job made by a process whose clock is ahead is meant as well", async () => {
  await addMany(2);
  await deps.database.sql`
    UPDATE atlasqueue.jobs SET id = 'f0000000-0000-7000-8000-000000000000' WHERE id = (SELECT id FROM atlasqueue.jobs LIMIT 1)`;
  expect(await change("cancel", {})).toMatchObject({ matched: 2, changed: 2, next: undefined });
});

test("the running jobs are cancelled first, however many wait", async () => {
  const [oldest] = await addMany(700);
  await take(oldest);
  // The caller is gone after the first page.
  expect(await change("cancel", {}, { stop: AbortSignal.abort() })).toMatchObject({ matched: 501, changed: 501 });
  expect(await status(oldest)).toBe("cancelled");
});

test("a list of ids reads megabytes of no job", async () => {
  const ids = await addMany(100);
  await deps.database.sql`UPDATE atlasqueue.jobs SET result = to_json(repeat('x', 100000))`;
  const proxy = await openProxy(url());
  const database = openDatabase({ url: proxy.url, connectionsMax: 1, timeoutMs: 20_000 });
  let bytes = 0;
  await database.sql`SELECT`;
  proxy.alterAnswers((text) => {
    bytes += text.length;
    return text;
  });
  expect(await change("retry", { ids }, { database })).toMatchObject({ matched: 0, changed: 0, next: undefined });
  expect(bytes).toBeLessThan(100_000);
});
