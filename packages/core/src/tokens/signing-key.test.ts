import { testDatabase, forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { signingKey } from "./signing-key.ts";

const own = forFile(testDatabase);

test("processes that ask at once for a key that does not exist yet get the same one, and go on getting it", async () => {
  const keys = await Promise.all(Array.from({ length: 10 }, () => signingKey(own, "cursors")));
  keys.push(await signingKey(own, "cursors"));
  expect(new Set(keys.map((key) => Buffer.from(key).toString("hex"))).size).toBe(1);
  expect(keys[0]?.length).toBe(32);
});
