import { leaseAnswer } from "@atlasqueue/contract";
import { memorySignal } from "@atlasqueue/core";
import { steppingDatabase, testDatabase, type TestDatabase } from "@atlasqueue/testing";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { testApp } from "../../test/test-app.ts";

const lease_seconds = 3;
let own: TestDatabase;
let api: Awaited<ReturnType<typeof testApp>>;
/** What happens while the steps of leased jobs are read. */
let meanwhile: () => Promise<unknown> = async () => {};
beforeAll(async () => {
  own = await testDatabase();
  const database = steppingDatabase(own.database, async (step, _number, text) => {
    if (step === "answer" && text.includes("job_signals AS kept")) await meanwhile();
  });
  api = await testApp({ signal: memorySignal(), database });
});
afterAll(async () => {
  await api.stop();
  await own.drop();
});

// This process's clock, which tells whether an answer is late.
const now = performance.now.bind(performance);
let gone_by_ms = 0;
beforeEach(() => {
  vi.spyOn(performance, "now").mockImplementation(() => now() + gone_by_ms);
});
afterEach(async () => {
  meanwhile = async () => {};
  await own.database.sql`DELETE FROM jobs`;
});

/** More than a third of the lease passes, and the rest soon after. */
const ends = async () => {
  gone_by_ms += 1_050;
  await own.database.sql`UPDATE jobs SET locked_until = now()`;
};
let keys = 0;
const leaseOne = async (more: object = {}) => {
  await api.post(`late-${(keys += 1)}`, { type: "a", queue: "q" });
  await own.database.sql`UPDATE jobs SET has_steps = true`;
  return api.send("POST", "/v1/queues/q/lease", undefined, { worker_id: "w", lease_seconds, ...more });
};
const stored = async () => {
  const [row] = await own.database.sql`SELECT locked_until, worker_id FROM jobs`;
  return row;
};

test("a lease that ends while its job's steps are read is renewed before it is handed over", async () => {
  meanwhile = ends;
  const { jobs } = leaseAnswer.parse(await (await leaseOne()).json());
  const row = await stored();
  expect(jobs.map((held) => new Date(held.locked_until))).toEqual([row?.["locked_until"]]);
  const [found] = await own.database.sql`SELECT locked_until > started_at + interval '3 s' AS renewed FROM jobs`;
  expect(found).toEqual({ renewed: true });
});

const taken = async () => {
  await ends();
  await own.database.sql`UPDATE jobs SET lease_token = gen_random_uuid(), worker_id = 'other'`;
};

test("a job that another worker has by then is not handed over", async () => {
  meanwhile = taken;
  expect(await (await leaseOne()).json()).toEqual({ jobs: [] });
  expect(await stored()).toMatchObject({ worker_id: "other" });
});

test("a worker whose own token was used up in vain is told so, as another call with it would be refused", async () => {
  meanwhile = taken;
  const answer = await leaseOne({ lease_token: crypto.randomUUID() });
  expect(answer.status).toBe(503);
  expect(await answer.json()).toMatchObject({ maybe_done: true });
});
