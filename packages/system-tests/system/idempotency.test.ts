import { forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import type { Job } from "@atlasqueue/contract";
import { startSystem } from "./system.ts";

const system = forFile(startSystem);

test("fifty submits of one key over two API processes: one 201, 49 × 200, one id; another body is 422", async () => {
  const apis = await Promise.all([system.startApi(), system.startApi()]);
  const submits = Array.from({ length: 50 }, (_, at) =>
    (at % 2 ? apis[0] : apis[1])?.submit({ type: "noop", payload: { order: 17 } }, "order-17"),
  );
  const answers = (await Promise.all(submits)).filter((answer) => answer !== undefined);
  const jobs = (await Promise.all(answers.map((answer) => answer.json()))) as Job[];
  expect(answers.map(({ status }) => status).sort()).toEqual([...Array.from({ length: 49 }, () => 200), 201]);
  expect(new Set(jobs.map(({ id }) => id)).size).toBe(1);
  const other = await apis[0].submit({ type: "noop", payload: { order: 18 } }, "order-17");
  expect(other.status).toBe(422);
  expect(await other.json()).toMatchObject({ type: "/problems/idempotency-mismatch" });
});
