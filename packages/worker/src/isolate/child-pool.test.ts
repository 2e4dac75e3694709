import { fileURLToPath } from "node:url";
import type { Lease } from "@atlasqueue/core/internal/worker";
import { eventually } from "@atlasqueue/harness";
import { expect, onTestFinished, test, vi } from "vitest";
import { withNode, withNodeFlags } from "../../test/node-of-children.ts";
import { createChildPool } from "./child-pool.ts";
import type { Run } from "./run-in-child.ts";

const handlers = fileURLToPath(new URL("../../test/isolated-handlers.ts", import.meta.url));

/** One process at a time unless more are asked for, a way to run jobs in it, and what was told of failed starts. */
function pool({ processesMax = 1 } = {}) {
  const told: (string | number)[] = [];
  const children = createChildPool(
    { processesMax },
    {
      output() {},
      notStarted: (_error, retry_in_ms) => told.push(retry_in_ms),
      startedAgain: () => told.push("started"),
    },
  );
  onTestFinished(() => children.close());
  const run = (type: string, { started, hear, module = handlers }: Partial<Run> & { module?: string } = {}) => {
    const lease = { id: "1", type, payload: { a: 1 }, attempts: 1 } as unknown as Lease;
    return children.run(
      { module, lease, log_level: "INFO" },
      { signal: new AbortController().signal, started: started ?? (() => {}), hear: hear ?? (() => {}) },
    );
  };
  return { run, told, children };
}
const notStarted = (message: RegExp) => ({
  name: "NotStartedError",
  message: expect.stringMatching(message) as string,
});

test("jobs for which no process can be started are refused, each at once, until one could be started", async () => {
  const { run, told, children } = pool();
  const mend = withNode("/nowhere/node");
  const refused = await Promise.allSettled(["sum", "sum", "sum"].map((type) => run(type)));
  for (const one of refused) expect(one).toMatchObject({ reason: notStarted(/ENOENT/) });
  expect(children.startsFail()).toBe(true);
  await expect(run("sum")).rejects.toMatchObject(notStarted(/ENOENT/));
  await eventually(() => expect(told.slice(0, 2)).toEqual([500, 1_000]));
  mend();
  await eventually(() => expect(told.at(-1)).toBe("started"));
  expect(children.startsFail()).toBe(false);
  expect(await run("sum")).toMatchObject({ kind: "succeeded" });
});

test("a process that cannot even be asked for refuses the job that waits for it, and does not end its worker", async () => {
  const { run } = pool();
  let mend = () => {};
  const first = run("exit", { started: () => void (mend = withNode("\0")) });
  const second = run("sum");
  await expect(first).rejects.toThrow("exited with code 3");
  await expect(second).rejects.toMatchObject(notStarted(/null bytes/));
  mend();
  await eventually(async () => expect(await run("sum")).toMatchObject({ kind: "succeeded" }));
});

test("it says how long it has had no process, but for a moment's shortage", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const { run, children } = pool();
  const mend = withNode("/nowhere/node");
  await expect(run("sum")).rejects.toMatchObject(notStarted(/ENOENT/));
  vi.advanceTimersByTime(10_000);
  expect(children.withoutProcessForMs()).toBe(0);
  vi.advanceTimersByTime(1_000);
  expect(children.withoutProcessForMs()).toBe(11_000);
  mend();
  await eventually(() => expect(children.withoutProcessForMs()).toBe(0));
});

test("where no further process can be started, a job waits for one of those there are", async () => {
  const { run, children } = pool({ processesMax: 2 });
  const asked = Promise.withResolvers<() => void>();
  const first = run("sum-isolated", {
    hear: (word, reply) => word.kind === "ask" && asked.resolve(() => reply(word.ask, { value: null })),
  });
  const answer = await asked.promise;
  const mend = withNode("/nowhere/node");
  const second = run("sum");
  await eventually(() => expect(children.startsFail()).toBe(true));
  answer();
  expect(await first).toMatchObject({ kind: "succeeded" });
  expect(await second).toMatchObject({ kind: "succeeded" });
  mend();
});

test.each([
  ["ends", "process.exit(7)", /exited with code 7/],
  ["is killed", "process.kill(process.pid, 'SIGKILL')", /ended by SIGKILL/],
])("a process that %s before it can take a job has not started", async (_what, code, message) => {
  const mend = withNodeFlags(`--import=data:text/javascript,${encodeURIComponent(code)}`);
  const { run } = pool();
  mend();
  await expect(run("sum")).rejects.toMatchObject(notStarted(message));
});

test("a module that ends its process as it is loaded fails the attempt, as it would again", async () => {
  const { run, children } = pool();
  const module = "data:text/javascript,process.exit(7)";
  await expect(run("sum", { module })).rejects.toMatchObject({ name: "ProcessError" });
  expect(children.startsFail()).toBe(false);
});
