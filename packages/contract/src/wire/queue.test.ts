import { expect, test } from "vitest";
import { validate } from "../checks/validate.ts";
import { queueLimits } from "./queue.ts";

const faults = (body: unknown) => {
  const checked = validate(queueLimits, body);
  return checked.kind === "valid" ? [] : checked.faults;
};

test("groups may take turns in a queue whose jobs start oldest first otherwise, and nobody else may be named", () => {
  expect(validate(queueLimits, { fair_by: "group", group_concurrency: 20 })).toMatchObject({ kind: "valid" });
  expect(validate(queueLimits, { fair_by: null, concurrency: 5 })).toMatchObject({ kind: "valid" });
  for (const fair_by of ["tenant", "", 1, true, ["group"]])
    expect(faults({ fair_by })).toEqual([
      { pointer: "/fair_by", message: expect.stringMatching(/^must be "group", or null \(tenants take turns.*; got/) },
    ]);
});

test.each([
  { concurrency: 5 },
  { rate: { limit: 1, period_seconds: 1 } },
  { group_rate: { limit: 1, period_seconds: 1 } },
])("turns of groups are not given together with %o", (limit) => {
  const message = expect.stringContaining("must not be given together with concurrency, rate or group_rate");
  expect(faults({ fair_by: "group", ...limit })).toEqual([{ pointer: "/fair_by", message }]);
});
