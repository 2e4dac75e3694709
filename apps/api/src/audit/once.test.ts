import type { AuditEntry, Job, Problem, Queue } from "@atlasqueue/contract";
import { eventually, forFile } from "@atlasqueue/harness";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { guardedApp, makeTenant, makeToken } from "../../test/guarded-app.ts";
import { operations } from "../routes.ts";

const api = forFile(guardedApp);
let token: string;
beforeAll(async () => void ({ token } = await api.token("admin")));
beforeEach(
  () =>
    api.deps.database
      .sql`TRUNCATE atlasqueue.audit_log, atlasqueue.queues, atlasqueue.jobs, atlasqueue.idempotency_keys, atlasqueue.queue_counts, atlasqueue.queue_changes`,
);

const act = (path: string, key: string, body?: object, as = token) =>
  api.send("POST", path, as, body, { "idempotency-key": key });
const pause = (queue: string, key: string, as = token) => act(`/v1/queues/${queue}/pause`, key, undefined, as);
const resume = (queue: string) => api.send("POST", `/v1/queues/${queue}/resume`, token);
const entries = async () =>
  ((await (await api.send("GET", "/v1/audit", token)).json()) as { items: AuditEntry[] }).items;
const problemOf = async (response: Response) => ((await response.json()) as Problem).type;
const replayed = (response: Response) => response.headers.get("idempotency-replayed");

async function submit(max_attempts = 5): Promise<string> {
  const wish = { type: "a", queue: "mails", max_attempts };
  const response = await api.post(crypto.randomUUID(), wish, { authorization: `Bearer ${token}` });
  return ((await response.json()) as Job).id;
}

/** A job that fails for good. */
async function die(): Promise<void> {
  const leased = await api.send("POST", "/v1/queues/mails/lease", token, { worker_id: "w", wait_seconds: 10 });
  const { jobs } = (await leased.json()) as { jobs: { job: Job; lease_token: string }[] };
  for (const { job, lease_token } of jobs)
    await api.send("POST", `/v1/jobs/${job.id}/nack`, token, { lease_token, error: "?", retry: false });
}

test("these operations take a key", () => {
  const keyed = operations.filter(({ audit, request }) => audit && request?.idempotency_key);
  expect(keyed.map(({ id }) => id).toSorted()).toEqual([
    "cancelFlow",
    "cancelJob",
    "pauseQueue",
    "replayDeadLetters",
    "resumeQueue",
    "retryFlow",
    "retryJob",
    "sendSignal",
  ]);
});

test("a queue is paused once for a key; sent again, it is shown as it is now", async () => {
  const first = await pause("mails", "night");
  expect([first.status, replayed(first)]).toEqual([200, null]);
  await resume("mails");
  const again = await pause("mails", "night");
  expect([again.status, replayed(again)]).toEqual([200, "true"]);
  expect(((await again.json()) as Queue).paused).toBe(false);
  expect(await entries()).toMatchObject([{ action: "queue.resume" }, { action: "queue.pause" }]);
  // A new wish has a new key.
  expect(((await (await pause("mails", "next night")).json()) as Queue).paused).toBe(true);
  expect(((await (await act("/v1/queues/mails/resume", "day")).json()) as Queue).paused).toBe(false);
  await pause("mails", "third night");
  expect(((await (await act("/v1/queues/mails/resume", "day")).json()) as Queue).paused).toBe(true);
});

test("a job is cancelled and retried once for a key, whatever became of it", async () => {
  const id = await submit();
  expect((await act(`/v1/jobs/${id}/cancel`, "end it")).status).toBe(200);
  expect((await act(`/v1/jobs/${id}/retry`, "once more")).status).toBe(200);
  const cancelled = await act(`/v1/jobs/${id}/cancel`, "end it");
  expect([replayed(cancelled), ((await cancelled.json()) as Job).status]).toEqual(["true", "queued"]);
  await api.send("POST", `/v1/jobs/${id}/cancel`, token);
  const retried = await act(`/v1/jobs/${id}/retry`, "once more");
  expect([retried.status, replayed(retried), ((await retried.json()) as Job).status]).toEqual([
    200,
    "true",
    "cancelled",
  ]);
});

test("a replay sent again says what the first one did, and takes no job that died since", async () => {
  await submit(1);
  await die();
  const all = { queue: "mails", died_before: new Date(Date.now() + 60_000).toISOString() };
  const first = await act("/v1/dlq/replay", "again", all);
  expect([replayed(first), await first.json()]).toEqual([null, { matched: 1, changed: 1 }]);
  await die();
  const again = await act("/v1/dlq/replay", "again", all);
  expect([replayed(again), await again.json()]).toEqual(["true", { matched: 1, changed: 1 }]);
  // A dry run leaves the key alone.
  const looked = await act("/v1/dlq/replay", "again", { ...all, dry_run: true });
  expect([replayed(looked), await looked.json()]).toMatchObject([null, { matched: 1, changed: 0 }]);
});

test("a key that was used for another act is refused", async () => {
  const id = await submit();
  await pause("mails", "key");
  for (const other of [
    await pause("letters", "key"),
    await act("/v1/queues/mails/resume", "key"),
    await act(`/v1/jobs/${id}/cancel`, "key"),
    await act("/v1/dlq/replay", "key", { queue: "mails" }),
  ])
    expect([other.status, await problemOf(other)]).toEqual([422, "/problems/idempotency-mismatch"]);
  await act("/v1/dlq/replay", "dead", { queue: "mails" });
  expect((await act("/v1/dlq/replay", "dead", { queue: "letters" })).status).toBe(422);
  expect((await pause("mails", "")).status).toBe(422);
});

test("keys are a tenant's own", async () => {
  const other = await makeToken(api.deps, ["admin"], await makeTenant(api.deps));
  await pause("mails", "key");
  const theirs = await pause("mails", "key", other.token);
  expect([theirs.status, replayed(theirs)]).toEqual([200, null]);
  expect((await pause("letters", "key", other.token)).status).toBe(422);
});

test("of many with one key at the same instant one acts, and the others wait or are told what it did", async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => pause("mails", "storm")));
  const did = answers.filter((one) => one.status === 200 && replayed(one) === null);
  expect(did).toHaveLength(1);
  for (const one of answers.filter(({ status }) => status !== 200)) {
    expect([one.status, await problemOf(one)]).toEqual([409, "/problems/idempotency-under-way"]);
    expect(one.headers.get("retry-after")).toBe("1");
  }
  expect(await entries()).toMatchObject([{ action: "queue.pause", finished: true }]);
});

test("while the first is under way, the same again is told so", async () => {
  const { sql } = api.deps.database;
  let first: Promise<Response> | undefined;
  await sql.begin(async (other) => {
    await other`LOCK TABLE atlasqueue.queues`;
    first = pause("mails", "slow");
    await eventually(async () => expect(await entries()).toMatchObject([{ finished: false }]));
    const again = await pause("mails", "slow");
    expect([again.status, await problemOf(again)]).toEqual([409, "/problems/idempotency-under-way"]);
  });
  expect((await first)?.status).toBe(200);
  expect(replayed(await pause("mails", "slow"))).toBe("true");
});

test("one whose process died between the act and its end is done again after a minute, by one of many", async () => {
  const { sql } = api.deps.database;
  await sql`CREATE FUNCTION away() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''away''; END'`;
  await sql`CREATE TRIGGER away BEFORE UPDATE ON atlasqueue.audit_log FOR EACH ROW EXECUTE FUNCTION away()`;
  try {
    await pause("mails", "cut off");
  } finally {
    await sql`DROP FUNCTION away CASCADE`;
  }
  await resume("mails");
  expect((await pause("mails", "cut off")).status).toBe(409);
  await sql`UPDATE atlasqueue.audit_log SET at = at - interval '1 minute'`;
  expect((await pause("letters", "cut off")).status).toBe(422);
  const answers = await Promise.all(Array.from({ length: 10 }, () => pause("mails", "cut off")));
  expect(answers.filter((one) => one.status === 200 && replayed(one) === null)).toHaveLength(1);
  const kept = (await entries()).filter(({ action }) => action === "queue.pause");
  expect(kept).toMatchObject([{ finished: true }, { finished: false }]);
});

test("one that was refused, or failed where its process lives on, leaves its key free", async () => {
  const { sql } = api.deps.database;
  const id = await submit();
  const retry = () => act(`/v1/jobs/${id}/retry`, "when it has died");
  expect((await retry()).status).toBe(409);
  await api.send("POST", `/v1/jobs/${id}/cancel`, token);
  expect((await retry()).status).toBe(200);
  await sql`ALTER TABLE atlasqueue.queues RENAME TO elsewhere`;
  try {
    expect((await pause("mails", "broken")).status).toBe(500);
  } finally {
    await sql`ALTER TABLE atlasqueue.elsewhere RENAME TO queues`;
  }
  const again = await pause("mails", "broken");
  expect([again.status, replayed(again)]).toEqual([200, null]);
});

test("a key is known as long as its entry is kept", async () => {
  await pause("mails", "old");
  await api.deps.database.sql`DELETE FROM atlasqueue.audit_log`;
  expect(replayed(await pause("mails", "old"))).toBeNull();
});
