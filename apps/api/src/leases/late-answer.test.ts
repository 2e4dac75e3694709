import { leaseAnswer } from "@atlasqueue/contract";
import { memorySignal } from "@atlasqueue/core";
import { eventually, steppingDatabase, testDatabase, type TestDatabase } from "@atlasqueue/testing";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { testApp } from "../../test/test-app.ts";

const lease_seconds = 3;
let own: TestDatabase;
let api: Awaited<ReturnType<typeof testApp>>;
const signal = memorySignal();
/** What happens while the steps of leased jobs are read. */
let meanwhile: () => Promise<unknown> = async () => {};
/** And once a claim was sent, before it is answered. */
let claimed = () => {};
beforeAll(async () => {
  own = await testDatabase();
  const database = steppingDatabase(own.database, async (step, _number, text) => {
    if (step === "answer" && text.includes("job_state AS kept")) await meanwhile();
    if (step === "answer" && text.includes("attempts = attempts + 1")) claimed();
  });
  api = await testApp({ signal, database });
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
  claimed = () => {};
  await own.database.sql`DELETE FROM atlasqueue.jobs`;
});

/** More than a third of the lease passes, and the rest soon after. */
const ends = async () => {
  gone_by_ms += 1_050;
  await own.database.sql`UPDATE atlasqueue.jobs SET locked_until = now()`;
};
let keys = 0;
const submit = () => api.post(`late-${(keys += 1)}`, { type: "a", queue: "q" });
const lease = (more: object = {}) =>
  api.send("POST", "/v1/queues/q/lease", undefined, { worker_id: "w", lease_seconds, ...more });
const leaseOne = async (more: object = {}) => {
  await submit();
  await own.database.sql`UPDATE atlasqueue.jobs SET has_steps = true`;
  return lease(more);
};
const stored = async () => {
  const [row] = await own.database.sql`SELECT locked_until, worker_id FROM atlasqueue.jobs`;
  return row;
};
const isRenewed = async () => {
  const [row] = await own.database
    .sql`SELECT locked_until > started_at + interval '3 s' AS renewed FROM atlasqueue.jobs`;
  return row?.["renewed"] as boolean | undefined;
};

test("a lease that ends while its job's steps are read is renewed before it is handed over", async () => {
  meanwhile = ends;
  const { jobs } = leaseAnswer.parse(await (await leaseOne()).json());
  const row = await stored();
  expect(jobs.map((held) => new Date(held.locked_until))).toEqual([row?.["locked_until"]]);
  expect(await isRenewed()).toBe(true);
});

test("so is one whose claim and reading took a third of it together", async () => {
  const takes = () => (gone_by_ms += 550);
  claimed = takes;
  meanwhile = async () => takes();
  expect((await leaseOne()).status).toBe(200);
  expect(await isRenewed()).toBe(true);
});

test("an answer says how long its call had waited when the lease was asked for, and counts nothing after that", async () => {
  const waits = vi.spyOn(signal, "wait");
  const asked_at = now();
  const answered = lease({ wait_seconds: 30 });
  await eventually(() => expect(waits).toHaveBeenCalled());
  gone_by_ms += 5_000;
  let most_ms = 0;
  // Far from a third of the lease, also where the machine is slow.
  claimed = () => {
    most_ms = 5_000 + now() - asked_at;
    gone_by_ms += 200;
  };
  await submit();
  const { jobs, waited_ms } = leaseAnswer.parse(await (await answered).json());
  expect(jobs).toHaveLength(1);
  expect(waited_ms).toBeGreaterThanOrEqual(5_000);
  expect(waited_ms).toBeLessThanOrEqual(most_ms);
  expect(await isRenewed()).toBe(false);
});

test("where the claim was so late that it was renewed, it counts until the renewal", async () => {
  claimed = () => (gone_by_ms += 1_050);
  await submit();
  const { waited_ms } = leaseAnswer.parse(await (await lease()).json());
  expect(waited_ms).toBeGreaterThanOrEqual(1_050);
  expect(await isRenewed()).toBe(true);
});

const taken = async () => {
  await ends();
  await own.database.sql`UPDATE atlasqueue.jobs SET lease_token = gen_random_uuid(), worker_id = 'other'`;
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
