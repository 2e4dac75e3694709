import { expect, test } from "vitest";
import { createGate, type Gate } from "./gate.ts";
import type { Kind } from "./kept-room.ts";

/** One that is never done. */
function isLetIn(gate: Gate, tenant: string, of: Kind, bytes: number): boolean {
  let begun = false;
  const work = () => {
    begun = true;
    return new Promise<never>(() => {});
  };
  gate.hold(tenant, bytes, work, of).catch(() => {});
  return begun;
}

/** How many are let in until there is no more room. */
function fill(gate: Gate, tenant: string, of: Kind, bytes = 100): number {
  let held = 0;
  while (isLetIn(gate, tenant, of, bytes)) held += 1;
  return held;
}

const tenants = (count: number) => Array.from({ length: count }, (_, at) => `tenant ${at}`);

test.each([
  ["small", 1, 100],
  ["small", 20, 100],
  ["large", 1, 1_000_000],
  ["large", 20, 1_000_000],
])("whatever %s requests of %d tenants wait, each has room for what its leases hang on", (_what, count, bytes) => {
  const gate = createGate();
  for (const tenant of tenants(count)) fill(gate, tenant, "rest", bytes);
  // Into what the large ones left.
  for (const tenant of tenants(count)) fill(gate, tenant, "rest");
  for (const tenant of tenants(count)) expect(isLetIn(gate, tenant, "first", 16_384)).toBe(true);
});

test("a tenant has room for as many renewals as for other requests, and for more while it has no others", () => {
  const gate = createGate();
  expect(fill(gate, "a", "rest")).toBe(1_500);
  expect(fill(gate, "a", "first")).toBe(1_500);
  const other = createGate();
  expect(fill(other, "a", "first")).toBe(3_000);
  expect(isLetIn(other, "a", "rest", 100)).toBe(false);
});

test("however many renewals of a tenant wait, others find room for theirs, and for the rest", () => {
  const gate = createGate();
  fill(gate, "a", "first");
  expect(fill(gate, "b", "first")).toBeGreaterThan(500);
  for (const of of ["first", "rest"] as const) expect(isLetIn(gate, "c", of, 100)).toBe(true);
});

test.each(["first", "rest"] as const)("what waits takes no more bytes than there is room for: %s", (of) => {
  const gate = createGate({ requests_max: 4_000, bytes_max: 100_000, kept: { requests: 2_000, bytes: 25_000 } });
  const all = tenants(50);
  const others = of === "first" ? "rest" : "first";
  const held = [...all.map((tenant) => fill(gate, tenant, of)), ...all.map((tenant) => fill(gate, tenant, others))];
  const bytes = 100 * held.reduce((sum, count) => sum + count, 0);
  expect(bytes).toBeGreaterThan(75_000);
  expect(bytes).toBeLessThanOrEqual(100_000);
});
