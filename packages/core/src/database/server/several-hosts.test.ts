import { eventually, ownServers, type Servers } from "@atlasqueue/harness";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { failureOf } from "../../../test/failure-of.ts";
import { openDatabase, openProxy } from "../../../test/opened.ts";
import { connectDatabase, type Database } from "../connect.ts";
import { isReadOnly, isUnavailable } from "../errors.ts";
import { migrateDatabase } from "../migrate.ts";
import { executeOn } from "../statement.ts";

// Two servers, one of which takes no writes, like a demoted primary. Both have the same login.

let here: Servers;
let there: Servers;
beforeAll(async () => {
  [here, there] = await Promise.all([ownServers(), ownServers()]);
  for (const { postgres } of [here, there]) {
    const database = open(postgres.url);
    await database.sql`CREATE TABLE written (server text, number int)`;
    await database.close();
  }
});
afterEach(() => Promise.all([takesWrites(here, true), takesWrites(there, true)]));
afterAll(() => Promise.all([here.stop(), there.stop()]));

const open = (url: string, connections_max = 2): Database =>
  connectDatabase({ url, connectionsMax: connections_max, timeoutMs: 5_000 });
const portOf = (url: string) => Number(new URL(url).port);

async function takesWrites({ postgres }: Servers, yes: boolean): Promise<void> {
  const admin = open(postgres.url, 1);
  await admin.sql.unsafe(`ALTER SYSTEM SET default_transaction_read_only = ${yes ? "off" : "on"}`);
  await admin.sql`SELECT pg_reload_conf()`;
  // Existing connections read it between two statements, and new ones find it so.
  await eventually(async () =>
    expect(await admin.sql`SHOW default_transaction_read_only`).toEqual([
      { default_transaction_read_only: yes ? "off" : "on" },
    ]),
  );
  await admin.close();
}

/** With those ports of 127.0.0.1, in this order. */
function urlOf(...ports: number[]): string {
  const url = new URL(here.postgres.url);
  const hosts = ports.map((port) => `127.0.0.1:${port}`).join(",");
  return `postgres://${url.username}:${url.password}@${hosts}${url.pathname}`;
}

/** Closed when the test ends. */
const poolAt = (url: string, connections_max = 2): Database =>
  openDatabase({ url, connectionsMax: connections_max, timeoutMs: 5_000 });
const poolOf = (...ports: number[]): Database => poolAt(urlOf(...ports));

/** The port of the server that took the write. */
async function write(database: Database): Promise<number> {
  const text = "INSERT INTO written VALUES ('x', 1) RETURNING current_setting('port')::int AS port";
  const [row] = await executeOn(database)<{ port: number }>({ text, params: [] });
  return row?.port ?? 0;
}

/** Until a write succeeds, each refusal must mean "later". */
async function writeAtLast(database: Database): Promise<number> {
  return eventually(async () => {
    try {
      return await write(database);
    } catch (error) {
      expect(isUnavailable(error)).toBe(true);
      throw error;
    }
  });
}

test("of several hosts, one that takes no writes is skipped", async () => {
  await takesWrites(here, false);
  const database = poolOf(1, portOf(here.postgres.url), portOf(there.postgres.url));
  expect(await write(database)).toBe(portOf(there.postgres.url));
});

test("of several hosts, the one that takes writes is migrated", async () => {
  await takesWrites(here, false);
  await migrateDatabase(urlOf(portOf(here.postgres.url), portOf(there.postgres.url)));
  expect(await poolAt(there.postgres.url).sql`SELECT FROM atlasqueue.jobs`).toEqual([]);
});

test("a demoted server is abandoned for the promoted one, over the same pool", async () => {
  await takesWrites(there, false);
  const database = poolOf(portOf(here.postgres.url), portOf(there.postgres.url));
  expect(await Promise.all([write(database), write(database)])).toEqual([1, 2].map(() => portOf(here.postgres.url)));
  await takesWrites(there, true);
  await takesWrites(here, false);
  expect(await writeAtLast(database)).toBe(portOf(there.postgres.url));
});

test("while no host takes writes the database is unavailable, and it is used again once one does", async () => {
  await takesWrites(here, false);
  await takesWrites(there, false);
  const database = poolOf(portOf(here.postgres.url), portOf(there.postgres.url));
  await expect(write(database)).rejects.toSatisfy(isUnavailable);
  await takesWrites(there, true);
  expect(await writeAtLast(database)).toBe(portOf(there.postgres.url));
});

test("a connection that says it takes no writes is closed, and the next query dials the name again", async () => {
  const proxy = await openProxy(here.postgres.url);
  const database = poolAt(proxy.url, 1);
  expect(await write(database)).toBe(portOf(here.postgres.url));
  expect(proxy.accepted()).toBe(1);
  await takesWrites(here, false);
  proxy.pointAt(there.postgres.url);
  const refusal = await eventually(() => failureOf(write(database)));
  expect(isReadOnly(refusal)).toBe(true);
  expect(isUnavailable(refusal)).toBe(true);
  expect(await write(database)).toBe(portOf(there.postgres.url));
  expect(proxy.accepted()).toBe(2);
});

test("when one connection says it takes no writes, none of those opened with it answers a read any more", async () => {
  const proxy = await openProxy(here.postgres.url);
  const database = poolAt(proxy.url, 3);
  const ports = () =>
    Promise.all(
      Array.from({ length: 3 }, async () => {
        const rows = await database.sql<{ port: number }[]>`
          SELECT current_setting('port')::int AS port FROM pg_sleep(0.05)`;
        return rows[0]?.port;
      }),
    );
  expect(await ports()).toEqual([1, 2, 3].map(() => portOf(here.postgres.url)));
  await takesWrites(here, false);
  proxy.pointAt(there.postgres.url);
  const busy = ports();
  expect(isReadOnly(await failureOf(write(database)))).toBe(true);
  await busy;
  expect(await ports()).toEqual([1, 2, 3].map(() => portOf(there.postgres.url)));
});
