import { expect, test } from "vitest";
import { submitJob } from "./submit/submission.ts";
import { isFinal, jobStatuses } from "./status.ts";

test("only succeeded, dead and cancelled are final", () => {
  expect(jobStatuses.filter(isFinal)).toEqual(["succeeded", "dead", "cancelled"]);
});

test.each([
  ["2030-01-01T00:00:00Z", "2030-01-01T00:00:00.000Z"],
  ["2030-01-01T00:00:00+23:59", "2029-12-31T00:01:00.000Z"],
  ["2030-01-01T00:00:00.123456-01:30", "2030-01-01T01:30:00.123Z"],
  ["2028-02-29T12:00:00Z", "2028-02-29T12:00:00.000Z"],
])("the time %s is read as %s", (run_at, utc) => {
  expect(submitJob.parse({ type: "a", run_at }).run_at).toBe(utc);
});
