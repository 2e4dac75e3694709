import { eventually } from "@atlasqueue/testing";
import { expect, test } from "vitest";
import { engineHarness } from "../../../test/engine-harness.ts";
import { advanceAndAdmit } from "../../../test/advance.ts";
import { addFlow } from "../../../test/add-flow.ts";
import { cancel } from "../../jobs/cancel.ts";
import { findJob } from "../../jobs/find.ts";
import { retry } from "../../jobs/retry.ts";
import { clearAway } from "../../maintenance/cleaner.ts";
import { firstId } from "../../maintenance/prune.ts";
import { defaultRetention } from "../../maintenance/retention.ts";
import { createLogger } from "../../observe/log.ts";
import { complete } from "../../settle/complete.ts";
import { memorySignal } from "../../signal/memory/signal.ts";
import { closeEdges } from "../close-edges.ts";
import { noteMissedChildren, noteMissedParents } from "./missed-notes.ts";
import { releaseChildren } from "../release-children.ts";

const { deps, take, statuses } = engineHarness();

const succeed = async (id: string) => complete(deps, [{ lease: await take(id), result: 1 }]);
const advance = () => advanceAndAdmit(deps);
const notes = async () => (await deps.database.sql`SELECT FROM flow_notes`).length;
/** As after a version that knows nothing of notes. */
const loseNotes = () => deps.database.sql`DELETE FROM flow_notes`;
const firstEdge = { parent: firstId, child: firstId };
const noteAll = async () => {
  await noteMissedParents(deps, firstEdge, 500);
  await noteMissedChildren(deps, firstId, 500);
};

/** One pass of the cleaner, over a database where there is nothing else to do. */
async function clean(enough: () => Promise<void>): Promise<void> {
  const stop = new AbortController();
  const logger = createLogger("silent", "test");
  const cleaning = clearAway({ ...deps, signal: memorySignal(), logger }, defaultRetention, undefined, stop.signal);
  await eventually(enough);
  stop.abort();
  await cleaning;
}

test("one pass of the cleaner finds parents and children that nobody noted", async () => {
  const { a, b, c, d } = await addFlow(deps, { a: {}, b: { after: ["a"] }, c: {}, d: { after: ["c"], group: "g" } });
  await succeed(c);
  await closeEdges(deps, 10);
  await succeed(a);
  await loseNotes();
  await advance();
  expect(await statuses(b, d)).toEqual(["blocked", "blocked"]);
  await clean(async () => expect(await notes()).toBe(2));
  await advance();
  expect(await statuses(b, d)).toEqual(["queued", "queued"]);
  await noteAll();
  expect(await notes()).toBe(0);
});

test("a parent that failed, and one that started anew, are found as well", async () => {
  const { a, b, waits } = await addFlow(deps, {
    a: {},
    b: { after: ["a"] },
    waits: { after: ["a"], on_parent_failure: "wait" },
  });
  await cancel(deps, "default", a);
  await loseNotes();
  await noteAll();
  await advance();
  expect(await statuses(b, waits)).toEqual(["cancelled", "blocked"]);
  await noteAll();
  expect(await notes()).toBe(0);
  await retry(deps, "default", a);
  await loseNotes();
  await noteAll();
  await advance();
  expect(await statuses(b, waits)).toEqual(["blocked", "blocked"]);
});

test("a parent that is gone has failed, also for those that wait for its replay", async () => {
  const { a, stops, waits, runs } = await addFlow(deps, {
    a: {},
    stops: { after: ["a"] },
    waits: { after: ["a"], on_parent_failure: "wait" },
    runs: { after: ["a"], on_parent_failure: "run" },
  });
  await deps.database.sql`DELETE FROM jobs WHERE id = ${a}`;
  await noteAll();
  await advance();
  expect(await statuses(stops, waits, runs)).toEqual(["cancelled", "cancelled", "queued"]);
  expect((await findJob(deps, "default", waits))?.last_error).toBe(`ParentGone: the job ${a} it depends on is gone`);
  await noteAll();
  expect(await notes()).toBe(0);
  await retry(deps, "default", waits);
  await advance();
  expect(await statuses(waits)).toEqual(["queued"]);
});

test("nothing is noted twice, nor for those on their way", async () => {
  const { a, b } = await addFlow(deps, { a: {}, b: { after: ["a"], group: "g" } });
  await noteAll();
  expect(await notes()).toBe(0);
  await succeed(a);
  await noteAll();
  expect(await notes()).toBe(1);
  await closeEdges(deps, 10);
  await noteAll();
  expect(await notes()).toBe(1);
  // An arrival now.
  expect((await releaseChildren(deps, 10)).arrived).toEqual([{ id: b, tenant: "default" }]);
  await noteAll();
  expect(await notes()).toBe(0);
});

test("a walk goes on where the step before has ended, within one parent too", async () => {
  const flow = await addFlow(deps, {
    a: {},
    b: {},
    c: { after: ["a", "b"] },
    d: { after: ["a", "b"] },
    e: { after: ["a", "b"] },
  });
  await succeed(flow.a);
  await succeed(flow.b);
  await loseNotes();
  const steps = [];
  for (let after: typeof firstEdge | undefined = firstEdge; after;) {
    const step = await noteMissedParents(deps, after, 2);
    steps.push(step.notes);
    after = step.next;
  }
  expect(steps).toEqual([1, 1, 0, 0]);
  await deps.database.sql`DELETE FROM flow_edges`;
  await loseNotes();
  let found = 0;
  for (let after: string | undefined = firstId; after !== undefined;) {
    const step = await noteMissedChildren(deps, after, 2);
    found += step.notes;
    after = step.next;
  }
  expect(found).toBe(3);
});
