import { noSignal, type Signal } from "@atlasqueue/core";
import { submit } from "@atlasqueue/core/internal";
import { eventually, submission } from "@atlasqueue/testing";
import { expect, test } from "vitest";
import { z } from "zod";
import { drivers, gate, workerHarness } from "../../test/harness.ts";
import { defineHandler } from "../handler.ts";
import { createFound } from "./found.ts";
import { idSource } from "./next-ids.ts";
import { createServed } from "./served.ts";

const { deps, useSignal, work } = workerHarness();

const addTo = (tenant: string, count: number) => {
  const submissions = Array.from({ length: count }, () => ({ ...submission({ payload: { tenant } }), tenant }));
  return submit(deps(), submissions, { idempotency_ttl_seconds: 60 });
};

/** Jobs of the tenant `long` hold their slots until they are released one by one; others' end at once. */
function recording() {
  const started: string[] = [];
  const held: ReturnType<typeof gate>[] = [];
  const handler = defineHandler("noop", z.looseObject({ tenant: z.string() }), ({ tenant }) => {
    started.push(tenant);
    if (tenant !== "long") return;
    const hold = gate();
    held.push(hold);
    return hold.opened;
  });
  return { handler, started, held, releaseOne: () => held.shift()?.open() };
}

const signals: [string, () => Signal][] = [...Object.entries(drivers), ["no signal", noSignal]];

test.each(signals)(
  "with %s, jobs that hold all slots keep another tenant's waiting until one ends",
  async (_, open) => {
    useSignal(open);
    const { handler, started, held, releaseOne } = recording();
    work([handler], { tenants: ["long", "short"], concurrency: 4 });
    await addTo("long", 60);
    await eventually(() => expect(held).toHaveLength(4));
    await addTo("short", 20);
    // A look may not be due yet, or have been too early for the lists: then the slot is not left empty.
    while (!started.includes("short")) {
      const before = started.length;
      releaseOne();
      await eventually(() => expect(started.length).toBeGreaterThan(before));
    }
    const first = started.indexOf("short");
    const all = Array.from({ length: 20 }, () => "short");
    await eventually(() => expect(started.slice(first, first + 20)).toEqual(all), { timeout_ms: 20_000 });
    for (const hold of held) hold.open();
  },
);

test.each(Object.entries(drivers))(
  "with %s, a wait hands out first what is for those with the fewest slots",
  async (_, open) => {
    useSignal(open);
    const served = createServed(deps(), ["long", "short"], ["default"]);
    const slots: Record<string, number> = { long: 2, short: 1 };
    const running = { slotsOf: (tenant: string) => slots[tenant] ?? 0 };
    // No look is due, and nobody is in line.
    const found = { ...createFound(deps(), served, running), lookInMs: () => Infinity, next: () => undefined };
    const parts = { deps: deps(), served, found, running, sweeper: { nudge() {} }, poll_timeout_seconds: 60 };
    const nextIds = idSource(parts, new AbortController().signal);
    await addTo("long", 4);
    await addTo("short", 4);
    const tenants: string[] = [];
    for (let turn = 0; turn < 8; turn += 1) tenants.push((await nextIds(1)).tenant);
    expect(tenants.map((tenant) => tenant[0]).join("")).toBe("ssssllll");
  },
);
