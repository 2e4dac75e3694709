import { expect, test } from "vitest";
import { createAskedQueues } from "./asked-queues.ts";

test("queues are remembered for a minute after they were asked for last", () => {
  let now = 0;
  const asked = createAskedQueues(() => now);
  asked.note({ tenant: "a", queue: "one" });
  asked.note({ tenant: "b", queue: "one" });
  now = 40_000;
  asked.note({ tenant: "a", queue: "two" });
  asked.note({ tenant: "b", queue: "one" });
  now = 70_000;
  expect(asked.recent()).toEqual([
    { tenant: "a", queue: "two" },
    { tenant: "b", queue: "one" },
  ]);
  now = 100_000;
  expect(asked.recent()).toEqual([]);
});

test("however many names a tenant makes up, other tenants' queues stay remembered", () => {
  const asked = createAskedQueues(() => 0);
  asked.note({ tenant: "modest", queue: "mail" });
  for (let name = 0; name < 25_000; name += 1) asked.note({ tenant: "greedy", queue: `q${name}` });
  const recent = asked.recent();
  expect(recent).toHaveLength(10_000);
  expect(recent[0]).toEqual({ tenant: "modest", queue: "mail" });
  expect(recent.at(-1)).toEqual({ tenant: "greedy", queue: "q24999" });
});

test("of more tenants than there is room for, the one that asked longest ago is forgotten", () => {
  const asked = createAskedQueues(() => 0);
  for (let tenant = 0; tenant < 10_000; tenant += 1) asked.note({ tenant: `t${tenant}`, queue: "mail" });
  asked.note({ tenant: "t0", queue: "mail" });
  asked.note({ tenant: "new", queue: "mail" });
  const recent = new Set(asked.recent().map(({ tenant }) => tenant));
  expect([recent.size, recent.has("t0"), recent.has("t1"), recent.has("new")]).toEqual([10_000, true, false, true]);
});
