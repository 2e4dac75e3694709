import type { SubmitJobInput } from "@atlasqueue/contract";
import { forFile, recordEvents, submission, testDatabase } from "@atlasqueue/harness";
import { afterEach, beforeEach, expect, test } from "vitest";
import { admitAll } from "../../test/advance.ts";
import { openDatabase } from "../../test/opened.ts";
import type { Database } from "../database/connect.ts";
import { createSubmitter, type Submitter } from "./submitter.ts";

// Another session has locked a group that some of the requests want.

const own = forFile(testDatabase);
let database: Database;
let submitter: Submitter;
const observe = recordEvents().observe;
let drains = 0;
const followUps = { submitted() {}, drain: async () => void (drains += 1) };
const submitterOn = (on: Database) =>
  createSubmitter({ database: on, observe, followUps }, { idempotency_ttl_seconds: 60 });
beforeEach(async () => {
  await own.database
    .sql`TRUNCATE atlasqueue.jobs, atlasqueue.job_groups, atlasqueue.idempotency_keys, atlasqueue.flow_jobs, atlasqueue.flow_edges, atlasqueue.outbox`;
  // What waits for the other session longer than 200 ms fails by this deadline.
  database = openDatabase({ url: own.url, connectionsMax: 4, timeoutMs: 20_000 });
  submitter = submitterOn(database);
});
afterEach(() => submitter.close());

let keys = 0;
const asked = (request: Partial<SubmitJobInput>) => submission(request, `locked-${(keys += 1)}`);
const ways: Record<string, (request: Partial<SubmitJobInput>, parent: string) => Promise<unknown>> = {
  "a job": (job) => submitter.submit(asked(job), 10),
  "a unique job": (job) => submitter.submit(asked({ ...job, unique: { key: `u${keys}` } }), 10),
  "jobs together": (job) => submitter.submitTogether([asked(job), asked({})]),
  "a batch": (job) => submitter.submitFlow({ jobs: [asked(job), asked({})] }),
  "a flow": (job) =>
    submitter.submitFlow({
      jobs: [
        { ...asked(job), ref: "root" },
        { ...asked({}), depends_on: ["root"] },
      ],
    }),
  "a job that waits for one that exists": (job, parent) =>
    submitter.submitFlow({ jobs: [asked(job), { ...asked({}), depends_on: [parent] }] }),
};

test.each(Object.entries(ways))(
  "%s of a locked group is stored all the same, and gets its place when the group is free",
  async (_what, submit) => {
    const { sql } = own.database;
    const first = await submitter.submit(asked({ group: "held" }), 10);
    const parent = "job" in first ? first.job.id : "";
    drains = 0;
    await sql.begin(async (other) => {
      await other`SELECT FROM atlasqueue.job_groups WHERE group_key = 'held' FOR UPDATE`;
      const began = performance.now();
      const all = Array.from({ length: 12 }, (_, nth) =>
        submit({ type: "held", group: "held", payload: { nth } }, parent),
      );
      await Promise.all([...all, submit({ group: "free" }, parent), submitter.submit(asked({}), 10)]);
      // All connections are free again soon: none is used for waiting.
      expect(performance.now() - began).toBeLessThan(5_000);
    });
    // They are not left to the sweep.
    expect(drains).toBeGreaterThan(0);
    await admitAll({ database, observe });
    const rows = await sql<{ status: string; nth: number }[]>`
      SELECT status, (payload ->> 'nth')::int AS nth FROM atlasqueue.jobs WHERE type = 'held' ORDER BY group_seq`;
    expect(rows.map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => "blocked"));
    expect(rows.map(({ nth }) => nth).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 12 }, (_, nth) => nth));
    expect(await sql`SELECT FROM atlasqueue.outbox WHERE kind = 'admit'`).toEqual([]);
  },
);

test("many processes that add to one busy group all get through", async () => {
  const submitters = Array.from({ length: 4 }, () =>
    submitterOn(openDatabase({ url: own.url, connectionsMax: 4, timeoutMs: 20_000 })),
  );
  const busy = () => asked({ type: "busy", group: "busy" });
  await Promise.all(submitters.flatMap((one) => Array.from({ length: 500 }, () => one.submit(busy(), 10))));
  await admitAll({ database, observe });
  const seqs = await own.database.sql<{ seq: number }[]>`
    SELECT DISTINCT group_seq AS seq FROM atlasqueue.jobs WHERE type = 'busy' AND group_seq > 0`;
  expect(seqs).toHaveLength(1_999);
  await Promise.all(submitters.map((one) => one.close()));
});

test("a program that ends does not wait for the deadline of what is locked", async () => {
  await own.database.sql.begin(async (other) => {
    await other`INSERT INTO atlasqueue.idempotency_keys VALUES ('default', 'held', '\\x00', gen_random_uuid(), now())`;
    const answer = Promise.allSettled([submitter.submit(submission({}, "held"), 10)]);
    await submitter.submit(asked({}), 10);
    const began = performance.now();
    await submitter.close({ give_up: true });
    expect(await answer).toMatchObject([{ status: "rejected" }]);
    expect(performance.now() - began).toBeLessThan(5_000);
  });
});
