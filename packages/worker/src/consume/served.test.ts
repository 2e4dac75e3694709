import { explainJob, findJob } from "@atlasqueue/core/internal/http";
import { eventually } from "@atlasqueue/harness";
import { describe, expect, test } from "vitest";
import { any, drivers, gate, noop, workerHarness } from "../../test/harness.ts";
import { defineHandler } from "../handler.ts";
import { createServed } from "./served.ts";

const harness = workerHarness();

const addTo = (tenant: string, count = 1): Promise<string[]> =>
  harness.add(...Array.from({ length: count }, () => ({ tenant })));
const statusOf = async (tenant: string, id = "") => (await findJob(harness.deps(), tenant, id))?.status;
const succeeds = (tenant: string, id: string | undefined) =>
  eventually(async () => expect(await statusOf(tenant, id)).toBe("succeeded"), { timeout_ms: 15_000 });

describe.each(Object.entries(drivers))("with %s", (_name, open) => {
  test("a worker for all tenants runs the jobs of each, even of those it has not heard of", async () => {
    harness.useSignal(open);
    const [before] = await addTo("acme");
    harness.work([noop], { tenants: "*" });
    await succeeds("acme", before);
    const [late] = await addTo("beta");
    await succeeds("beta", late);
    const [own] = await addTo("default");
    await succeeds("default", own);
  });

  test("a worker for some tenants runs no job of another, and explain says that none does", async () => {
    harness.useSignal(open);
    harness.work([noop], { tenants: ["acme", "beta"] });
    const [theirs] = await addTo("default");
    for (const tenant of ["acme", "beta"]) await succeeds(tenant, (await addTo(tenant))[0]);
    expect(await statusOf("default", theirs)).toBe("queued");
    const codes = async (tenant: string, id = "") =>
      (await explainJob(harness.deps(), tenant, id))?.reasons.map(({ code }) => code);
    expect(await codes("default", theirs)).toContain("no_worker");
    expect((await harness.signal().presence.list("beta")).map(({ queues }) => queues)).toEqual([["default"]]);
  });
});

test.each([
  ["all tenants", "*"],
  ["this tenant alone", ["acme"]],
] as const)("explain knows a worker for %s", async (_name, tenants) => {
  const hold = gate();
  harness.work([defineHandler("noop", any, () => hold.opened)], { tenants, concurrency: 1 });
  await eventually(async () => expect(await harness.signal().presence.list("acme")).toHaveLength(1));
  const [first, second = ""] = await addTo("acme", 2);
  await eventually(async () => expect(await statusOf("acme", first)).toBe("running"));
  const reasons = (await explainJob(harness.deps(), "acme", second))?.reasons.map(({ code }) => code);
  expect(reasons).toEqual(["waiting_for_worker"]);
  hold.open();
});

test("a tenant found to have jobs ends the wait for those known before", async () => {
  const served = createServed(harness.deps(), "*", ["default"]);
  const wait = served.changed();
  await addTo("late");
  await served.discover();
  expect(served.tenants()).toContain("late");
  expect(wait.aborted).toBe(true);
});
