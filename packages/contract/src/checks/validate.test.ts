import { z } from "zod";
import { expect, test } from "vitest";
import { validate } from "./validate.ts";

test("items with many unknown fields each have no more faults than any other request", () => {
  const strange = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`f${at}`, 1]));
  const list = z.strictObject({ items: z.array(z.strictObject({})) });
  const checked = validate(list, { items: Array.from({ length: 30 }, () => strange) });
  expect(checked.kind === "invalid" && checked.faults.length).toBe(20);
});
