import { expect, test } from "vitest";
import { z } from "zod";
import { describeFields, describeValue, fieldText } from "./field-texts.ts";

const size = z.int().min(1).max(9).describe("an integer from 1 to 9");
const box = describeFields(z.strictObject({ size: size.default(3), note: z.string().optional(), plain: size }), {
  size: "How large it is.",
  note: "What is written on it.",
});

test("a text says what a field does, what it accepts, and its default", () => {
  expect(fieldText(box.shape.size)).toBe("How large it is. An integer from 1 to 9. Default 3.");
  expect(fieldText(box.shape.note)).toBe("What is written on it.");
  expect(fieldText(box.shape.plain)).toBeUndefined();
});

test("fields keep their texts when they are picked or made optional, and a value has one wherever it is", () => {
  expect(fieldText(box.pick({ note: true }).partial().shape.note)).toBe("What is written on it.");
  const id = describeValue(z.string().describe("a UUID"), "The id.");
  expect(fieldText(id.optional())).toBe("The id. A UUID.");
  expect(fieldText(describeFields(z.strictObject({ id }), { id: "The flow's id." }).shape.id)).toBe(
    "The flow's id. A UUID.",
  );
});
