import type { LeaseAnswer } from "@atlasqueue/contract";
import { connectDatabase, type Database } from "@atlasqueue/core";
import { brokenConnection, steppingDatabase, testDatabase, type Step, forFile } from "@atlasqueue/harness";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { testApp } from "../test/test-app.ts";

const own = forFile(testDatabase);
beforeEach(() => own.database.sql`TRUNCATE atlasqueue.jobs, atlasqueue.job_groups, atlasqueue.operations`);

/** The API with this database: what it answers to a POST. */
async function answerTo(path: string, body: object | undefined, database: Database) {
  const api = await testApp({ database });
  const answer = await api.send("POST", path, undefined, body);
  const problem = (await answer.json()) as { maybe_done?: boolean };
  await api.stop();
  return { status: answer.status, maybe_done: problem.maybe_done ?? false };
}
const replay = ["/v1/dlq/replays", { filter: { all: true } }] as const;
const count = async (status: string) =>
  (await own.database.sql`SELECT FROM atlasqueue.jobs WHERE status = ${status}`).length;
const breakingAt = (breaks: (step: Step, text: string) => boolean) =>
  steppingDatabase(own.database, (step, _number, text) => {
    if (breaks(step, text)) throw brokenConnection();
  });

test("a request whose last answer from the database was lost says that it may have been done", async () => {
  const lost = breakingAt((step, text) => step === "answer" && text.includes("INSERT INTO atlasqueue.operations"));
  expect(await answerTo(...replay, lost)).toEqual({ status: 503, maybe_done: true });
  expect(await own.database.sql`SELECT FROM atlasqueue.operations`).toHaveLength(1);
});

test("one that found no database says nothing of the kind", async () => {
  const away = connectDatabase({ url: "postgres://x@127.0.0.1:1/x", connectionsMax: 1, timeoutMs: 5_000 });
  expect(await answerTo(...replay, away)).toEqual({ status: 503, maybe_done: false });
  await away.close();
});

test("a call for jobs does not: whatever it may have leased goes back", async () => {
  await own.database.sql`
    INSERT INTO atlasqueue.jobs (id, type, status, run_at, created_at, updated_at, ready_at, payload)
    SELECT gen_random_uuid(), 'noop', 'queued', now(), now(), now(), now(), '{}'`;
  const lost = breakingAt((step, text) => step === "answer" && text.includes("attempts = attempts + 1"));
  const call = { worker_id: "w", wait_seconds: 0 };
  const ids = await own.database.sql`SELECT id FROM atlasqueue.jobs`;
  const api = await testApp({ database: lost });
  await api.deps.signal.push([{ tenant: "default", queue: "default", id: String(ids[0]?.["id"]), priority: 0 }]);
  const answer = await api.send("POST", "/v1/queues/default/lease", undefined, call);
  expect(answer.status).toBe(503);
  expect(await answer.json()).not.toHaveProperty("maybe_done");
  await api.stop();
  expect(await own.database.sql`SELECT attempts, status FROM atlasqueue.jobs`).toEqual([
    { attempts: 0, status: "queued" },
  ]);
});

test("a settlement whose acks were refused says so when it is not known of its nacks", async () => {
  let leased = false;
  const database = steppingDatabase(own.database, (step, _number, text) => {
    if (leased && step === "answer" && text.includes("ELSE 'dead' END")) throw brokenConnection();
  });
  await own.database.sql.unsafe(`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'out of room' USING ERRCODE = '53100'; END $$;
    CREATE TRIGGER refuse BEFORE UPDATE ON atlasqueue.jobs FOR EACH ROW WHEN (NEW.status = 'succeeded') EXECUTE FUNCTION refuse()`);
  onTestFinished(async () => {
    await own.database.sql.unsafe("DROP TRIGGER refuse ON atlasqueue.jobs; DROP FUNCTION refuse()");
  });
  const api = await testApp({ database });
  for (const key of ["a", "b"]) await api.post(key, { type: "noop" });
  const call = await api.send("POST", "/v1/queues/default/lease", undefined, { worker_id: "w", max_jobs: 2 });
  const { jobs } = (await call.json()) as LeaseAnswer;
  const [acked, nacked] = jobs.map(({ job: { id }, lease_token }) => ({ id, lease_token }));
  leased = true;
  const body = { acks: [acked], nacks: [{ ...nacked, error: "x", retry: false }] };
  const answer = await api.send("POST", "/v1/leases/settle", undefined, body);
  leased = false;
  expect([answer.status, await answer.json()]).toEqual([503, expect.objectContaining({ maybe_done: true })]);
  expect([await count("dead"), await count("succeeded")]).toEqual([1, 0]);
  await api.stop();
});
