import { createDatabase, eventually, postgresUrl } from "@atlasqueue/harness";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { appliedIn, file } from "../../../test/migrating.ts";
import postgres from "../driver.ts";
import { applyMissing } from "./apply-missing.ts";

// Somebody reads a table for hours (a backup, a report, a console left open), and a migration wants it for itself.

let url: string;
let sql: postgres.Sql;
let stranger: postgres.Sql;
const told: string[] = [];
const tell = (line: string) => void told.push(line);
beforeEach(async () => {
  told.length = 0;
  const created = await createDatabase(postgresUrl());
  onTestFinished(() => created.drop());
  url = created.url;
  sql = postgres(created.url, { max: 6, onnotice: () => {} });
  stranger = postgres(created.url, { max: 1, onnotice: () => {} });
  onTestFinished(async () => void (await Promise.all([sql, stranger].map((one) => one.end({ timeout: 0 })))));
  await sql`CREATE TABLE one (a int)`;
  await sql`CREATE TABLE two (a int)`;
  await sql`CREATE INDEX two_a ON two (a)`;
});

const applied = () => appliedIn(sql);
const waiting = async () =>
  (
    await sql<{ query: string }[]>`
    SELECT query FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
  ).map(({ query }) => query);

/** In an open transaction of the stranger, who has done this and then stays. */
async function beside(statement: string, work: () => Promise<void>): Promise<void> {
  await stranger.begin(async (tx) => {
    await tx.unsafe(statement);
    await work();
  });
}

test.each([
  ["ALTER TABLE two ADD COLUMN b int", "SELECT count(*) FROM two"],
  ["CREATE INDEX two_b ON two (a)", "INSERT INTO two VALUES (1)"],
  ["DROP INDEX two_a", "SELECT count(*) FROM two"],
  ["UPDATE two SET a = 2", "LOCK TABLE two IN SHARE MODE"],
])("while %s waits for a transaction's end, others get to its table", { tags: ["nightly"] }, async (change, stay) => {
  let applying: Promise<void> | undefined;
  await beside(stay, async () => {
    applying = applyMissing(sql, [file(1, change)], { tell });
    for (let round = 0; round < 2; round += 1) {
      await eventually(async () => expect(await waiting()).toEqual([change]));
      // Each stands behind it at first, and is answered although the stranger stays.
      if (!stay.startsWith("LOCK")) await sql`INSERT INTO two VALUES (3)`;
      expect((await sql`SELECT count(*)::int FROM two`).length).toBe(1);
    }
    await eventually(() => expect(told).toEqual([expect.stringMatching(/waits for a lock that others hold/)]));
    expect(told[0]).toContain(change);
  });
  await applying;
  expect(await applied()).toEqual(["1"]);
});

test("what a file has locked is free again while it rests, and it begins anew", async () => {
  let applying: Promise<void> | undefined;
  await beside("SELECT count(*) FROM two", async () => {
    const both = file(1, "ALTER TABLE one ADD COLUMN b int", "ALTER TABLE two ADD COLUMN b int");
    applying = applyMissing(sql, [both], { tell });
    await eventually(async () => expect(await waiting()).toEqual(["ALTER TABLE two ADD COLUMN b int"]));
    await sql`INSERT INTO one VALUES (1)`;
    await sql`SELECT count(*) FROM two`;
  });
  await applying;
  expect(await applied()).toEqual(["1"]);
  expect([...(await sql`SELECT a, b FROM one`)]).toEqual([{ a: 1, b: null }]);
});

test("a file that lost in a deadlock begins anew", { tags: ["nightly"] }, async () => {
  // What a sequence gave is not taken back with its transaction.
  await sql`CREATE SEQUENCE tries`;
  const lose = `DO $$ BEGIN IF nextval('tries') < 3 THEN RAISE EXCEPTION USING ERRCODE = 'deadlock_detected'; END IF; END $$`;
  await applyMissing(sql, [file(1, "ALTER TABLE one ADD COLUMN b int", lose)], { tell });
  expect([...(await sql`SELECT last_value::int FROM tries`)]).toEqual([{ last_value: 3 }]);
  expect(await applied()).toEqual(["1"]);
});

test("told to stop while it waits for a table, it ends and leaves nothing waiting", async () => {
  const stopping = new AbortController();
  await beside("SELECT count(*) FROM two", async () => {
    const change = "ALTER TABLE two ADD COLUMN b int";
    const applying = applyMissing(sql, [file(1, change)], { stop: stopping.signal, tell }).catch((error) => error);
    await eventually(async () => expect(await waiting()).toEqual([change]));
    stopping.abort(new Error("enough"));
    expect(await applying).toEqual(new Error("enough"));
    await eventually(async () => expect(await waiting()).toEqual([]));
  });
  expect((await sql`SELECT * FROM two`).columns.map(({ name }) => name)).toEqual(["a"]);
});

test("callers whose transactions come and go do not keep it from its table", { tags: ["nightly"] }, async () => {
  let over = false;
  const callers = postgres(url, { max: 12, onnotice: () => {} });
  onTestFinished(() => callers.end({ timeout: 0 }));
  const calling = Array.from({ length: 12 }, async () => {
    while (!over)
      await callers.begin(async (tx) => {
        await tx`INSERT INTO two VALUES (1)`;
        await tx`SELECT pg_sleep(1.2)`;
      });
  });
  await applyMissing(sql, [file(1, "CREATE INDEX two_b ON two (a)")], { tell });
  over = true;
  await Promise.all(calling);
  expect(await applied()).toEqual(["1"]);
});
