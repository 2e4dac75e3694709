import { setTimeout as soon } from "node:timers/promises";
import { eventually } from "@atlasqueue/harness";
import { beforeEach, describe, expect, test } from "vitest";
import { any, drivers, gate, signals, workerHarness } from "../test/harness.ts";
import { defineHandler } from "./handler.ts";

const { add, becomes, read, sql, useSignal, work } = workerHarness();

/** Counts how many run at once, by queue. */
function counted(run: (queue: string) => Promise<unknown>) {
  const now: Record<string, number> = {};
  const most: Record<string, number> = {};
  const handler = defineHandler("noop", any, async (_payload, { job: { queue } }) => {
    now[queue] = (now[queue] ?? 0) + 1;
    most[queue] = Math.max(most[queue] ?? 0, now[queue]);
    await run(queue);
    now[queue] -= 1;
  });
  return { handler, most };
}
const jobsOf = (queue: string, count: number) => Array.from({ length: count }, () => ({ queue }));

describe.each(Object.entries(signals))("with %s", (_name, driver) => {
  beforeEach(() => useSignal(driver));

  test("a queue whose jobs do not end keeps to its slots, and leaves another all of its own", async () => {
    const { open, opened } = gate();
    const { handler, most } = counted((queue) => (queue === "slow" ? opened : soon(2)));
    const slow = await add(...jobsOf("slow", 20));
    work([handler], { queues: { slow: 2, fast: 3 }, pollTimeoutSeconds: 1 });
    await eventually(() => expect(most).toEqual({ slow: 2 }));
    const fast = await add(...jobsOf("fast", 30));
    for (const id of fast) await becomes(id, { status: "succeeded", attempts: 1 });
    const rows = await sql()`SELECT id FROM atlasqueue.jobs WHERE queue = 'slow' AND status = 'running'`;
    expect(rows).toHaveLength(2);
    open();
    for (const id of slow) await becomes(id, { status: "succeeded", attempts: 1 });
    expect(most).toEqual({ slow: 2, fast: 3 });
  });
});

test("a worker of several tenants keeps to the slots of each queue", async () => {
  useSignal(drivers.redis);
  const { open, opened } = gate();
  const { handler, most } = counted((queue) => (queue === "slow" ? opened : soon(2)));
  work([handler], { queues: { slow: 2, fast: 3 }, tenants: "*", pollTimeoutSeconds: 1 });
  await add(...jobsOf("slow", 10));
  await eventually(() => expect(most).toEqual({ slow: 2 }));
  const fast = await add(...jobsOf("fast", 20));
  for (const id of fast) await becomes(id, { status: "succeeded" });
  open();
  await eventually(async () =>
    expect(await sql()`SELECT 1 FROM atlasqueue.jobs WHERE status <> 'succeeded'`).toHaveLength(0),
  );
  expect(most).toEqual({ slow: 2, fast: 3 });
});

test("jobs of one group that go on in one slot count as one", async () => {
  const { handler, most } = counted(() => soon(1));
  const ids = await add(...Array.from({ length: 12 }, (_one, at) => ({ queue: "mail", group: at % 4 ? "a" : "b" })));
  work([handler], { queues: { mail: 1, other: 1 } });
  for (const id of ids) await becomes(id, { status: "succeeded", attempts: 1 });
  expect(most).toEqual({ mail: 1 });
  expect(await read(ids[0])).toMatchObject({ status: "succeeded" });
});

test.each([
  [{ queues: { mail: 0 } }, "queues: the slots of mail must be an integer from 1 to 10000; got 0"],
  [{ queues: {} }, "queues must name at least one queue; got {}"],
  [{ queues: { mail: 2 }, concurrency: 5 }, "concurrency is for queues that share their slots"],
])("%j is refused", (config, why) => {
  expect(() => work([], config)).toThrow(why);
});
