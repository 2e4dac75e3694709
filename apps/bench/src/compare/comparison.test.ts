import { expect, test } from "vitest";
import { comparison, ratiosOf, verdictOf, type Pair } from "./comparison.ts";
import { renderComparison } from "./report.ts";

const side = (value: number, client_us: number): Pair["a"] => [
  {
    scenario: "process",
    unit: "per second",
    value,
    costs: { client_us, postgres_us: 10, redis_us: 0, waited_us: 5, wal_bytes: 500 },
  },
];
/** B is a tenth faster each time, however fast the machine; its client costs now more, now less. */
const pairs = Array.from({ length: 9 }, (_, at): Pair => {
  const speed = 10_000 * (at + 1);
  return { a: side(speed, 10), b: side(speed * 1.1, at % 2 === 0 ? 9 : 11) };
});

test("each pair gives a ratio, so that a slow minute of the machine is in both its sides", () => {
  const [rate, ...costs] = ratiosOf(pairs);
  expect(rate).toMatchObject({
    scenario: "process",
    of: "per second",
    a: 50_000,
    interval: { low: expect.closeTo(1.1) },
  });
  expect(rate?.ratio).toBeCloseTo(1.1);
  expect(rate && verdictOf(rate)).toBe("better");
  expect(costs.map((one) => [one.of, verdictOf(one)])).toEqual([
    ["CPU, µs a job", "no difference seen"],
    ["· client", "no difference seen"],
    ["· PostgreSQL", "no difference seen"],
    ["waited for a core, µs a job", "no difference seen"],
    ["log, bytes a job", "no difference seen"],
  ]);
});

test("more of a cost is worse", () => {
  const dearer = pairs.map(({ a }): Pair => ({ a, b: side(a[0]?.value ?? 0, 12) }));
  const client = ratiosOf(dearer).find(({ of }) => of === "· client");
  expect(client && verdictOf(client)).toBe("worse");
});

test("with fewer than six pairs nothing is claimed", () => {
  const [rate] = ratiosOf(pairs.slice(0, 5));
  expect(rate && [rate.interval, verdictOf(rate)]).toEqual([undefined, "too few pairs"]);
});

test("the page has a table for each figure, and says which commits they are", () => {
  const commit = { name: "main", sha: "0123456789abcdef", subject: "Make it fast" };
  const compared = comparison.parse({
    command: "pnpm bench --compare main HEAD",
    started_at: "2026-11-20T12:00:00.000Z",
    finished_at: "2026-11-20T12:10:00.000Z",
    machine: { cpu: "a processor", cores: 2, memory_gb: 4, system: "Linux" },
    a: commit,
    b: { ...commit, name: "HEAD" },
    jobs: 200_000,
    ratios: ratiosOf(pairs),
    failures: ["process 1/9 failed: why\n  at somewhere"],
  });
  const page = renderComparison(compared);
  expect(page).toContain("- A: `main` (0123456789, Make it fast)");
  expect(page).toContain("| per second | 50,000 | 55,000 | 1.100 | 1.100 to 1.100 | 9 | better |");
  expect(page).toContain("- process 1/9 failed: why\n");
});
