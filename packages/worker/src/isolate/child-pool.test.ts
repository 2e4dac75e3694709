import { fileURLToPath } from "node:url";
import type { Lease } from "@atlasqueue/core/internal";
import { expect, onTestFinished, test } from "vitest";
import { createChildPool } from "./child-pool.ts";

const module = fileURLToPath(new URL("../../test/isolated-handlers.ts", import.meta.url));

/** One process at a time, and a way to run jobs in it. */
function pool() {
  const children = createChildPool({ processes_max: 1 }, () => {});
  onTestFinished(() => children.close());
  const run = (type: string, started = () => {}) => {
    const lease = { id: "1", type, payload: { a: 1 }, attempts: 1 } as unknown as Lease;
    return children.run(
      { module, lease, log_level: "INFO" },
      { signal: new AbortController().signal, started, hear() {} },
    );
  };
  return run;
}

/** While `work` begins, processes are started from this program. */
function starting(program: string): () => void {
  const { execPath } = process;
  process.execPath = program;
  return () => void (process.execPath = execPath);
}

test("a job that waits for a process gets one after another could not be started", async () => {
  const run = pool();
  const mend = starting("/nowhere/node");
  const first = run("sum");
  const second = run("sum");
  mend();
  await expect(first).rejects.toThrow("ENOENT");
  expect(await second).toMatchObject({ kind: "succeeded" });
});

test("a process that cannot even be asked for fails the job that waits for it, not its worker", async () => {
  const run = pool();
  const first = run("exit", () => void starting("\0"));
  const mend = starting(process.execPath);
  const second = run("sum");
  await expect(first).rejects.toThrow("exited with code 3");
  await expect(second).rejects.toThrow();
  mend();
  expect(await run("sum")).toMatchObject({ kind: "succeeded" });
});
