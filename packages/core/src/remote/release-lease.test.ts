import { randomUUID } from "node:crypto";
import { queueLimits } from "@atlasqueue/contract";
import { brokenConnection, ownSignal, steppingDatabase } from "@atlasqueue/harness";
import { beforeEach, expect, test, vi } from "vitest";
import { call, longPollHarness, never } from "../../test/long-poll.ts";
import { KeysContendedError } from "../database/errors.ts";
import { setLimits } from "../limits/set.ts";
import type { Signal } from "../signal/signal.ts";
import { releaseLease } from "./release.ts";

const { open, add, database, deps, leases, longPoll, sql } = longPollHarness();
const main = { tenant: "default", queue: "default" };

let signal: Signal;
beforeEach(async () => {
  await sql()`TRUNCATE atlasqueue.job_groups, atlasqueue.idempotency_keys, atlasqueue.queue_counts, atlasqueue.queue_changes, atlasqueue.queue_starts`;
  open((signal = ownSignal()));
});

const lease = (lease_token: string, jobs_max = 10) => leases(call({ wait_ms: 0, jobs_max, lease_token }), never);
const releaseUnder = (lease_token: string, tenant = "default") => releaseLease(deps(), tenant, lease_token);
const states = async () =>
  [...(await sql()`SELECT status, attempts FROM atlasqueue.jobs ORDER BY id`)].map((row) => ({ ...row }));
const queued = { status: "queued", attempts: 0 };
const running = { status: "running", attempts: 1 };

test.each(["without", "with"])("all leased under a token goes back at once, in a queue %s limits", async (has) => {
  if (has === "with") await setLimits(deps(), main, queueLimits.parse({ concurrency: 2 }));
  const ids = await add({}, {});
  const token = randomUUID();
  const leased = await lease(token);
  expect(leased).toMatchObject(ids.map((id) => ({ id, lease_token: token })));
  expect(await releaseUnder(token)).toBe(2);
  expect(await states()).toEqual([queued, queued]);
  expect(await deps().signal.look(main)).toMatchObject({ length: 2 });
  expect(await releaseUnder(token)).toBe(0);
  expect(await lease(randomUUID())).toHaveLength(2);
});

test("a call that waits under a token that was released leases nothing, and its job goes to the next", async () => {
  const token = randomUUID();
  const unheard = longPoll().lease(call({ lease_token: token }), never);
  expect(await releaseUnder(token)).toBe(0);
  const [id] = await add({});
  expect(await unheard).toMatchObject({ jobs: [], repeated: true });
  expect(await states()).toEqual([queued]);
  expect(await lease(randomUUID())).toMatchObject([{ id, attempts: 1 }]);
});

test("another tenant's token gives back nothing", async () => {
  const token = randomUUID();
  await add({});
  await lease(token);
  expect(await releaseUnder(token, "stranger")).toBe(0);
  expect(await states()).toEqual([running]);
});

test("a lease that is released again and again signals its jobs once", async () => {
  const token = randomUUID();
  await add({}, {});
  await lease(token);
  const signalled = vi.spyOn(signal, "pushFront");
  for (let time = 0; time < 3; time += 1) await releaseUnder(token);
  expect(signalled.mock.calls.flat(2)).toHaveLength(2);
});

test("while another transaction has a job locked it fails, and repeated it gives back the rest", async () => {
  const token = randomUUID();
  const [locked = ""] = await add({}, {});
  await lease(token);
  await sql().begin(async (stranger) => {
    await stranger`SELECT FROM atlasqueue.jobs WHERE id = ${locked} FOR UPDATE`;
    await expect(releaseUnder(token)).rejects.toThrow(KeysContendedError);
    expect(await states()).toEqual([running, queued]);
  });
  // The process that could not answer may be gone by now.
  await longPoll().close();
  expect(await releaseUnder(token)).toBe(1);
  expect(await states()).toEqual([queued, queued]);
});

test("jobs that are handed over stay leased, though their queue is given limits just then and a claim within them is lost", async () => {
  const [id, locked = ""] = await add({}, {});
  let limited = false;
  open(
    signal,
    steppingDatabase(database(), async (step, _number, text) => {
      if (step !== "answer") return;
      if (limited && text === "COMMIT") throw brokenConnection();
      if (limited || !text.includes("attempts = attempts + 1")) return;
      limited = true;
      await setLimits({ ...deps(), database: database() }, main, queueLimits.parse({ concurrency: 5 }));
    }),
  );
  const token = randomUUID();
  const leased = await sql().begin(async (stranger) => {
    await stranger`SELECT FROM atlasqueue.jobs WHERE id = ${locked} FOR UPDATE`;
    return lease(token);
  });
  expect(leased).toMatchObject([{ id }]);
  // What was to go back has gone back by then.
  await longPoll().close();
  await longPoll().released();
  expect(await states()).toEqual([running, queued]);
});
