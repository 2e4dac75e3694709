import { SignalUnavailableError } from "@atlasqueue/core/internal";
import { eventually } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { any, workerHarness } from "../../test/harness.ts";
import { isolatedHandlers } from "../../test/isolated-handlers.ts";
import { withNode } from "../../test/node-of-children.ts";
import { defineHandler } from "../handler.ts";

const night = { tags: ["nightly"] };
const { add, becomes, deps, named, read, work } = workerHarness();
const mail = defineHandler("mail", any, () => "sent");
const sums = (count: number) =>
  Array.from({ length: count }, () => ({ type: "sum", payload: { a: 1 }, max_attempts: 1 }));

test("jobs for which no process can be started go back with no attempt spent, and a worker that is well gets them", async () => {
  const mend = withNode("/nowhere/node");
  work(isolatedHandlers);
  const ids = await add(...sums(50));
  await eventually(() => expect(named("handler_error")).not.toEqual([]));
  // Stands for a worker on another machine.
  work([defineHandler("sum", any, (_payload, { job }) => job.attempt)], { workerId: "well" });
  for (const id of ids) await becomes(id, { status: "succeeded", attempts: 1, result: 1 });
  mend();
});

const away = () => Promise.reject(new SignalUnavailableError("away"));
test.each([
  ["", {}],
  [", without Redis too", { take: away, wait: away }],
])("until a process could be started, a worker takes only jobs of other queues%s", night, async (_how, changes) => {
  Object.assign(deps().signal, changes);
  const mend = withNode("/nowhere/node");
  work([...isolatedHandlers, mail], { queues: ["default", "mails"], pollTimeoutSeconds: 60 });
  const ids = await add(...sums(50));
  await eventually(() => expect(named("process_not_started").length).toBeGreaterThan(2));
  expect(named("job_released").length).toBeLessThanOrEqual(20);
  const [sent] = await add({ type: "mail", queue: "mails" });
  await becomes(sent, { status: "succeeded" });
  for (const id of ids) expect(await read(id)).toMatchObject({ status: "queued", attempts: 0, last_error: null });
  mend();
  for (const id of ids) await becomes(id, { status: "succeeded", attempts: 1 });
});
