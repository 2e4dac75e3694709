import { expect, test } from "vitest";
import { submitBatch } from "../wire/submit/submission.ts";
import { validateInParts } from "./validate-in-parts.ts";
import { validate } from "./validate.ts";

const job = (at: number, more: object = {}) => ({ type: "a", idempotency_key: `k-${at}`, ...more });
const jobs = (count: number, bad: Record<number, object> = {}) =>
  Array.from({ length: count }, (_, at) => job(at, bad[at]));

test.each<[string, unknown]>([
  ["what is valid", { jobs: jobs(1_000) }],
  ["a short list", { jobs: jobs(3) }],
  [
    "faults in several parts",
    { jobs: jobs(1_000, { 0: { priority: 1.5 }, 49: { a: 1 }, 50: { b: 1 }, 777: { payload: { k: "\0" } } }) },
  ],
  ["a fault beside the list", { jobs: jobs(200), "jobs/7": 1 }],
  ["one item too many", { jobs: jobs(1_001) }],
  ["no list", { jobs: 7 }],
  ["nothing", null],
])("%s is judged as if it were checked at once", async (_what, input) => {
  const whole = validate(submitBatch, input);
  const parts = await validateInParts(submitBatch, input, "jobs", () => Promise.resolve());
  // NUL is looked for before anything else, and in each part.
  if (whole.kind === "valid" || parts.kind === "valid") return expect(parts).toEqual(whole);
  for (const fault of whole.faults) expect(parts.faults).toContainEqual(fault);
});

test("a long list rests between its parts, and not after enough faults", async () => {
  let rests = 0;
  const rest = async () => void (rests += 1);
  await validateInParts(submitBatch, { jobs: jobs(1_000) }, "jobs", rest);
  expect(rests).toBe(19);
  rests = 0;
  await validateInParts(submitBatch, { jobs: Array.from({ length: 1_000 }, () => 1) }, "jobs", rest);
  expect(rests).toBe(0);
});
