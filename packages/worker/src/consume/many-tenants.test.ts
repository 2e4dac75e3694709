import { noSignal, type Signal } from "@atlasqueue/core";
import { SignalUnavailableError } from "@atlasqueue/core/internal";
import { findJob } from "@atlasqueue/core/internal/http";
import { eventually, ownSignal } from "@atlasqueue/harness";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { any, drivers, noop, workerHarness } from "../../test/harness.ts";
import { defineHandler } from "../handler.ts";
import { idSource } from "./next-ids.ts";
import { createServed, type Served } from "./served.ts";
import { createTenantLine } from "./tenant-line.ts";

const { add, deps, signal, sql, useSignal, work } = workerHarness();
const lineOf = (served: Served, now?: () => number) => createTenantLine(deps(), served, () => {}, now);
const named = (name: string, count: number) => Array.from({ length: count }, (_, at) => `${name}-${at}`);

const addTo = (places: readonly { tenant: string; queue: string }[]): Promise<string[]> =>
  add(...places.map(({ tenant, queue }) => ({ tenant, queue, payload: { tenant } })));
const allSucceed = (count: number) =>
  eventually(
    async () => expect(await sql()`SELECT FROM atlasqueue.jobs WHERE status = 'succeeded'`).toHaveLength(count),
    { timeout_ms: 20_000 },
  );

/** Counts the waits on a signal. */
function counting(open: () => Signal) {
  const waits = { begun: 0, woken: 0, lists_max: 0 };
  useSignal(() => {
    const opened = open();
    return {
      ...opened,
      async wait(queues, ...rest) {
        waits.begun += 1;
        waits.lists_max = Math.max(waits.lists_max, queues.length);
        const woken = await opened.wait(queues, ...rest);
        if (woken) waits.woken += 1;
        return woken;
      },
    };
  });
  return { waits, isIdle: () => eventually(() => expect(waits.begun).toBeGreaterThan(0)) };
}

describe.each(Object.entries(drivers))("with %s", (name, open) => {
  test("jobs of many tenants that come at once are found by few waits", { tags: ["nightly"] }, async () => {
    const { waits, isIdle } = counting(open);
    const tenants = named("tenant", 400);
    work([noop], { tenants });
    await isIdle();
    let added = 0;
    // Not while it rests from a look that was slow.
    await eventually(async () => {
      waits.woken = 0;
      await addTo(tenants.slice(200, 230).map((tenant) => ({ tenant, queue: "default" })));
      await allSucceed((added += 30));
      expect(waits.woken).toBeLessThan(10);
    });
  });

  test("a wait names two thousand lists of Redis at most, and jobs in the others run all the same", async () => {
    const { waits, isIdle } = counting(open);
    const tenants = named("tenant", 30);
    const queues = named("queue", 100);
    work([noop], { tenants, queues, pollTimeoutSeconds: 60 });
    await isIdle();
    await addTo(tenants.map((tenant, at) => ({ tenant, queue: `queue-${at * 3}` })));
    await allSucceed(30);
    expect(waits.lists_max).toBe(name === "redis" ? 2_000 : 3_000);
  });
});

test("a tenant with ten jobs starts them within 2 s behind one with ten thousand", { tags: ["nightly"] }, async () => {
  useSignal(drivers.redis);
  for (let batch = 0; batch < 10; batch += 1)
    await addTo(Array.from({ length: 1_000 }, () => ({ tenant: "greedy", queue: "default" })));
  const ran = { greedy: 0, small: 0 };
  const recording = defineHandler("noop", z.looseObject({ tenant: z.enum(["greedy", "small"]) }), ({ tenant }) => {
    ran[tenant] += 1;
  });
  work([recording], { tenants: ["greedy", "small"], concurrency: 5 });
  await eventually(() => expect(ran.greedy).toBeGreaterThan(100));
  const added_at = performance.now();
  await addTo(Array.from({ length: 10 }, () => ({ tenant: "small", queue: "default" })));
  await eventually(() => expect(ran.small).toBe(10));
  expect(performance.now() - added_at).toBeLessThan(2_000);
  expect(ran.greedy).toBeLessThan(9_000);
});

// 4 s on a quiet machine.
test("a job of each of 3,000 tenants runs within seconds", { tags: ["nightly"] }, async () => {
  useSignal(drivers.redis);
  const tenants = named("tenant", 3_000);
  for (let at = 0; at < tenants.length; at += 500)
    await addTo(tenants.slice(at, at + 500).map((tenant) => ({ tenant, queue: "default" })));
  let ran = 0;
  work([defineHandler("noop", any, () => void (ran += 1))], { tenants: "*", concurrency: 20 });
  await eventually(() => expect(ran).toBe(3_000), { timeout_ms: 50_000 });
});

test("a tenant that joins while the others' lists are looked at is not waited without", async () => {
  useSignal(ownSignal);
  const served = createServed(deps(), "*", ["default"]);
  const own = signal();
  const joining: Signal = {
    ...own,
    async take(...given) {
      await served.discover();
      return own.take(...given);
    },
  };
  const [id] = await addTo([{ tenant: "late", queue: "default" }]);
  const parts = { deps: { ...deps(), signal: joining }, served, poll_timeout_seconds: 60 };
  const nextIds = idSource({ ...parts, line: lineOf(served) }, new AbortController().signal);
  expect((await nextIds(5)).ids).toEqual([]);
  expect(await nextIds(5)).toMatchObject({ tenant: "late", ids: [id] });
});

test("ids that come don't wait for a look that does not end", async () => {
  useSignal(ownSignal);
  const served = createServed(deps(), ["a", "b"], ["default"]);
  const never = new Promise<void>(() => {});
  let due_ms = 0;
  const line = {
    ...lineOf(served),
    look: () => ((due_ms = Infinity), never),
    looking: () => never,
    lookInMs: () => due_ms,
  };
  const parts = { deps: { ...deps(), signal: signal() }, served, line, poll_timeout_seconds: 60 };
  const nextIds = idSource(parts, new AbortController().signal);
  const next = nextIds(5);
  const [id] = await addTo([{ tenant: "b", queue: "default" }]);
  expect(await next).toMatchObject({ tenant: "b", ids: [id] });
});

test("a look that fails is reported, and the next one is due in a second", async () => {
  const served = createServed(deps(), ["a", "b"], ["default"]);
  const errors: unknown[] = [];
  const away = { ...deps().database, sql: { unsafe: () => Promise.reject(new Error("away")) } };
  const database = away as unknown as ReturnType<typeof deps>["database"];
  const failed = (error: unknown) => void errors.push(error);
  const line = createTenantLine({ ...deps(), database }, served, failed, () => 0);
  await line.look();
  expect(errors).toHaveLength(1);
  expect(line.lookInMs(true)).toBe(1_000);
});

test("the first in line stays the first while the signal is away", async () => {
  const served = createServed(deps(), ["a", "b", "c"], ["mail"]);
  const line = lineOf(served);
  for (const tenant of ["b", "a", "c"]) line.taken(tenant, true);
  const parts = { deps: { ...deps(), signal: noSignal() }, served, line, poll_timeout_seconds: 60 };
  const nextIds = idSource(parts, new AbortController().signal);
  await expect(nextIds(5)).rejects.toThrow(SignalUnavailableError);
  expect(line.first()).toBe("b");
});

describe("a tenant that has jobs", () => {
  const wanted = ["a", "b", "c"];
  const mail = (tenant: string) => ({ tenant, queue: "mail" });

  test("has its turn in the order of being found, and goes to the end with more", async () => {
    const line = lineOf(createServed(deps(), wanted, ["mail", "news"]));
    await addTo([mail("a"), { tenant: "c", queue: "news" }, { tenant: "b", queue: "unserved" }]);
    line.taken("c", true);
    await line.look();
    expect(line.first()).toBe("c");
    line.taken("c", true);
    expect(line.first()).toBe("a");
    line.taken("a", false);
    expect(line.first()).toBe("c");
    line.leave("c");
    expect(line.first()).toBeUndefined();
  });

  test("is looked for behind five hundred others that always have more", () => {
    const line = lineOf(createServed(deps(), "*", ["mail"]), () => 0);
    for (const tenant of named("tenant", 500)) line.taken(tenant, true);
    for (let turn = 0; turn < 500; turn += 1) line.taken(line.first() ?? "", true);
    expect(line.lookInMs(false)).toBe(0);
  });

  test("is looked for soon after jobs were taken, and less and less often when none are", async () => {
    const line = lineOf(createServed(deps(), wanted, ["mail"]), () => 0);
    const rests = [];
    for (let look = 0; look < 9; look += 1) {
      await line.look();
      rests.push(line.lookInMs(false));
    }
    expect(rests).toEqual([20, 40, 80, 160, 320, 640, 1_000, 1_000, 1_000]);
    expect(line.lookInMs(true)).toBe(Infinity);
    line.taken("a", true);
    expect(line.lookInMs(true)).toBe(20);
  });

  test("is looked for again nine times as long after a look as that took, and at most a second", async () => {
    let clock = 0;
    let took_ms = 50;
    const served = createServed(deps(), wanted, ["mail"]);
    const slow = { ...served, open: () => ((clock += took_ms), served.open()) };
    const line = lineOf(slow, () => clock);
    const rests = [];
    for (took_ms of [50, 5_000, 1]) {
      line.taken("a", false);
      await line.look();
      line.taken("a", false);
      rests.push(line.lookInMs(true));
    }
    expect(rests).toEqual([450, 1_000, 20]);
  });
});

test("without a signal, one tenant's backlog delays no other tenant's job, before or after it has begun", async () => {
  useSignal(noSignal);
  const ran: string[] = [];
  const recording = defineHandler("noop", z.looseObject({ tenant: z.string() }), ({ tenant }) => void ran.push(tenant));
  await addTo(
    [...Array.from({ length: 1_000 }, () => "z-greedy"), "a-small"].map((tenant) => ({ tenant, queue: "q" })),
  );
  work([recording], { tenants: "*", queues: ["q"], concurrency: 1 });
  await eventually(() => expect(ran).toContain("a-small"), { interval_ms: 1 });
  expect(ran.indexOf("a-small")).toBeLessThan(5);
  await addTo([{ tenant: "b-late", queue: "q" }]);
  const before = ran.length;
  await eventually(() => expect(ran).toContain("b-late"));
  // It waits for the next look, as long as a few dozen of these jobs take.
  expect(ran.indexOf("b-late") - before).toBeLessThan(500);
});

test("with all tenants, one that no list is known of runs as soon as it is found", async () => {
  const line = lineOf(createServed(deps(), "*", ["default"]));
  const [id] = await addTo([{ tenant: "new", queue: "default" }]);
  await line.look();
  expect(line.first()).toBe("new");
  expect((await findJob(deps(), "new", id ?? ""))?.status).toBe("queued");
});
