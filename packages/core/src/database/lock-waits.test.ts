import { expect, test } from "vitest";
import { allStatements } from "../../test/all-statements.ts";

/** Those that may wait longer, or whose transaction has set the limit or locked their rows already. */
const excused: Readonly<Record<string, string>> = {
  "flows/adopt-children": "after jobs/lock",
  "jobs/write-payloads": "after jobs/lock, or of rows that were locked before",
  "operations/note": "after operations/take has locked the row",
  "queues/pause-all": "processes that start together on a restored copy wait for one another",
  "schedules/fire": "the rows were locked before",
  "steps/park": "after jobs/lock",
  "steps/signal": "after jobs/lock",
  "steps/store": "after jobs/lock",
  "limits/set": "after limits/lock",
};

test("a statement that locks rows waits 200 ms at most, or skips those that are locked", async () => {
  const locking = (await allStatements()).filter(({ text }) =>
    /\bUPDATE\b|\bDELETE FROM\b|\bFOR (NO KEY )?UPDATE\b|\bDO UPDATE\b/.test(text),
  );
  const waiting = locking.filter(({ text }) => !text.includes("lock_timeout") && !text.includes("SKIP LOCKED"));
  expect(waiting.map(({ name }) => name).toSorted()).toEqual(Object.keys(excused).toSorted());
});
