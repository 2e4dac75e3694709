import { eventually, forFile, ownServers, type TcpProxy } from "@atlasqueue/harness";
import { beforeEach, expect, test } from "vitest";
import { openDatabase, openProxy } from "../../test/opened.ts";
import { bounded } from "./bounded.ts";
import type { Database } from "./connect.ts";
import { DatabaseTimeoutError } from "./errors.ts";
import { executeOn } from "./statement.ts";
import { inTransaction } from "./transaction.ts";

// A pool with all its connections open, none of which leads anywhere any more, while new ones are served: a firewall forgot
// them. What finds out must be one call, not one for each connection.

const connections_max = 4;
const timeout_ms = 1_000;

const servers = forFile(ownServers);
let proxy: TcpProxy;
let database: Database;
beforeEach(async () => {
  proxy = await openProxy(servers.postgres.url);
  database = openDatabase({ url: proxy.url, connectionsMax: connections_max, timeoutMs: timeout_ms });
  const pools = Array.from({ length: connections_max }, () => bounded(database, database.sql`SELECT pg_sleep(0.1)`));
  await Promise.all(pools);
  expect(proxy.accepted()).toBe(connections_max);
});

const forget = () => {
  proxy.blackhole();
  proxy.heal();
};
const one = () => executeOn(database)({ text: "SELECT $1::int AS one", params: [1] });
const transact = () => inTransaction(database, (execute) => execute({ text: "SELECT $1::int AS one", params: [1] }));

test.each([
  ["a statement", one],
  ["a transaction", transact],
])(
  "after %s that found its connection silent, that one and the others are given up",
  { tags: ["slow"] },
  async (_, work) => {
    forget();
    await expect(work()).rejects.toBeInstanceOf(DatabaseTimeoutError);
    // What asks the server about it, and then gives the connections up, is not waited for.
    await eventually(() => expect(database.connections()).toMatchObject({ open: 0, busy: 0 }));
    const tries = await Promise.allSettled(Array.from({ length: connections_max }, work));
    expect(tries.map(({ status }) => status)).toEqual(tries.map(() => "fulfilled"));
    expect(proxy.accepted()).toBeGreaterThan(connections_max);
  },
);

test("a late statement that the server knows of keeps its connection, and the others theirs", async () => {
  const late = bounded(database, database.sql`SELECT pg_sleep(600)`);
  await expect(late).rejects.toBeInstanceOf(DatabaseTimeoutError);
  await eventually(() => expect(database.connections()).toMatchObject({ open: connections_max, busy: 0 }));
  await one();
  // One to ask the server.
  expect(proxy.accepted()).toBe(connections_max + 1);
});

test("a late statement is cancelled behind a pooler too, whose process numbers may be larger than any of the server's", async () => {
  const behind = await openProxy(servers.postgres.url);
  // BackendKeyData, in which PgBouncer puts numbers of its own.
  const head = "K\0\0\0\x0c";
  behind.alterAnswers((text) => {
    const at = text.indexOf(head) + head.length;
    return at < head.length ? text : `${text.slice(0, at)}\xf0\0\0\x01${text.slice(at + 4)}`;
  });
  let cancellations = 0;
  behind.splitQuestions((chunk) => {
    if (chunk.length === 16 && chunk.readUInt32BE(4) === 80_877_102) cancellations += 1;
    return [chunk];
  });
  const pool = openDatabase({ url: behind.url, connectionsMax: 1, timeoutMs: timeout_ms });
  await expect(bounded(pool, pool.sql`SELECT pg_sleep(600)`)).rejects.toBeInstanceOf(DatabaseTimeoutError);
  await eventually(() => expect(cancellations).toBe(1), { timeout_ms: 10_000 });
});
