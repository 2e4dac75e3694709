import type { SubmitJobInput } from "@atlasqueue/contract";
import { eventually, recordEvents, submission, testDatabase, type TestDatabase } from "@atlasqueue/testing";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { connectDatabase, type Database } from "../database/connect.ts";
import { createSubmitter, type Submitter } from "./submitter.ts";

// A stranger has locked what one of the requests wants.

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
  // Whatever waits for the stranger fails by this deadline.
  database = connectDatabase({ url: own.url, connectionsMax: 8, timeoutMs: 20_000 });
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
const submit = (request: Partial<SubmitJobInput>) => submitter.submit(submission(request, `line-${(keys += 1)}`), 10);
const submitFlow = (request: Partial<SubmitJobInput>) =>
  submitter.submitFlow({
    jobs: [
      { ...submission({ type: "root", ...request }), ref: "root" },
      { ...submission({ type: "child" }), depends_on: ["root"] },
    ],
  });
const held = { group: "held", unique: { key: "held" } } as const;
const beside = {
  "a plain job": () => submit({}),
  "another group": () => submit({ group: "free" }),
  "another unique job": () => submit({ unique: { key: `free ${keys}` } }),
  "a flow": () => submitFlow({ group: "free" }),
};
const count = async (type: string) => (await own.database.sql`SELECT FROM atlasqueue.jobs WHERE type = ${type}`).length;

test.each<[string, string, () => Promise<{ kind: string }>]>([
  ["a group", "job_groups", () => submit({ type: "held", group: held.group })],
  ["a unique key", "unique_keys", () => submit({ type: "held", unique: held.unique })],
  ["the group of a flow's job", "job_groups", () => submitFlow({ type: "held", group: held.group })],
])("%s that is locked keeps only those waiting that want it", async (_what, table, submitHeld) => {
  const { sql } = own.database;
  await submit(held);
  await sql`UPDATE atlasqueue.jobs SET status = 'succeeded', ready_at = NULL, active_group_key = NULL, finished_at = now()`;
  await sql`UPDATE atlasqueue.job_groups SET heads = '{}'`;
  const { waiting } = await sql.begin(async (stranger) => {
    await stranger`SELECT FROM ${stranger(`atlasqueue.${table}`)} FOR UPDATE`;
    const all: Promise<{ kind: string }>[] = [];
    const began = performance.now();
    for (let round = 0; round < 5; round += 1) {
      // In one statement, were it not for the lock.
      all.push(submitHeld());
      const kinds = await Promise.all(Object.values(beside).map(async (add) => (await add()).kind));
      expect(kinds).toEqual(["created", "created", "created", "stored"]);
    }
    expect(performance.now() - began).toBeLessThan(15_000);
    expect(await count("held")).toBe(0);
    return { waiting: all };
  });
  const kinds = (await Promise.all(waiting)).map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === "created" || kind === "stored").length).toBeGreaterThan(0);
  expect(kinds.every((kind) => ["created", "existing", "stored"].includes(kind))).toBe(true);
  await eventually(async () => expect(await count("held")).toBe(table === "unique_keys" ? 1 : 5));
  // Each was stored once, and so were those beside them.
  expect(await count("noop")).toBe(1 + 15);
});

test("however many wait for one group, one that had to wait for another has its turn", async () => {
  const { sql } = own.database;
  await submit({ group: "held" });
  await submit({ group: "other" });
  const lock = (stranger: typeof sql, group: string) =>
    stranger`SELECT FROM atlasqueue.job_groups WHERE group_key = ${group} FOR UPDATE`;
  const waiting = await sql.begin(async (stranger) => {
    await lock(stranger as never, "held");
    const { all, last } = await sql.begin(async (other) => {
      await lock(other as never, "other");
      const held_ones = Array.from({ length: 3_000 }, () =>
        submit({ type: "held", group: "held" }).catch(() => undefined),
      );
      const other_one = submit({ type: "other", group: "other" }).then(({ kind }) => kind);
      // Both are known to be locked by now: these come through, but those wait.
      for (let round = 0; round < 10; round += 1) await submit({});
      return { all: held_ones, last: other_one };
    });
    const began = performance.now();
    expect(await last).toBe("created");
    expect(performance.now() - began).toBeLessThan(10_000);
    expect(await count("held")).toBe(0);
    return all;
  });
  await Promise.all(waiting);
  expect(await count("held")).toBe(3_000);
});

test("many processes that add to one busy group all get through", async () => {
  const others = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const one = connectDatabase({ url: own.url, connectionsMax: 4, timeoutMs: 20_000 });
      const followUps = { submitted() {}, flowsSubmitted() {} };
      const by = createSubmitter(
        { database: one, observe: recordEvents().observe, followUps },
        { idempotency_ttl_seconds: 60 },
      );
      return { one, by };
    }),
  );
  await Promise.all(
    others.flatMap(({ by }) =>
      Array.from({ length: 500 }, () => by.submit(submission({ type: "busy", group: "busy" }), 10)),
    ),
  );
  const rows = await own.database.sql<
    { seq: number }[]
  >`SELECT group_seq AS seq FROM atlasqueue.jobs WHERE type = 'busy' AND group_seq IS NOT NULL ORDER BY 1`;
  expect(rows).toHaveLength(1_999);
  for (const { one, by } of others) {
    await by.close();
    await one.close();
  }
});
