import { expect, test } from "vitest";
import { goodRun } from "../../test/good-run.ts";
import type { MadeUpRun } from "../../test/made-up-run.ts";
import { around } from "../../test/violations/around.ts";
import { leases } from "../../test/violations/leases.ts";
import { moves } from "../../test/violations/moves.ts";
import { order } from "../../test/violations/order.ts";
import { submitted } from "../../test/violations/submitted.ts";
import { check } from "./check.ts";
import { invariants } from "./invariants.ts";

const brokenBy = async (run: MadeUpRun) =>
  check(await run.facts()).flatMap(({ name, first }) => first.map(({ evidence }) => ({ name, evidence })));

test("a good run violates nothing", async () => {
  expect(await brokenBy(goodRun())).toEqual([]);
});

const violations = [...around, ...leases, ...moves, ...order, ...submitted];

test.each(violations)("%s sees a run in which %s", async (name, evidence, act) => {
  const run = goodRun();
  act(run);
  const broken = await brokenBy(run);
  expect(broken).toContainEqual({ name, evidence: expect.stringMatching(evidence) as string });
});

test("every invariant has been seen to be violated", () => {
  expect(invariants.map(({ name }) => name).filter((name) => !violations.some(([known]) => known === name))).toEqual(
    [],
  );
});
