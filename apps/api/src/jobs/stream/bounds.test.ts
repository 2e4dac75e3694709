import { createQueueBound, createStorageQuota } from "@atlasqueue/core/internal/http";
import { expect, onTestFinished, test } from "vitest";
import { jobLine, lineTypes } from "../../../test/line-client.ts";
import { testApp, type Changes, type Core } from "../../../test/test-app.ts";
import { routeDeps } from "../../app.ts";
import { createGate } from "../../http/gate.ts";
import { internal, ProblemError } from "../../http/answers/problem.ts";
import { runStream } from "./run.ts";

async function app(given: Changes | ((core: Core) => Changes) = {}) {
  const api = await testApp(given);
  onTestFinished(() => api.stop());
  const answersTo = async (body: string) => {
    const response = await api.app.request("/v1/jobs/stream", { method: "POST", headers: lineTypes, body });
    const lines = (await response.text()).trimEnd().split("\n");
    return lines.map((line) => JSON.parse(line) as { outcome?: string; error?: { type: string } });
  };
  return { ...api, answersTo };
}
const said = (answers: { outcome?: string; error?: { type: string }; end?: string }[]) =>
  answers.map(({ outcome, error, end }) => outcome ?? error?.type.replace("/problems/", "") ?? end);

test("a queue too many refuses its own lines", async () => {
  const { answersTo } = await app((core) => ({ queueBound: createQueueBound(core, { queues_per_tenant_max: 2 }) }));
  const lines = ["a", "b", "a", "c", "b", "c"].map((queue, at) => jobLine(`queue-${at}`, { queue }));
  expect(said(await answersTo(lines.join("")))).toEqual([
    "created",
    "created",
    "created",
    "too-many-queues",
    "created",
    "too-many-queues",
    "complete",
  ]);
});

test("a full storage refuses what does not fit, and nothing that is stored already", async () => {
  const { answersTo } = await app((core) => ({
    storageQuota: createStorageQuota(core, { stored_bytes_per_tenant_max: 10_000 }),
  }));
  const line = (key: string, bytes: number) => jobLine(key, { payload: { fill: "x".repeat(bytes) } });
  expect(said(await answersTo(line("one", 6_000)))).toEqual(["created", "complete"]);
  const again = await answersTo(line("one", 6_000) + line("two", 6_000) + line("three", 100) + line("four", 9_000));
  expect(said(again)).toEqual(["replayed", "storage-full", "created", "storage-full", "complete"]);
});

test("lines for which there is no room are refused, and the stream goes on", async () => {
  const gate = createGate({ requests_max: 10, kept: 0 });
  const { answersTo } = await app({ gate });
  const full = Promise.withResolvers<void>();
  for (let n = 0; n < 10; n += 1) gate.hold(`tenant ${n}`, () => full.promise).catch(() => {});
  expect(said(await answersTo(jobLine("refused")))).toEqual(["no-room", "complete"]);
  full.resolve();
  expect(said(await answersTo(jobLine("taken")))).toEqual(["created", "complete"]);
});

test("a client that reads no answers has two batches done and no more, however much it sends", async () => {
  const api = await app();
  const bytes = Buffer.from("{}\n".repeat(1_000));
  let read = 0;
  const body = {
    next: async () => {
      read += 1;
      return bytes;
    },
    leave: () => {},
  };
  const deps = routeDeps(api.deps);
  const problemOf = (thrown: unknown) => (thrown instanceof ProblemError ? thrown : internal());
  const run = runStream({ deps, tenant: "default", body, trace: undefined, problemOf });
  for (let batch = 1; batch <= 20; batch += 1) {
    const text = await run.next();
    expect(text?.trimEnd().split("\n")).toHaveLength(500);
    // Each of a thousand lines makes two batches, and two are under way.
    expect(read).toBeLessThanOrEqual(batch / 2 + 2);
  }
  run.end({ end: "draining" });
  let last: string | undefined;
  for (let text = await run.next(); text !== undefined; text = await run.next()) last = text;
  expect(last).toContain('{"end":"draining","answered":');
});
