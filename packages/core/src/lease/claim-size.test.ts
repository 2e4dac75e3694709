import { limits } from "@atlasqueue/contract";
import { expect, test } from "vitest";
import { claimer, engineHarness } from "../../test/engine-harness.ts";
import { claim, claimReady } from "./claim.ts";
import { createClaimSize } from "./claim-size.ts";
import { page_bytes_max } from "../memory-budget/bytes.ts";

const { deps, addMany } = engineHarness();

test("claims ask for as many jobs as fit by the largest payload of the last ones, and after small ones for twice as many", async () => {
  const size = createClaimSize();
  const sized = { ...claimer, size };
  const least = Math.floor(page_bytes_max / limits.payload_bytes_max);
  expect(size.jobs_max()).toBe(least);
  await claim(deps, [], sized);
  expect(size.jobs_max()).toBe(least);
  const [first = ""] = await addMany(60, { payload: { text: "x".repeat(250_000) } });
  await claim(deps, [first], sized);
  const few = size.jobs_max();
  expect(few).toBe(Math.floor(page_bytes_max / JSON.stringify({ text: "x".repeat(250_000) }).length));
  expect(await claimReady(deps, 100, sized)).toHaveLength(few);
  await deps.database.sql`TRUNCATE atlasqueue.jobs CASCADE`;
  await claim(deps, await addMany(1), sized);
  expect(Math.abs(size.jobs_max() - 2 * few)).toBeLessThanOrEqual(1);
});
