import { eventually, ownSignal } from "@atlasqueue/harness";
import { beforeEach, describe, expect, test } from "vitest";
import { call, longPollHarness, many, never } from "../../test/long-poll.ts";
import { cancel } from "../jobs/cancel.ts";
import { announce } from "../signal/announce.ts";
import { memorySignal, noSignal } from "../signal/memory/signal.ts";
import type { ReadyJob } from "../signal/signal.ts";

const { open, recorded, sql, deps, leases, longPoll, waits, store, add, read, turn } = longPollHarness();

const drivers = {
  redis: ownSignal,
  memory: memorySignal,
};

describe.each(Object.entries(drivers))("with %s", (_name, driver) => {
  beforeEach(() => open(driver()));

  test("waiting calls are served in the order they came, one job each", async () => {
    const calls = [];
    for (let at = 0; at < 20; at += 1) {
      calls.push(waits());
      await turn();
    }
    for (let at = 0; at < 20; at += 1) {
      const [id] = await add({});
      expect(await calls[at]?.done).toEqual([id]);
      expect(calls.slice(at + 1).every(({ got }) => got.ids === undefined)).toBe(true);
    }
  });

  test("a tenant with its share of waits is refused more; another one is served", { tags: ["slow"] }, async () => {
    const gone = new AbortController();
    const first = waits({ tenant: "greedy" }, gone.signal);
    await turn();
    const calls = Array.from({ length: 8_000 }, () => leases(call({ tenant: "greedy" }), gone.signal));
    const refused = calls.map((one) =>
      one.then(
        () => undefined,
        (error: Error) => error.message,
      ),
    );
    const mine = waits();
    await turn();
    const [id] = await add({});
    expect(await mine.done).toEqual([id]);
    gone.abort();
    await first.done;
    const told = (await Promise.all(refused)).filter((message) => message !== undefined);
    expect(told.length).toBe(501);
    expect(told[0]).toContain("share of the calls that wait for jobs");
  });

  test("a call that can wait does not overtake those already waiting; one that cannot wait gets what there is", async () => {
    const first = waits();
    await turn();
    const second = waits();
    const [id] = await add({});
    expect(await first.done).toEqual([id]);
    const [next] = await add({});
    expect(await second.done).toEqual([next]);
    await add({});
    expect(await leases(call({ wait_ms: 0 }), never)).toHaveLength(1);
  });

  test("300 jobs with priorities at once reach 300 waiting calls", async () => {
    const calls = many(300).map(() => waits());
    await turn();
    const ids = await add(...many(150, { priority: 7 }), ...many(150, { priority: -7 }));
    const got = (await Promise.all(calls.map(({ done }) => done))).flat();
    expect(got.toSorted()).toEqual(ids.toSorted());
  });

  test("a call waiting for several gets as many as there are, the oldest of a burst first", async () => {
    const first = waits({ jobs_max: 10 });
    await turn();
    const second = waits({ jobs_max: 10 });
    await turn();
    const ids = await add(...many(13));
    expect([...(await first.done), ...(await second.done)]).toEqual(ids);
  });

  test("a queue that joins later is heard at once, and an abandoned one takes nothing", async () => {
    const one = waits({ queue: "one" });
    await turn();
    const gone = new AbortController();
    const left = waits({ queue: "left" }, gone.signal);
    await turn();
    const two = waits({ queue: "two" });
    await turn();
    gone.abort();
    expect(await left.done).toEqual([]);
    const [of_left] = await add({ queue: "left" });
    const [of_two] = await add({ queue: "two" });
    expect(await two.done).toEqual([of_two]);
    const [of_one] = await add({ queue: "one" });
    expect(await one.done).toEqual([of_one]);
    await eventually(async () => {
      expect(await deps().signal.look({ tenant: "default", queue: "left" })).toMatchObject({ length: 1 });
    });
    expect((await leases(call({ queue: "left", wait_ms: 0 }), never))[0]?.id).toBe(of_left);
  });

  test("when a call hangs up while its job is being claimed, the next one gets the job and no attempt is spent", async () => {
    for (let round = 0; round < 20; round += 1) {
      const gone = new AbortController();
      const first = waits({}, gone.signal);
      await turn();
      const second = waits();
      const added = add({});
      if (round % 2 === 0) await Promise.resolve();
      else await deps().signal.look(call());
      gone.abort();
      const [[id = ""], got] = await Promise.all([added, first.done]);
      if (got.length > 0) await add({});
      else expect(await second.done).toEqual([id]);
      expect((await second.done).length).toBe(1);
      expect(await read((await second.done)[0] ?? "")).toMatchObject({ status: "running", attempts: 1 });
    }
  });

  test("close answers all waiting calls with nothing, and later ones do not wait", async () => {
    const calls = many(100).map((_, at) => waits({ queue: `q${at % 7}` }));
    await turn();
    await longPoll().close();
    expect(await Promise.all(calls.map(({ done }) => done))).toEqual(many(100).map(() => []));
    expect(await leases(call(), never)).toEqual([]);
    const [id] = await add({});
    expect((await leases(call(), never))[0]?.id).toBe(id);
  });

  test("a close in the middle of a burst gives back what no caller received", async () => {
    const calls = many(50).map(() => waits());
    await turn();
    const [ids] = await Promise.all([
      add(...many(50)),
      deps()
        .signal.look(call())
        .then(() => longPoll().close()),
    ]);
    const told = new Set((await Promise.all(calls.map(({ done }) => done))).flat());
    for (const id of ids) {
      const expected = told.has(id) ? { status: "running", attempts: 1 } : { status: "queued", attempts: 0 };
      expect(await read(id)).toMatchObject(expected);
    }
  });

  test("a call that cannot wait gets the job behind any number of signals for jobs that are gone", async () => {
    const stale = await store(...many(60));
    for (const { id } of stale) await cancel(deps(), "default", id);
    await announce(deps(), stale);
    const [id] = await add({});
    const jobs = await leases(call({ wait_ms: 0, jobs_max: 2 }), never);
    expect(jobs.map((job) => job.id)).toEqual([id]);
    expect(await leases(call({ wait_ms: 0 }), never)).toEqual([]);
  });

  test("a lease carries the whole job as it is then", async () => {
    const [id = ""] = await add({ payload: { to: "a" } });
    const [held] = await leases(call());
    expect(held).toEqual({ ...(await read(id)), tenant: "default" });
  });
});

describe("without a signal", () => {
  beforeEach(() => open(noSignal()));

  test("waiting calls find the jobs in Postgres, each once, with one query for all of them", async () => {
    const calls = many(50).map((_, at) => waits({ queue: at % 2 ? "odd" : "even" }));
    await turn();
    const ids = (await store(...many(25, { queue: "odd" }), ...many(25, { queue: "even" }))).map(({ id }) => id);
    const got = (await Promise.all(calls.map(({ done }) => done))).flat();
    expect(got.toSorted()).toEqual(ids.toSorted());
  });

  test("a paused queue hands out nothing", async () => {
    await sql()`INSERT INTO atlasqueue.queues (tenant, queue, paused_at) VALUES ('default', 'held', now())`;
    const held = waits({ queue: "held" });
    const other = waits({ queue: "other" });
    await turn();
    const jobs = await store({ queue: "held" }, { queue: "other" });
    expect(await other.done).toEqual([jobs[1]?.id]);
    expect(held.got.ids).toBeUndefined();
  });
});

test("a call that is woken for a job that is gone stays first in line", async () => {
  open(ownSignal());
  const first = waits();
  await turn();
  const second = waits();
  const [stale = ""] = (await store({})).map(({ id }) => id);
  await cancel(deps(), "default", stale);
  await deps().signal.push([
    { id: stale, tenant: "default", queue: "default", priority: 0 },
    { id: "junk", tenant: "default", queue: "default", priority: 0 },
  ]);
  await eventually(() => expect(recorded.named("lease_not_acquired").length).toBeGreaterThan(0));
  const [id] = await add({});
  expect(await first.done).toEqual([id]);
  expect(second.got.ids).toBeUndefined();
  const [other] = await add({});
  expect(await second.done).toEqual([other]);
});

test("when Postgres is away, only the woken calls fail; the others go on waiting", async () => {
  open(memorySignal());
  const first = waits();
  await turn();
  const second = waits();
  await turn();
  const [job] = await store({});
  const down = Object.assign(new Error("down"), { code: "ECONNREFUSED" });
  const { database } = deps();
  const real = database.sql;
  database.sql = Object.assign(() => {}, { unsafe: () => Promise.reject(down) }) as unknown as typeof real;
  try {
    await deps().signal.push([job as ReadyJob]);
    await expect(first.done).rejects.toThrow("down");
  } finally {
    database.sql = real;
  }
  expect(second.got.ids).toBeUndefined();
  await deps().signal.push([job as ReadyJob]);
  expect(await second.done).toEqual([job?.id]);
});
