import { noSignal, type Signal } from "@atlasqueue/core";
import { eventually, ownSignal } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { z } from "zod";
import { any, drivers, noop, workerHarness } from "../../test/harness.ts";
import { defineHandler } from "../handler.ts";
import { idSource } from "./next-ids.ts";
import { createServed, type Served } from "./served.ts";
import { createTenantLine } from "./tenant-line.ts";

const { add, deps, signal, sql, useSignal, work } = workerHarness();
const lineOf = (served: Served) => createTenantLine(deps(), served, () => {});
const named = (name: string, count: number) => Array.from({ length: count }, (_, at) => `${name}-${at}`);

const addTo = (places: readonly { tenant: string; queue: string }[]): Promise<string[]> =>
  add(...places.map(({ tenant, queue }) => ({ tenant, queue, payload: { tenant } })));

test("a wait names two thousand lists of Redis at most, and jobs in the others run all the same", async () => {
  let lists_max = 0;
  useSignal(() => {
    const opened = drivers.redis();
    const wait: Signal["wait"] = (queues, ...rest) => {
      lists_max = Math.max(lists_max, queues.length);
      return opened.wait(queues, ...rest);
    };
    return { ...opened, wait };
  });
  const tenants = named("tenant", 30);
  work([noop], { tenants, queues: named("queue", 100), pollTimeoutSeconds: 60 });
  await eventually(() => expect(lists_max).toBeGreaterThan(0));
  const ids = await addTo(tenants.map((tenant, at) => ({ tenant, queue: `queue-${at * 3}` })));
  await eventually(
    async () => expect(await sql()`SELECT FROM atlasqueue.jobs WHERE status = 'succeeded'`).toHaveLength(ids.length),
    { timeout_ms: 20_000 },
  );
  expect(lists_max).toBe(2_000);
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

test("a tenant that has jobs has its turn in the order of being found, and goes to the end with more", async () => {
  const line = lineOf(createServed(deps(), ["a", "b", "c"], ["mail", "news"]));
  await addTo([
    { tenant: "a", queue: "mail" },
    { tenant: "c", queue: "news" },
    { tenant: "b", queue: "unserved" },
  ]);
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
