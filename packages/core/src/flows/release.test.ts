import { expect, test } from "vitest";
import { steppingDatabase } from "@atlasqueue/harness";
import { claimer, engineHarness } from "../../test/engine-harness.ts";
import { advanceAndAdmit, closeEdges, releaseChildren } from "../../test/advance.ts";
import { addFlow } from "../../test/add-flow.ts";
import { countDrift } from "../counts/job-checks.ts";
import { cancel } from "../jobs/cancel.ts";
import { deleteFinished } from "../jobs/delete.ts";
import { findJob } from "../jobs/find.ts";
import { retry } from "../jobs/retry.ts";
import { claim } from "../lease/claim.ts";

const { deps, finish, die, status, statuses } = engineHarness();

const advance = async () => void (await advanceAndAdmit(deps));
const rows = async () => {
  const [row] = await deps.database.sql`
    SELECT (SELECT count(*)::int FROM atlasqueue.flow_edges) AS edges, (SELECT count(*)::int FROM atlasqueue.outbox) AS notes`;
  return row;
};

test("a child is ready when the last of its parents has succeeded", async () => {
  const { a, b, sum } = await addFlow(deps, { a: {}, b: {}, sum: { after: ["a", "b"] } });
  expect(await claim(deps, [sum], claimer)).toEqual([]);
  expect(await finish(a)).toEqual([{ kind: "applied", has_children: true }]);
  await advance();
  expect(await status(sum)).toBe("blocked");
  await finish(b);
  await advance();
  expect(await status(sum)).toBe("queued");
  expect(await finish(sum)).toEqual([{ kind: "applied" }]);
  await advance();
  expect(await rows()).toEqual({ edges: 0, notes: 0 });
  expect((await countDrift(deps, 100)).drifted).toEqual([]);
});

test("a child whose last two parents end at once goes, though two processes hear of one each", async () => {
  const { a, b, sum } = await addFlow(deps, { a: {}, b: {}, sum: { after: ["a", "b"] } });
  for (const id of [a, b]) await finish(id);
  const database = steppingDatabase(deps.database, async (step) => {
    if (step === "commit") await closeEdges(deps, 1);
  });
  await closeEdges({ ...deps, database }, 1);
  await advance();
  expect(await status(sum)).toBe("queued");
});

test("a child that is to run later waits for its time", async () => {
  const { a, b } = await addFlow(deps, { a: {}, b: { after: ["a"], delay_seconds: 60 } });
  await finish(a);
  await advance();
  expect(await status(b)).toBe("scheduled");
});

test("children of a failed parent are cancelled, wait or run, and a job says why it was cancelled", async () => {
  const { a, stops, waits, runs, below } = await addFlow(deps, {
    a: {},
    stops: { after: ["a"] },
    waits: { after: ["a"], on_parent_failure: "wait" },
    runs: { after: ["a"], on_parent_failure: "run" },
    below: { after: ["stops"] },
  });
  expect(await die(a)).toEqual([{ kind: "dead", has_children: true }]);
  await advance();
  expect(await statuses(stops, waits, runs, below)).toEqual(["cancelled", "blocked", "queued", "cancelled"]);
  expect((await findJob(deps, "default", stops))?.last_error).toBe(`ParentDead: the job ${a} it depends on is dead`);
  expect((await findJob(deps, "default", below))?.last_error).toBe(
    `ParentCancelled: the job ${stops} it depends on is cancelled`,
  );
  await retry(deps, "default", a);
  await advance();
  expect(await statuses(stops, waits, runs, below)).toEqual(["blocked", "blocked", "queued", "blocked"]);
  await finish(a);
  await advance();
  expect(await statuses(stops, waits, below)).toEqual(["queued", "queued", "blocked"]);
  expect((await findJob(deps, "default", stops))?.last_error).toBeNull();
  expect((await countDrift(deps, 100)).drifted).toEqual([]);
});

test("a child of a group takes its place when it is released, not before", async () => {
  const group = "g";
  const flow = { a: { group }, b: { group, after: ["a"] }, c: { group, after: ["a"] }, d: { group, after: ["b"] } };
  const { a, b, c, d } = await addFlow(deps, flow);
  await finish(a);
  await advance();
  expect(await statuses(b, c, d)).toEqual(["queued", "blocked", "blocked"]);
  await finish(b);
  await advance();
  expect(await statuses(c, d)).toEqual(["queued", "blocked"]);
  await finish(c);
  expect(await status(d)).toBe("queued");
  expect(await deps.database.sql`SELECT FROM atlasqueue.outbox`).toEqual([]);
  expect((await countDrift(deps, 100)).drifted).toEqual([]);
});

test.each(["cancelled", "cancelled and removed"])(
  "a released child that is %s before it is admitted leaves no row in the outbox",
  async (how) => {
    const { a, b, c } = await addFlow(deps, { a: {}, b: { after: ["a"], group: "g" }, c: { after: ["b"] } });
    await finish(a);
    await closeEdges(deps, 10);
    await releaseChildren(deps, 10);
    expect(await deps.database.sql`SELECT kind, key FROM atlasqueue.outbox`).toEqual([{ kind: "admit", key: b }]);
    await cancel(deps, "default", b);
    if (how === "cancelled and removed") {
      await advance();
      await deleteFinished(deps, "default", [b]);
    }
    await advance();
    const left = how === "cancelled" ? "cancelled" : undefined;
    expect(await statuses(b, c)).toEqual([left, "cancelled"]);
    expect((await rows())?.["notes"]).toBe(0);
    expect((await countDrift(deps, 100)).drifted).toEqual([]);
  },
);
