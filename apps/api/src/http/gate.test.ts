import { expect, test } from "vitest";
import { createGate, type Gate, type Kind } from "./gate.ts";

/** One that is never done. */
function isLetIn(gate: Gate, tenant: string, of: Kind): boolean {
  let begun = false;
  const work = () => {
    begun = true;
    return new Promise<never>(() => {});
  };
  gate.hold(tenant, work, of).catch(() => {});
  return begun;
}

/** How many are let in until there is no more room. */
function fill(gate: Gate, tenant: string, of: Kind): number {
  let held = 0;
  while (isLetIn(gate, tenant, of)) held += 1;
  return held;
}

const tenants = (count: number) => Array.from({ length: count }, (_, at) => `tenant ${at}`);

test.each([1, 20])("whatever %d tenants have in flight, each has room for what its leases hang on", (count) => {
  const gate = createGate();
  for (const tenant of tenants(count)) fill(gate, tenant, "rest");
  for (const tenant of tenants(count)) expect(isLetIn(gate, tenant, "first")).toBe(true);
});

test("a tenant has room for as many renewals as for other requests, and for more while it has no others", () => {
  const gate = createGate();
  expect(fill(gate, "a", "rest")).toBe(1_500);
  expect(fill(gate, "a", "first")).toBe(1_500);
  const other = createGate();
  expect(fill(other, "a", "first")).toBe(3_000);
  expect(isLetIn(other, "a", "rest")).toBe(false);
});

test("however many renewals of a tenant wait, others find room for theirs, and for the rest", () => {
  const gate = createGate();
  fill(gate, "a", "first");
  expect(fill(gate, "b", "first")).toBeGreaterThan(500);
  for (const of of ["first", "rest"] as const) expect(isLetIn(gate, "c", of)).toBe(true);
});
