import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { topologies } from "../topologies.ts";

test("each topology has its test file, and each test file its line", () => {
  const files = readdirSync(new URL("..", import.meta.url)).filter((name) => name.endsWith(".test.ts"));
  expect(files.map((name) => name.replace(".test.ts", "")).toSorted()).toEqual(Object.keys(topologies).toSorted());
});
