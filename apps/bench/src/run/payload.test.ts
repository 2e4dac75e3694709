import { deflateRawSync } from "node:zlib";
import { expect, test } from "vitest";
import { makeBatches, makePayload } from "./payload.ts";

test.each([200, 4_096])("a payload of %i bytes has as many as JSON", (bytes) => {
  for (const n of [0, 7, 12_345]) expect(JSON.stringify(makePayload(n, bytes))).toHaveLength(bytes);
});

test("200 bytes unless told otherwise", () => {
  expect(JSON.stringify(makePayload(1))).toHaveLength(200);
  expect([...makeBatches(3, 2)].flat()).toEqual([makePayload(0), makePayload(1), makePayload(2)]);
});

test("payloads compress as text does, differ from one another, and are the same in each run", () => {
  const [one, other] = [makePayload(1, 4_096), makePayload(2, 4_096)];
  expect(one.text).not.toBe(other.text);
  const part = deflateRawSync(JSON.stringify(one)).length / 4_096;
  expect(part).toBeGreaterThan(0.2);
  expect(part).toBeLessThan(0.6);
  expect(makePayload(1, 60)).toEqual(makePayload(1, 60));
});
