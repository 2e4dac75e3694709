import type { SubmitJobInput } from "@atlasqueue/contract";
import { recordEvents, submission, testDatabase, type TestDatabase } from "@atlasqueue/testing";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { connectDatabase, type Database } from "../database/connect.ts";
import { createSubmitter, type Submitter } from "./submitter.ts";

// A stranger has locked what some of the requests want, each of which has statements of its own.

const connections_max = 6;
let own: TestDatabase;
let database: Database;
let submitter: Submitter;
beforeAll(async () => {
  own = await testDatabase();
});
afterAll(() => own.drop());
beforeEach(async () => {
  await own.database
    .sql`TRUNCATE atlasqueue.jobs, atlasqueue.job_groups, atlasqueue.unique_keys, atlasqueue.idempotency_keys, atlasqueue.flows, atlasqueue.flow_jobs, atlasqueue.flow_edges, atlasqueue.outbox`;
  // What waits for the stranger with a connection has it until this deadline.
  database = connectDatabase({ url: own.url, connectionsMax: connections_max, timeoutMs: 20_000 });
  const followUps = { submitted() {}, flowsSubmitted() {} };
  submitter = createSubmitter(
    { database, observe: recordEvents().observe, followUps },
    { idempotency_ttl_seconds: 60 },
  );
});
afterEach(async () => {
  await submitter.close();
  await database.close();
});

let keys = 0;
const asked = (request: Partial<SubmitJobInput>) => submission(request, `alone-${(keys += 1)}`);
const count = async (type: string) => (await own.database.sql`SELECT FROM atlasqueue.jobs WHERE type = ${type}`).length;

const ways: Record<string, (job: Partial<SubmitJobInput>, parent: string) => Promise<unknown>> = {
  "jobs together": (job) => submitter.submitTogether([asked(job), asked(job)]),
  "a batch": (job) => submitter.submitFlow({ jobs: [asked(job), asked(job)] }),
  "a batch with a unique job": (job) =>
    submitter.submitFlow({ jobs: [asked(job), asked({ ...job, unique: { key: `u${keys}` } })] }),
  "a job that waits for one that exists": (job, parent) =>
    submitter.submitFlow({ jobs: [asked(job), { ...asked(job), depends_on: [parent] }] }),
};

test.each(Object.entries(ways))("%s for a locked group leaves connections to everybody else", async (_what, submit) => {
  const { sql } = own.database;
  const first = await submitter.submit(asked({ group: "held" }), 10);
  const parent = "job" in first ? first.job.id : "";
  const { waiting } = await sql.begin(async (stranger) => {
    await stranger`SELECT FROM atlasqueue.job_groups WHERE group_key = 'held' FOR UPDATE`;
    const all = Array.from({ length: 3 * connections_max }, () => submit({ type: "held", group: "held" }, parent));
    const began = performance.now();
    for (let round = 0; round < 3; round += 1) {
      await database.sql`SELECT 1`;
      await submitter.submit(asked({ group: "free" }), 10);
      await submit({ type: "free", group: "free" }, parent);
    }
    expect(performance.now() - began).toBeLessThan(15_000);
    expect(await count("free")).toBe(6);
    expect(await count("held")).toBe(0);
    return { waiting: all };
  });
  await Promise.all(waiting);
  // Each once.
  expect(await count("held")).toBe(6 * connections_max);
});

test("a program that ends waits neither for whoever holds the lock nor for the deadline", async () => {
  const { sql } = own.database;
  await submitter.submit(asked({ group: "held" }), 10);
  const { answers } = await sql.begin(async (stranger) => {
    await stranger`SELECT FROM atlasqueue.job_groups FOR UPDATE`;
    const held = { type: "held", group: "held" };
    const [together, batch] = Object.values(ways);
    const all = [together?.(held, ""), batch?.(held, ""), submitter.submit(asked(held), 10)];
    const settled = Promise.allSettled(all);
    // By now those that want the group have met the lock.
    await submitter.submit(asked({ group: "free" }), 10);
    const began = performance.now();
    await submitter.close({ give_up: true });
    expect(performance.now() - began).toBeLessThan(10_000);
    return { answers: settled };
  });
  expect((await answers).every(({ status }) => status === "rejected")).toBe(true);
  expect(await count("held")).toBe(0);
});
