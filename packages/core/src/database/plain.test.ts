import { expect, test } from "vitest";
import { engineHarness } from "../../test/engine-harness.ts";
import { openDatabase, openProxy } from "../../test/opened.ts";
import { eq } from "./drizzle.ts";
import { plain } from "./plain.ts";
import { queues } from "./schema/index.ts";

const { url } = engineHarness();

test("a statement goes out in one part: a process that stands still then leaves no transaction open in the middle", async () => {
  const proxy = await openProxy(url());
  const database = openDatabase({ url: proxy.url, connectionsMax: 1, timeoutMs: 60_000 });
  await database.sql`SELECT`;
  const parts: number[] = [];
  proxy.splitQuestions((chunk) => {
    parts.push(chunk.length);
    return [chunk];
  });
  const rows = await plain(database, (db) => db.select().from(queues).where(eq(queues.queue, "mail")));
  expect(rows).toEqual([]);
  expect(parts).toHaveLength(1);
});
