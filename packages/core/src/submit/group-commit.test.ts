import { submission } from "@atlasqueue/testing";
import { expect, test } from "vitest";
import { DatabaseTimeoutError } from "../database/errors.ts";
import { createGroupCommit } from "./group-commit.ts";

test("a request whose key is taken again and again is refused at its deadline, wherever it is at that moment", async () => {
  const timeout_ms = 150;
  // Nothing is ever stored, as while an open transaction holds the job that a request wants to replace.
  const line = createGroupCommit(async (submissions) => submissions.map(() => undefined), timeout_ms);
  const begun = performance.now();
  // One after another, so that their deadlines fall into rests as well as between them.
  const refusals: Promise<unknown>[] = [];
  for (let count = 0; count < 20; count += 1) {
    refusals.push(line.submit(submission({}), 10).catch((error: unknown) => error));
    await new Promise((resolve) => setTimeout(resolve, 7));
  }
  for (const refusal of refusals) expect(await refusal).toBeInstanceOf(DatabaseTimeoutError);
  expect(performance.now() - begun).toBeGreaterThanOrEqual(timeout_ms);
  await line.idle();
}, 10_000);

test("jobs that may have been stored are not sent again, whatever the reason; those that were refused are", async () => {
  const sent: number[] = [];
  const reasons = [
    new TypeError("an answer nobody expected"),
    Object.assign(new Error("a bad row"), { code: "22021", severity: "ERROR" }),
  ];
  const line = createGroupCommit(async (submissions) => {
    sent.push(submissions.length);
    const reason = reasons.shift();
    if (reason) throw reason;
    return submissions.map(() => ({ kind: "mismatch" }));
  }, 5_000);
  const four = () => Promise.allSettled(Array.from({ length: 4 }, () => line.submit(submission({}), 10)));
  expect((await four()).map(({ status }) => status)).toEqual(Array.from({ length: 4 }, () => "rejected"));
  expect((await four()).map(({ status }) => status)).toEqual(Array.from({ length: 4 }, () => "fulfilled"));
  expect(sent).toEqual([4, 4, 2, 2]);
});
