import { createQueue } from "@atlasqueue/core";
import { createWorker, defineHandler } from "@atlasqueue/worker";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { startSystem } from "../system.ts";
import { reportErrors } from "./report-errors.ts";
import { enterRequestId, requestId, sendRequestId } from "./request-id.ts";

test("errors are reported once each, and a request's id reaches its jobs", { tags: ["slow"] }, async () => {
  const { databaseUrl } = await startSystem();
  const reported: string[] = [];
  const reporter = {
    captureException: (error: unknown, about: object) =>
      void reported.push(`${String(error)} ${JSON.stringify(about)}`),
  };
  const seen: unknown[] = [];
  const handlers = [
    defineHandler("note", z.object({}), () => void seen.push(requestId.getStore())),
    defineHandler("fail", z.object({}), () => Promise.reject(new Error("no"))),
    defineHandler("wait", z.object({}), (_payload, { waitFor }) => waitFor("go", { timeoutSeconds: 60 })),
  ];
  const queue = createQueue({ databaseUrl, middleware: [sendRequestId] });
  const worker = createWorker({ databaseUrl, handlers, middleware: [reportErrors(reporter), enterRequestId] });
  onTestFinished(async () => {
    await worker.stop({ deadlineMs: 0 });
    await queue.close();
  });
  await requestId.run("r-17", () => queue.submitMany([{ type: "note" }, { type: "note" }]));
  const alone = await queue.submit({ type: "note" });
  const failed = await queue.submit({ type: "fail", max_attempts: 1 });
  await queue.submit({ type: "wait" });
  await worker.empty();
  expect(seen.toSorted()).toEqual([alone.id, "r-17", "r-17"].toSorted());
  const about = `{"tags":{"type":"fail","queue":"default"},"extra":{"job_id":"${failed.id}","attempt":1}}`;
  expect(reported).toEqual([`Error: no ${about}`]);
});
