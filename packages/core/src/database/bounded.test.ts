import { postgresUrl } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { failureOf } from "../../test/failure-of.ts";
import { openDatabase } from "../../test/opened.ts";
import { bounded } from "./bounded.ts";
import type { Database } from "./connect.ts";
import { outcomeUnknown } from "./errors.ts";

const open = (timeout_ms: number): Database =>
  openDatabase({ url: postgresUrl(), connectionsMax: 1, timeoutMs: timeout_ms });

/** What a handler that hogs the processor does. */
function burn(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end;);
}

test("an answer that came while the process was busy counts, even past its deadline", async () => {
  const database = open(500);
  await bounded(database, database.sql`SELECT 1`);
  for (let i = 0; i < 2; i += 1) {
    const answer = bounded(database, database.sql`SELECT 1 AS one`);
    // Until it is sent.
    for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    // Longer than the deadline, and than the silence after which a connection is given up.
    burn(1_400);
    expect(await answer).toEqual([{ one: 1 }]);
  }
});

test("an answer still arriving after a pause of the process is waited for", async () => {
  const database = open(500);
  await bounded(database, database.sql`SELECT 1`);
  const answer = bounded(
    database,
    database.sql<{ it: string }[]>`SELECT repeat('x', 1000000) AS it FROM generate_series(1, 20)`,
  );
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  burn(1_000);
  expect((await answer).length).toBe(20);
});

test("a late statement may have been applied; one that never left certainly was not", async () => {
  const database = open(300);
  const asleep = failureOf(bounded(database, database.sql`SELECT pg_sleep(600)`));
  const behind = failureOf(bounded(database, database.sql`SELECT 1`, 100));
  expect(outcomeUnknown(await asleep)).toBe(true);
  expect(outcomeUnknown(await behind)).toBe(false);
});

test("a statement the server refused was not applied, nor one that found no server", async () => {
  const database = open(5_000);
  expect(outcomeUnknown(await failureOf(bounded(database, database.sql`SELECT 1 / 0`)))).toBe(false);
  const away = openDatabase({ url: "postgres://x@127.0.0.1:1/x", connectionsMax: 1, timeoutMs: 5_000 });
  expect(outcomeUnknown(await failureOf(bounded(away, away.sql`SELECT 1`)))).toBe(false);
});

test("a statement whose connection broke may have been applied", async () => {
  const [database, killer] = [open(5_000), open(5_000)];
  const [row] = await bounded(database, database.sql<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`);
  const asleep = failureOf(bounded(database, database.sql`SELECT pg_sleep(600)`));
  await bounded(killer, killer.sql`SELECT pg_terminate_backend(${row?.pid ?? 0})`);
  expect(outcomeUnknown(await asleep)).toBe(true);
});
