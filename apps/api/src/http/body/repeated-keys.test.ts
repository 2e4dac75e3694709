import { expect, test } from "vitest";
import { ProblemError } from "../answers/problem.ts";
import { countKeys, refuseRepeatedKeys } from "./repeated-keys.ts";

test("a search through thousands of keys for a duplicate rests now and then", async () => {
  const text = `{"a":{${Array.from({ length: 10_000 }, (_, at) => `"k${at}":1`).join(",")},"k7":2}}`;
  expect(countKeys(JSON.parse(text))).toBe(10_001);
  let turns = 0;
  let over = false;
  const turn = () => {
    turns += 1;
    if (!over) setImmediate(turn);
  };
  turn();
  const search = refuseRepeatedKeys(text).finally(() => (over = true));
  await expect(search).rejects.toThrow(ProblemError);
  await expect(search).rejects.toMatchObject({ extras: { errors: [{ pointer: "/a/k7" }] } });
  expect(turns).toBeGreaterThan(15);
});
