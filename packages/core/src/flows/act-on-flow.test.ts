import { expect, test } from "vitest";
import { engineHarness } from "../../test/engine-harness.ts";
import { advanceAndAdmit } from "../../test/advance.ts";
import { addFlow } from "../../test/add-flow.ts";
import { cancel } from "../jobs/cancel.ts";
import { retry } from "../jobs/retry.ts";
import { actOnFlow } from "./act-on-flow.ts";

const { deps, finish, read, statuses } = engineHarness();

const advance = async () => {
  await advanceAndAdmit(deps);
};
const act = async (id: string, action: "cancel" | "retry") => {
  const job = await read(id);
  const nothing = async () => {};
  const followUps = { cancelled: nothing, retried: nothing, noLongerDead: nothing };
  return actOnFlow({ ...deps, followUps }, "default", job?.flow_id ?? "", action);
};

test("a flow that was cancelled and is retried runs in its order", async () => {
  const { a, b, c } = await addFlow(deps, { a: {}, b: { after: ["a"] }, c: { after: ["b"] } });
  for (const id of [c, b, a]) await cancel(deps, "default", id);
  await advance();
  expect(await act(a, "retry")).toBe(3);
  await advance();
  expect(await statuses(a, b, c)).toEqual(["queued", "blocked", "blocked"]);
  await finish(a);
  await advance();
  expect(await statuses(b, c)).toEqual(["queued", "blocked"]);
});

test("a child retried with its flow is cancelled again, and comes back, with a parent of an earlier one", async () => {
  const { a } = await addFlow(deps, { a: {}, other: { after: ["a"], on_parent_failure: "run" } });
  const { b } = await addFlow(deps, { b: { after: [a] } });
  await cancel(deps, "default", b);
  await cancel(deps, "default", a);
  await advance();
  await act(b, "retry");
  await advance();
  expect(await statuses(b)).toEqual(["cancelled"]);
  await retry(deps, "default", a);
  await advance();
  expect(await statuses(b)).toEqual(["blocked"]);
});

test("a child that is retried right after its parent waits for it", async () => {
  const { a, b } = await addFlow(deps, { a: {}, b: { after: ["a"] } });
  await cancel(deps, "default", a);
  await advance();
  await retry(deps, "default", a);
  await retry(deps, "default", b);
  await advance();
  expect(await statuses(a, b)).toEqual(["queued", "blocked"]);
});
