import { submission } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { addFlow } from "../../test/add-flow.ts";
import { advanceAndAdmit, closeEdges, releaseChildren } from "../../test/advance.ts";
import { engineHarness } from "../../test/engine-harness.ts";
import { retry } from "../jobs/retry.ts";
import type { FlowJob } from "./flow.ts";
import { submitFlow } from "./submit-flow.ts";
import { cancel } from "../jobs/cancel.ts";

// Jobs that are over when a flow is submitted that waits for them.

const { deps, add, addMany, finish, die, statuses } = engineHarness();

const after = (depends_on: string[], more: Partial<FlowJob> = {}): FlowJob => ({
  ...submission(),
  ...more,
  depends_on,
});
const submit = async (...jobs: FlowJob[]): Promise<string[]> => {
  const outcome = await submitFlow(deps, { jobs }, { idempotency_ttl_seconds: 60 });
  if (outcome.kind !== "stored") throw new Error(outcome.kind);
  return outcome.outcomes.flatMap((one) => ("job" in one ? [one.job.id] : []));
};
const notes = async () =>
  (await deps.database.sql`SELECT key, kind FROM atlasqueue.outbox ORDER BY id`).map((row) => ({ ...row }));
const edges = async () =>
  (await deps.database.sql`SELECT parent, failed FROM atlasqueue.flow_edges`).map(({ parent, failed }) => [
    parent,
    failed,
  ]);
const one = async () => (await add({}))[0] ?? "";
const advance = async () => void (await advanceAndAdmit(deps));

test("a job that waits for very many that are over asks for one look, so that others' children do not wait for them all", async () => {
  const parents = await addMany(1_000);
  await deps.database.sql`UPDATE atlasqueue.jobs SET status = 'succeeded', ready_at = NULL, finished_at = now()`;
  const { x, y } = await addFlow(deps, { x: {}, y: { after: ["x"] } });
  const children: string[] = [];
  for (let n = 0; n < 3; n += 1) children.push(...(await submit(after(parents))));
  expect(await notes()).toEqual(children.map((key) => ({ key, kind: "recheck_child" })));
  expect(await edges()).toHaveLength(1);
  await finish(x);
  await closeEdges(deps, 500);
  await releaseChildren(deps, 500);
  expect(await statuses(y, ...children)).toEqual(Array.from({ length: 4 }, () => "queued"));
});

test.each([
  { policy: "cancel", edge: true, becomes: "cancelled", then: "blocked", at_last: "queued" },
  { policy: "wait", edge: true, becomes: "blocked", then: "blocked", at_last: "queued" },
  { policy: "run", edge: false, becomes: "queued", then: "queued", at_last: "queued" },
] as const)(
  "for a job that is dead when it is submitted, a child with $policy is $becomes, and once that job starts anew $then",
  async ({ policy, edge, becomes, then, at_last }) => {
    const parent = await one();
    await die(parent);
    const [child = ""] = await submit(after([parent], { on_parent_failure: policy }));
    expect(await edges()).toEqual(edge ? [[parent, policy === "cancel"]] : []);
    await advance();
    expect(await statuses(child)).toEqual([becomes]);
    await retry(deps, "default", parent);
    await advance();
    expect(await statuses(child)).toEqual([then]);
    await finish(parent);
    await advance();
    expect(await statuses(child)).toEqual([at_last]);
    expect(await notes()).toEqual([]);
  },
);

test("it is cancelled at once when one of those it waits for was, whatever the others do", async () => {
  const [stopped, open] = [await one(), await one()];
  await cancel(deps, "default", stopped);
  const [child = "", next = ""] = await submit(after([open, stopped], { ref: "a" }), after(["a"]));
  await advance();
  await advance();
  expect(await statuses(child, next)).toEqual(["cancelled", "cancelled"]);
});
