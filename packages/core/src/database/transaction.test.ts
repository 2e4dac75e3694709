import { setTimeout as delay } from "node:timers/promises";
import { createDatabase, eventually, forFile, postgresUrl } from "@atlasqueue/harness";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { failureOf } from "../../test/failure-of.ts";
import { openDatabase } from "../../test/opened.ts";
import { connectDatabase, type Database } from "./connect.ts";
import { DatabaseTimeoutError, isUnavailable, outcomeUnknown } from "./errors.ts";
import { executeOn, type Statement } from "./statement.ts";
import { inTransaction, sentTogether } from "./transaction.ts";

const created = forFile(() => createDatabase(postgresUrl()));
let database: Database;
const watcher = forFile(async () => connectDatabase({ url: created.url, connectionsMax: 1, timeoutMs: 10_000 }));
const timeout_ms = 300;
beforeAll(async () => {
  await watcher.sql`CREATE TABLE public.kept (name text PRIMARY KEY)`;
});
beforeEach(() => void (database = openDatabase({ url: created.url, connectionsMax: 2, timeoutMs: timeout_ms })));

const insert = (name: string) => ({ text: "INSERT INTO public.kept VALUES ($1)", params: [name] });
const kept = async (name: string): Promise<boolean> =>
  (await watcher.sql`SELECT 1 FROM public.kept WHERE name = ${name}`).length > 0;
const open = async (): Promise<number> =>
  (await watcher.sql`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in tr%'`)
    .length;

test("a late transaction is rolled back, and its error says so", async () => {
  const late = await failureOf(
    inTransaction(database, async (execute) => {
      await execute(insert("late"));
      await delay(timeout_ms * 4);
    }),
  );
  expect(late).toBeInstanceOf(DatabaseTimeoutError);
  expect(outcomeUnknown(late)).toBe(false);
  await eventually(async () => expect(await open()).toBe(0));
  expect(await kept("late")).toBe(false);
});

test("a transaction that a busy process finds late is rolled back, even if no timer has run", async () => {
  const late = await failureOf(
    inTransaction(database, async (execute) => {
      await execute(insert("busy"));
      for (const end = performance.now() + timeout_ms * 4; performance.now() < end;);
    }),
  );
  expect(late).toBeInstanceOf(DatabaseTimeoutError);
  expect(outcomeUnknown(late)).toBe(false);
  await eventually(async () => expect(await open()).toBe(0));
  expect(await kept("busy")).toBe(false);
});

test("statements that each take less than the deadline may take more together", async () => {
  await inTransaction(database, async (execute) => {
    for (let i = 0; i < 4; i += 1) await execute({ text: "SELECT pg_sleep($1::float8)", params: [0.15] });
    await execute(insert("slow"));
  });
  expect(await kept("slow")).toBe(true);
});

test("an unanswered COMMIT leaves the outcome unknown", async () => {
  await watcher.sql.unsafe(`
    CREATE TABLE public.slow (name text);
    CREATE FUNCTION public.linger() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(2); RETURN NULL; EXCEPTION WHEN query_canceled THEN RETURN NULL; END';
    CREATE CONSTRAINT TRIGGER lingers AFTER INSERT ON public.slow DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION public.linger()`);
  const unknown = await failureOf(
    inTransaction(database, (execute) => execute({ text: "INSERT INTO public.slow VALUES ($1)", params: ["commit"] })),
  );
  expect(unknown).toBeInstanceOf(DatabaseTimeoutError);
  expect(outcomeUnknown(unknown)).toBe(true);
  await eventually(async () => expect((await watcher.sql`SELECT 1 FROM public.slow`).length).toBe(1));
});

test("statements sent together are one transaction: when one is refused, none was applied", async () => {
  const rows = await sentTogether(database, [
    insert("one"),
    { text: "SELECT name FROM public.kept WHERE name = $1", params: ["one"] },
  ]);
  expect(rows[1]).toEqual([{ name: "one" }]);
  expect(await kept("one")).toBe(true);
  const refused = await failureOf(sentTogether(database, [insert("two"), insert("one"), insert("three")]));
  expect(refused).toMatchObject({ code: "23505" });
  expect(outcomeUnknown(refused)).toBe(false);
  expect([await kept("two"), await kept("three")]).toEqual([false, false]);
  // The connection is clean.
  expect(
    await Promise.all([1, 2, 3].map(() => sentTogether(database, [{ text: "SELECT $1::int AS n", params: [7] }]))),
  ).toEqual([1, 2, 3].map(() => [[{ n: 7 }]]));
});

test("a statement sent together with others that is late ends them all, and its outcome is unknown", async () => {
  const late = await failureOf(
    sentTogether(database, [insert("early"), { text: "SELECT pg_sleep($1::float8)", params: [5] }, insert("after")]),
  );
  expect(late).toBeInstanceOf(DatabaseTimeoutError);
  expect(outcomeUnknown(late)).toBe(true);
  await eventually(async () => expect(await open()).toBe(0));
  expect([await kept("early"), await kept("after")]).toEqual([false, false]);
});

// A pooler that keeps no prepared statements may give the next transaction a server that knows none of them.

test.each([
  ["sent together", (rows: Statement[]) => sentTogether(database, rows)],
  [
    "one after another",
    (rows: Statement[]) =>
      inTransaction(database, async (execute) => {
        for (const row of rows) await execute(row);
      }),
  ],
])("of statements %s, none is sent again after the transaction that lost it", async (how, send) => {
  const own = `${how.length}`;
  const again = (name: string) => ({ ...insert(name), text: `${insert("").text} /* ${own} */` });
  await executeOn(database)(again(`${own}-known`));
  await database.sql.unsafe("DEALLOCATE ALL");
  const lost = await failureOf(send([again(`${own}-lost`), insert(`${own}-new`)]));
  expect(lost).toMatchObject({ code: "26000" });
  expect([outcomeUnknown(lost), isUnavailable(lost)]).toEqual([false, true]);
  await send([again(`${own}-after`)]);
  expect(await Promise.all([`${own}-lost`, `${own}-new`, `${own}-after`].map(kept))).toEqual([false, false, true]);
  expect(await open()).toBe(0);
});

test("a transaction whose COMMIT the server does not know is committed", async () => {
  await inTransaction(database, (execute) => execute(insert("prepared")));
  await inTransaction(database, async (execute) => {
    await execute(insert("committed"));
    await execute({ text: "DEALLOCATE ALL", params: [] });
  });
  expect(await kept("committed")).toBe(true);
});

test("when a transaction's own work throws, nothing was applied", async () => {
  const refused = await failureOf(
    inTransaction(database, async (execute) => {
      await execute(insert("refused"));
      throw new Error("changed my mind");
    }),
  );
  expect(refused).toEqual(new Error("changed my mind"));
  expect(outcomeUnknown(refused)).toBe(false);
  expect(await kept("refused")).toBe(false);
});

test("a transaction sees what others committed while it waited, whatever the database's default isolation", async () => {
  await watcher.sql.unsafe(`
    DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation = ''repeatable read''', current_database()); END $$`);
  const own = openDatabase({ url: created.url, connectionsMax: 1, timeoutMs: timeout_ms });
  const [said, seen] = await inTransaction(own, async (execute) => {
    const [row] = await execute<{ it: string }>({
      text: "SELECT current_setting('transaction_isolation') AS it",
      params: [],
    });
    await watcher.sql`INSERT INTO public.kept VALUES ('meanwhile')`;
    return [row?.it, await execute({ text: "SELECT 1 FROM public.kept WHERE name = $1", params: ["meanwhile"] })];
  });
  expect(said).toBe("read committed");
  expect(seen).toHaveLength(1);
});
