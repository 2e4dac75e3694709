import type { AuditEntry } from "@atlasqueue/contract";
import { eventually, forFile } from "@atlasqueue/harness";
import { beforeEach, expect, test } from "vitest";
import { testApp } from "../../test/test-app.ts";

const api = forFile(testApp);
beforeEach(
  () =>
    api.deps.database
      .sql`TRUNCATE atlasqueue.audit_log, atlasqueue.queues, atlasqueue.jobs, atlasqueue.queue_counts, atlasqueue.queue_changes`,
);

const entries = async () => ((await (await api.get("/v1/audit")).json()) as { items: AuditEntry[] }).items;
const pause = (queue: string) => api.send("POST", `/v1/queues/${queue}/pause`);
const paused = async () =>
  (await api.deps.database.sql`SELECT queue FROM atlasqueue.queues`).map(({ queue }) => queue as string);

test("an act is in the trail before it is done, and completed when it is", async () => {
  const { sql } = api.deps.database;
  let answer: Promise<Response> | undefined;
  // The act stops at its own statement for as long as this holds the table.
  await sql.begin(async (other) => {
    await other`LOCK TABLE atlasqueue.queues`;
    answer = pause("mails");
    await eventually(async () =>
      expect(await entries()).toMatchObject([{ action: "queue.pause", target: "mails", finished: false }]),
    );
  });
  expect((await answer)?.status).toBe(200);
  expect(await entries()).toMatchObject([{ action: "queue.pause", target: "mails", finished: true }]);
});

test("what is cut off after the act is in the trail, as begun, with what was asked for", async () => {
  const { sql } = api.deps.database;
  await api.post("one", { type: "a", queue: "mails", delay_seconds: 60 });
  await sql`CREATE FUNCTION away() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''away''; END'`;
  await sql`CREATE TRIGGER away BEFORE UPDATE ON atlasqueue.audit_log FOR EACH ROW EXECUTE FUNCTION away()`;
  try {
    await pause("mails");
    await api.send("POST", "/v1/jobs/bulk", undefined, { action: "cancel", filter: { queue: "mails" } });
  } finally {
    await sql`DROP FUNCTION away CASCADE`;
  }
  expect(await paused()).toEqual(["mails"]);
  expect(await sql`SELECT status FROM atlasqueue.jobs`).toMatchObject([{ status: "cancelled" }]);
  expect(await entries()).toMatchObject([
    { action: "jobs.bulk", count: null, detail: { action: "cancel", queue: "mails" }, finished: false },
    { action: "queue.pause", target: "mails", finished: false },
  ]);
});

test("what cannot be put into the trail is not done", async () => {
  const { sql } = api.deps.database;
  await sql`ALTER TABLE atlasqueue.audit_log RENAME TO elsewhere`;
  try {
    expect((await pause("mails")).status).toBe(500);
  } finally {
    await sql`ALTER TABLE atlasqueue.elsewhere RENAME TO audit_log`;
  }
  expect(await paused()).toEqual([]);
});

test("refusals and dry runs leave no entry", async () => {
  const refused = await api.send("POST", "/v1/jobs/00000000-0000-0000-0000-000000000000/cancel");
  expect(refused.status).toBe(404);
  await api.send("POST", "/v1/jobs/bulk", undefined, { action: "cancel", all: true, dry_run: true });
  await api.send("POST", "/v1/dlq/purge", undefined, { all: true, dry_run: true });
  await api.send("POST", "/v1/dlq/replays", undefined, { filter: { queue: "mails" }, dry_run: true });
  expect(await entries()).toEqual([]);
});
