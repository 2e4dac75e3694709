import { expect, test } from "vitest";
import { makeBatches, makePayload } from "./payload.ts";

test.each([200, 4_096])("a payload of %i bytes has as many as JSON", (bytes) => {
  for (const n of [0, 7, 12_345]) expect(JSON.stringify(makePayload(n, bytes))).toHaveLength(bytes);
});

test("200 bytes unless told otherwise", () => {
  expect(JSON.stringify(makePayload(1))).toHaveLength(200);
  expect([...makeBatches(3, 2)].flat()).toEqual([makePayload(0), makePayload(1), makePayload(2)]);
});
