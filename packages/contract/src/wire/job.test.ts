import { expect, test } from "vitest";
import { jobId } from "./job.ts";
import { submitJob } from "./submit/submission.ts";
import { problems, problemType } from "./problem.ts";
import { isFinal, jobStatuses } from "./status.ts";

test("only succeeded, dead and cancelled are final", () => {
  expect(jobStatuses.filter(isFinal)).toEqual(["succeeded", "dead", "cancelled"]);
});

test("an id is any UUID in any case, and is read in lower case", () => {
  expect(jobId.parse("01920000-ABCD-7000-8000-000000000000")).toBe("01920000-abcd-7000-8000-000000000000");
  expect(jobId.safeParse("11111111-1111-1111-1111-111111111111").success).toBe(true);
  for (const wrong of ["", "x", "01920000abcd70008000000000000000", "{01920000-abcd-7000-8000-000000000000}"])
    expect(jobId.safeParse(wrong).success, wrong).toBe(false);
});

test("a submission gets its defaults", () => {
  expect(submitJob.parse({ type: "a" })).toEqual({
    type: "a",
    payload: {},
    queue: "default",
    priority: 0,
  });
});

test.each([
  ["2030-01-01T00:00:00Z", "2030-01-01T00:00:00.000Z"],
  ["2030-01-01T00:00:00+23:59", "2029-12-31T00:01:00.000Z"],
  ["2030-01-01T00:00:00.123456-01:30", "2030-01-01T01:30:00.123Z"],
  ["2028-02-29T12:00:00Z", "2028-02-29T12:00:00.000Z"],
])("the time %s is read as %s", (run_at, utc) => {
  expect(submitJob.parse({ type: "a", run_at }).run_at).toBe(utc);
});

test.each([
  "2027-02-29T12:00:00Z",
  "0001-01-01T00:00:00+00:01",
  "0000-01-01T00:00:00Z",
  "9999-12-31T23:59:59-00:01",
  "2030-01-01",
  "now",
])("the time %s is refused", (run_at) => {
  expect(submitJob.safeParse({ type: "a", run_at }).success).toBe(false);
});

test("a problem's type is its name with dashes, and its status is an error", () => {
  expect(problemType("idempotency_mismatch")).toBe("/problems/idempotency-mismatch");
  for (const { status } of Object.values(problems)) expect(status).toBeGreaterThanOrEqual(400);
});
