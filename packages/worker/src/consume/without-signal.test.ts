import { submit } from "@atlasqueue/core/internal";
import { submission } from "@atlasqueue/testing";
import { expect, test } from "vitest";
import { workerHarness } from "../../test/harness.ts";
import { createFound } from "./found.ts";
import { createServed } from "./served.ts";
import { fillWithoutSignal } from "./without-signal.ts";

const { deps } = workerHarness();
const never = new AbortController().signal;
const named = (name: string, count: number) => Array.from({ length: count }, (_, at) => `${name}-${at}`);

/** A worker's polls by a clock of its own, on which only the rests between them take time. */
function polls(tenants: readonly string[], queues: readonly string[], free: () => number) {
  let clock = 0;
  const served = createServed(deps(), tenants, queues);
  const found = createFound(deps(), served, () => clock);
  return async (claimOldest: (tenant: string, jobs_max: number) => Promise<number>): Promise<number> => {
    clock += await fillWithoutSignal({ served, found, free, claimOldest, stop: never, now: () => clock });
    return clock;
  };
}
const mailFor = (tenants: readonly string[]) =>
  submit(
    deps(),
    tenants.map((tenant) => ({ ...submission({ queue: "mail" }), tenant })),
    { idempotency_ttl_seconds: 60 },
  );

test(
  "jobs that cannot start keep those behind them waiting no longer than it takes to find these",
  { tags: ["slow"] },
  async () => {
    const tenants = named("tenant", 200);
    await mailFor(tenants);
    // A look goes through twenty tenants' queues.
    const poll = polls(tenants, ["mail", ...named("queue", 99)], () => 5);
    const asked = new Map<string, number>();
    let clock = 0;
    const startsNothing = async (tenant: string) => {
      asked.set(tenant, (asked.get(tenant) ?? 0) + 1);
      return 0;
    };
    while (asked.size < tenants.length) clock = await poll(startsNothing);
    expect(clock).toBeLessThan(1_000);
    // Each is left out for longer and longer, up to a second.
    while (clock < 20_000) clock = await poll(startsNothing);
    expect(Math.max(...asked.values())).toBeLessThan(30);
  },
);

test("what is spent in vain is followed by a rest as long, and by none where jobs start", async () => {
  let clock = 0;
  const served = createServed(deps(), ["a", "b"], ["mail"]);
  const found = createFound(deps(), served, () => clock);
  await mailFor(["a", "b"]);
  const poll = (started: number) =>
    fillWithoutSignal({
      served,
      found,
      free: () => 5,
      stop: never,
      now: () => clock,
      claimOldest: async () => ((clock += 100), started),
    });
  expect(await poll(0)).toBe(200);
  clock += 1_000;
  expect(await poll(1)).toBe(0);
});

test("a poll ends once it filled the slots, and goes on with who is next in line", async () => {
  const tenants = named("tenant", 3);
  await mailFor(tenants);
  const poll = polls(tenants, ["mail"], () => 2);
  const asked: string[] = [];
  const fillsAll = async (tenant: string, jobs_max: number) => (asked.push(tenant), jobs_max);
  for (let round = 0; round < 6; round += 1) await poll(fillsAll);
  expect(asked).toHaveLength(6);
  for (const tenant of tenants) expect(asked.filter((name) => name === tenant)).toHaveLength(2);
});

test("jobs are found within a second, however long looks would rest beside a signal", async () => {
  const served = createServed(deps(), ["a", "b"], ["mail"]);
  const found = { ...createFound(deps(), served), lookInMs: () => 60_000 };
  const asked: string[] = [];
  const claimOldest = async (tenant: string) => asked.push(tenant);
  const poll = () => fillWithoutSignal({ served, found, free: () => 5, claimOldest, stop: never });
  expect(await poll()).toBeLessThanOrEqual(1_000);
  await mailFor(["a"]);
  await poll();
  expect(asked).toEqual(["a"]);
});

test("a stop ends a poll at once, however many are in line", async () => {
  const tenants = named("tenant", 50);
  await mailFor(tenants);
  const served = createServed(deps(), tenants, ["mail"]);
  const found = createFound(deps(), served);
  const stop = new AbortController();
  let asked = 0;
  const claimOldest = async () => {
    asked += 1;
    stop.abort();
    return 0;
  };
  await fillWithoutSignal({ served, found, free: () => 5, claimOldest, stop: stop.signal });
  expect(asked).toBe(1);
});
