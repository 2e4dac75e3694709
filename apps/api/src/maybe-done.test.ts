import { connectDatabase, type Database } from "@atlasqueue/core";
import { NoRoomError } from "@atlasqueue/core/internal";
import { brokenConnection, steppingDatabase, testDatabase, type Step, type TestDatabase } from "@atlasqueue/testing";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { testApp } from "../test/test-app.ts";

let own: TestDatabase;
beforeAll(async () => {
  own = await testDatabase();
});
afterAll(() => own.drop());
beforeEach(() => own.database.sql`TRUNCATE jobs, job_groups, dead_letter_replays`);

/** The API with this database: what it answers to a POST. */
async function answerTo(path: string, body: object | undefined, database: Database) {
  const api = await testApp({ database });
  const answer = await api.send("POST", path, undefined, body);
  const problem = (await answer.json()) as { maybe_done?: boolean };
  await api.stop();
  return { status: answer.status, maybe_done: problem.maybe_done ?? false };
}
const replay = ["/v1/dlq/replays", { filter: { all: true } }] as const;
const count = async (status: string) => (await own.database.sql`SELECT FROM jobs WHERE status = ${status}`).length;
const breakingAt = (breaks: (step: Step, text: string) => boolean) =>
  steppingDatabase(own.database, (step, _number, text) => {
    if (breaks(step, text)) throw brokenConnection();
  });

test("a request whose last answer from the database was lost says that it may have been done", async () => {
  const lost = breakingAt((step, text) => step === "answer" && text.includes("INSERT INTO dead_letter_replays"));
  expect(await answerTo(...replay, lost)).toEqual({ status: 503, maybe_done: true });
  expect(await own.database.sql`SELECT FROM dead_letter_replays`).toHaveLength(1);
});

test("one that found no database says nothing of the kind", async () => {
  const away = connectDatabase({ url: "postgres://x@127.0.0.1:1/x", connections_max: 1, timeout_ms: 5_000 });
  expect(await answerTo(...replay, away)).toEqual({ status: 503, maybe_done: false });
  await away.close();
});

test.each([
  ["/v1/dlq/replay", { all: true }, "dead"],
  ["/v1/dlq/purge", { all: true }, "dead"],
  ["/v1/jobs/bulk", { action: "retry", all: true }, "dead"],
])("one that was done in part says so, even if the rest certainly was not: %s", async (path, body, before) => {
  await own.database.sql`
    INSERT INTO jobs (id, type, status, run_at, created_at, updated_at, finished_at, dead_at, payload)
    SELECT gen_random_uuid(), 'noop', 'dead', now(), now(), now(), now(), now() - interval '1 s', '{}' FROM generate_series(1, 1200)`;
  let changes = 0;
  // Refused by the server before it did anything.
  const full = Object.assign(new Error("out of room"), { code: "53100", severity: "ERROR" });
  const database = steppingDatabase(own.database, (step, _number, text) => {
    if (step === "statement" && /UPDATE jobs SET|DELETE FROM jobs/.test(text) && (changes += 1) > 2) throw full;
  });
  expect(await answerTo(path, body, database)).toEqual({ status: 503, maybe_done: true });
  expect(await count(before)).toBeLessThan(1_200);
});

test("a call for jobs does not: whatever it may have leased goes back", async () => {
  await own.database.sql`
    INSERT INTO jobs (id, type, status, run_at, created_at, updated_at, ready_at, payload)
    SELECT gen_random_uuid(), 'noop', 'queued', now(), now(), now(), now(), '{}'`;
  const lost = breakingAt((step, text) => step === "answer" && text.includes("attempts = attempts + 1"));
  const call = { worker_id: "w", wait_seconds: 0 };
  const ids = await own.database.sql`SELECT id FROM jobs`;
  const api = await testApp({ database: lost });
  await api.deps.signal.push([{ tenant: "default", queue: "default", id: String(ids[0]?.["id"]), priority: 0 }]);
  const answer = await api.send("POST", "/v1/queues/default/lease", undefined, call);
  expect(answer.status).toBe(503);
  expect(await answer.json()).not.toHaveProperty("maybe_done");
  await api.stop();
  expect(await own.database.sql`SELECT attempts, status FROM jobs`).toEqual([{ attempts: 0, status: "queued" }]);
});

// Refused by the server before it did anything.
const full = Object.assign(new Error("out of room"), { code: "53100", severity: "ERROR" });
type Held = { id: string; lease_token: string };
const acking = /UPDATE jobs SET status = 'succeeded'/;
const nack = (held: Held | undefined) => ({ ...held, error: "x", retry: false });

/** What a settlement of jobs, two of one group and one of another, is answered while `breaks` throws at the database's steps. */
async function settling(breaks: (step: Step, text: string) => void, bodyOf: (a: Held, b: Held) => object) {
  let broken = false;
  const database = steppingDatabase(own.database, (step, _number, text) => {
    if (broken) breaks(step, text);
  });
  const api = await testApp({ database });
  for (const group of ["a", "a", "b"]) await api.post(crypto.randomUUID(), { type: "noop", group });
  await own.database.sql`UPDATE jobs SET has_steps = true WHERE status = 'blocked'`;
  const leased = await api.send("POST", "/v1/queues/default/lease", undefined, { worker_id: "w", max_jobs: 2 });
  const { jobs } = (await leased.json()) as { jobs: { job: { id: string; group: string }; lease_token: string }[] };
  const [a, b] = ["a", "b"].map((group): Held => {
    const found = jobs.find(({ job }) => job.group === group);
    return { id: found?.job.id ?? "", lease_token: found?.lease_token ?? "" };
  }) as [Held, Held];
  broken = true;
  const answer = await api.send("POST", "/v1/leases/settle", undefined, bodyOf(a, b));
  broken = false;
  const { maybe_done } = (await answer.json()) as { maybe_done?: boolean };
  await api.stop();
  return { status: answer.status, maybe_done };
}

test.each([
  ["others could not be released", /SET status = 'queued', ready_at = run_at/],
  ["the jobs that come with it could not be read whole", /job_signals AS kept/],
])("a settlement that was done says so when %s", async (_why, refused) => {
  const breaks = (step: Step, text: string) => {
    if (step === "statement" && refused.test(text)) throw full;
  };
  const body = (a: Held, b: Held) => ({ acks: [a], releases: [b], next: { worker_id: "w" } });
  expect(await settling(breaks, body)).toEqual({ status: 503, maybe_done: true });
  expect(await count("succeeded")).toBe(1);
});

test("one whose acks were refused says so when it is not known of its nacks", async () => {
  const breaks = (step: Step, text: string) => {
    if (step === "statement" && acking.test(text)) throw full;
    if (step === "answer" && text.includes("ELSE 'dead' END")) throw brokenConnection();
  };
  const body = (a: Held, b: Held) => ({ acks: [a], nacks: [nack(b)] });
  expect(await settling(breaks, body)).toEqual({ status: 503, maybe_done: true });
  expect([await count("dead"), await count("succeeded")]).toEqual([1, 0]);
});

test.each(["acks", "nacks"])(
  "one of several %s says so when what became of the rest could not be read",
  async (kind) => {
    const breaks = (step: Step, text: string) => {
      if (step === "statement" && text.includes("SELECT jobs.id, status, run_at, dead_reason, has_children"))
        throw full;
    };
    const body = (a: Held, b: Held) => {
      const held = [a, { ...b, lease_token: crypto.randomUUID() }];
      return { [kind]: kind === "nacks" ? held.map(nack) : held };
    };
    expect(await settling(breaks, body)).toEqual({ status: 503, maybe_done: true });
    expect((await count("dead")) + (await count("succeeded"))).toBe(1);
  },
);

test.each(["ack", "nack"])(
  "a job's %s that was done says so when the job cannot be read for its answer",
  async (act) => {
    let broken = false;
    const settled = /UPDATE jobs SET status = (?!'running')/;
    const database = steppingDatabase(own.database, (step, _number, text) => {
      if (broken && step === "statement") throw full;
      if (step === "answer" && settled.test(text)) broken = true;
    });
    const api = await testApp({ database });
    await api.post(crypto.randomUUID(), { type: "noop" });
    const leased = await api.send("POST", "/v1/queues/default/lease", undefined, { worker_id: "w" });
    const { jobs } = (await leased.json()) as { jobs: { job: { id: string }; lease_token: string }[] };
    const { job, lease_token } = jobs[0] as (typeof jobs)[number];
    const body = act === "ack" ? { lease_token } : { lease_token, error: "x" };
    const answer = await api.send("POST", `/v1/jobs/${job.id}/${act}`, undefined, body);
    broken = false;
    expect([answer.status, await answer.json()]).toEqual([503, expect.objectContaining({ maybe_done: true })]);
    expect(await count("running")).toBe(0);
    await api.stop();
  },
);

test.each([full, new NoRoomError("statements that wait", false)])(
  "a queue that was paused says so when its counts cannot be read, and so does the audit trail: %s",
  async (refusal) => {
    let paused = false;
    const database = steppingDatabase(own.database, (step, _number, text) => {
      if (step === "statement" && paused && !text.includes("audit_log")) throw refusal;
      if (step === "answer" && text.includes("INSERT INTO queues AS known")) paused = true;
    });
    await own.database.sql`TRUNCATE audit_log`;
    expect(await answerTo("/v1/queues/default/pause", undefined, database)).toEqual({ status: 503, maybe_done: true });
    expect(await own.database.sql`SELECT action FROM audit_log`).toEqual([{ action: "queue.pause" }]);
  },
);
