import { createDatabase, postgresUrl, tcpProxy } from "@atlasqueue/harness";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openOwn } from "./own.ts";

/** What a server says first, and to the first query; and what it would say to a driver that asks for its types. */
const opening_bytes_max = 6_000;
const step_bytes = 150;

const unheard: unknown[] = [];
const hear = (reason: unknown) => void unheard.push(reason);
beforeAll(() => void process.on("unhandledRejection", hear));
afterAll(() => void process.off("unhandledRejection", hear));

test("wherever a caller's connection is cut as it opens, only who uses it hears of it", async () => {
  const created = await createDatabase(postgresUrl());
  const proxy = await tcpProxy(created.url);
  let answered = 0;
  try {
    for (let bytes = 0; bytes < opening_bytes_max; bytes += step_bytes) {
      const own = openOwn(proxy.url);
      proxy.cutAnswersAfter(bytes);
      await own`SELECT 1 AS one`.then(
        () => (answered += 1),
        () => {},
      );
      proxy.cutAnswersAfter(Infinity);
      expect([...(await own`SELECT 2 AS two`)]).toEqual([{ two: 2 }]);
      await own.end({ timeout: 1 });
    }
  } finally {
    await proxy.close();
    await created.drop();
  }
  expect(answered).toBeGreaterThan(0);
  expect(unheard).toEqual([]);
});
