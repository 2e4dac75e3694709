import { z } from "zod";
import { expect, test } from "vitest";
import { submitJob } from "../wire/submit/submission.ts";
import { validate } from "./validate.ts";

const faultsOf = (input: unknown) => {
  const checked = validate(submitJob, input);
  return checked.kind === "valid" ? [] : checked.faults.map(({ pointer, message }) => `${pointer} ${message}`);
};

test.each<[unknown, string[]]>([
  [null, [" must be a JSON object; got null"]],
  [[], [" must be a JSON object; got []"]],
  [
    {},
    [
      "/type is required: a string of 1 to 128 characters without control characters, line separators and marks of direction",
    ],
  ],
  [{ type: "a", max_attempts: 26 }, ["/max_attempts must be an integer from 1 to 25; got 26"]],
  [
    { type: "a", run_at: "soon" },
    ['/run_at must be an RFC 3339 time with an offset, such as 2030-01-31T12:00:00Z; got "soon"'],
  ],
  [{ type: "a", max_attempts: "3" }, ['/max_attempts must be an integer from 1 to 25; got "3"']],
  [
    { type: "a", backoff: { kind: "x" } },
    [
      '/backoff/kind must be "exponential" or "fixed"; got "x"',
      "/backoff/base_seconds is required: a number of seconds from 0 to 31536000",
    ],
  ],
  [
    { type: "a", colour: 1, "a/b": 2 },
    ["/colour is not a field of this request", "/a~1b is not a field of this request"],
  ],
  [
    { type: "a", delay_seconds: 1, run_at: "2030-01-01T00:00:00Z" },
    ["/delay_seconds must not be given together with run_at"],
  ],
  [{ type: "a", payload: { k: "\0" } }, ["/payload/k must not contain the NUL character \\u0000"]],
])("a fault names the field, what it takes and what it got: %j", (input, faults) => {
  expect(faultsOf(input)).toEqual(faults);
});

test("a client's __proto__ is noticed at the top and in a field, and is data in the payload", () => {
  expect(faultsOf(JSON.parse('{"type":"a","__proto__":{}}'))).toEqual(["/__proto__ is not a field of this request"]);
  expect(faultsOf(JSON.parse('{"type":"a","backoff":{"kind":"fixed","base_seconds":1,"__proto__":{}}}'))).toEqual([
    "/backoff/__proto__ is not a field of this request",
  ]);
  expect(faultsOf(JSON.parse('{"type":"a","payload":{"__proto__":{}}}'))).toEqual([]);
});

test("a fault inside a list says which item", () => {
  const list = z.strictObject({ jobs: z.array(submitJob).describe("a list of jobs") });
  const checked = validate(list, { jobs: [{ type: "a" }, { type: "a", priority: 1.5 }] });
  expect(checked).toEqual({
    kind: "invalid",
    faults: [{ pointer: "/jobs/1/priority", message: "must be an integer from -1000 to 1000, higher first; got 1.5" }],
  });
});

test("items with many unknown fields each have no more faults than any other request", () => {
  const strange = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`f${at}`, 1]));
  const list = z.strictObject({ items: z.array(z.strictObject({})) });
  const checked = validate(list, { items: Array.from({ length: 30 }, () => strange) });
  expect(checked.kind === "invalid" && checked.faults.length).toBe(20);
});
