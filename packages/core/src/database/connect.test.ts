import { createServer, type Server, type Socket } from "node:net";
import { eventually, ownServers, forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { openDatabase } from "../../test/opened.ts";
import { bounded } from "./bounded.ts";
import { connectDatabase, type Database } from "./connect.ts";
import { DatabaseTimeoutError, isUnavailable } from "./errors.ts";
import { executeOn } from "./statement.ts";
import { inTransaction } from "./transaction.ts";

const servers = forFile(ownServers);

const open = (connections_max = 1, timeout_ms = 10_000): Database =>
  openDatabase({ url: servers.postgres.url, connectionsMax: connections_max, timeoutMs: timeout_ms });
const one = (database: Database) => bounded(database, database.sql<{ one: number }[]>`SELECT 1 AS one`);

/** Accepts connections and never answers, like a server behind a cut cable. */
async function silentServer(): Promise<{ url: string; connections: () => number; close: () => void }> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket
      .on("error", () => {})
      .on("close", () => sockets.delete(socket))
      .resume();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `postgres://nobody@127.0.0.1:${port}/nothing`,
    connections: () => sockets.size,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

test("a late query is cancelled on the server, and its connection is reused", async () => {
  const [database, watcher] = [open(1, 300), open()];
  await expect(bounded(database, database.sql`SELECT pg_sleep(600)`)).rejects.toBeInstanceOf(DatabaseTimeoutError);
  await eventually(async () => {
    const [row] = await watcher.sql<{ sleeping: number }[]>`
      SELECT count(*)::int AS sleeping FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%' AND state = 'active'`;
    expect(row?.sleeping).toBe(0);
    expect(await one(database)).toEqual([{ one: 1 }]);
  });
});

test("connections that nobody uses are closed, and opened again when they are needed", async () => {
  const settings = { url: servers.postgres.url, connectionsMax: 4, timeoutMs: 10_000, idleSeconds: 0.2 };
  const database = openDatabase(settings);
  const atOnce = () =>
    Promise.all(Array.from({ length: 4 }, () => bounded(database, database.sql`SELECT pg_sleep(0.1)`)));
  await atOnce();
  await eventually(() => expect(database.connections().open).toBe(0));
  await atOnce();
});

test("a server that never answers costs the deadline, not a pool connection forever", async () => {
  const silent = await silentServer();
  const database = connectDatabase({ url: silent.url, connectionsMax: 2, timeoutMs: 100 });
  const answers = await Promise.allSettled(Array.from({ length: 20 }, () => one(database)));
  for (const answer of answers) {
    expect(answer.status).toBe("rejected");
    if (answer.status === "rejected") expect(isUnavailable(answer.reason)).toBe(true);
  }
  await eventually(() => expect(silent.connections()).toBe(0));
  silent.close();
  await database.close();
});

test("queries fail while the server restarts and work again soon after, over the same pool", async () => {
  const database = open(5, 2_000);
  await Promise.all(Array.from({ length: 5 }, () => one(database)));
  await servers.postgres.kill("SIGKILL");
  // Its backends may answer until they notice.
  await eventually(() => expect(one(database)).rejects.toSatisfy(isUnavailable));
  await servers.postgres.restart();
  await eventually(() => one(database), { timeout_ms: 5_000 });
});

test("the pool says how many connections are open, how many are busy, and how many statements wait for one", async () => {
  const database = open(2);
  expect(database.connections()).toEqual({ open: 0, busy: 0, max: 2, waiting: 0 });
  await Promise.all([one(database), one(database)]);
  expect(database.connections()).toEqual({ open: 2, busy: 0, max: 2, waiting: 0 });
  const free = Promise.withResolvers<void>();
  const hold = () =>
    inTransaction(database, async (execute) => {
      await execute({ text: "SELECT 1", params: [] });
      await free.promise;
    });
  const first = hold();
  await eventually(() => expect(database.connections()).toEqual({ open: 2, busy: 1, max: 2, waiting: 0 }));
  const rest = [hold(), one(database)];
  await eventually(() => expect(database.connections()).toEqual({ open: 2, busy: 2, max: 2, waiting: 1 }));
  free.resolve();
  await Promise.all([first, ...rest]);
  await eventually(() => expect(database.connections()).toEqual({ open: 2, busy: 0, max: 2, waiting: 0 }));
});

test("it reports a broken connection, but not when we end one or none could be opened", async () => {
  let breaks = 0;
  const away = connectDatabase({ url: "postgres://x@127.0.0.1:1/x", connectionsMax: 1, timeoutMs: 5_000 });
  const ended = connectDatabase({ url: servers.postgres.url, connectionsMax: 1, timeoutMs: 10_000 });
  const database = connectDatabase({ url: servers.postgres.url, connectionsMax: 1, timeoutMs: 10_000 });
  for (const pool of [away, ended, database]) pool.onBreak(() => (breaks += 1));
  await expect(one(away)).rejects.toSatisfy(isUnavailable);
  await one(ended);
  await Promise.all([away.close(), ended.close()]);
  const killed = bounded(database, database.sql`SELECT pg_terminate_backend(pg_backend_pid())`);
  await expect(killed).rejects.toSatisfy(isUnavailable);
  await eventually(() => expect(breaks).toBe(1));
  await one(database);
  await database.close();
  expect(breaks).toBe(1);
});

test("a prepared statement that a pooler lost is sent again, and none is prepared any more", async () => {
  let told = 0;
  const observe = () => void (told += 1);
  const database = openDatabase({ url: servers.postgres.url, connectionsMax: 1, timeoutMs: 10_000, observe });
  const execute = executeOn(database);
  const statement = { text: "SELECT $1::int AS one", params: [1] };
  // What the driver holds for prepared is not, as on another of the pooler's connections.
  const lose = () => bounded(database, database.sql.unsafe("DEALLOCATE ALL"));
  const prepared = async () => (await execute({ text: "SELECT name FROM pg_prepared_statements", params: [] })).length;
  expect(await execute(statement)).toEqual([{ one: 1 }]);
  expect(await prepared()).toBeGreaterThan(0);
  await lose();
  expect([await execute(statement), told]).toEqual([[{ one: 1 }], 1]);
  await lose();
  expect([await execute(statement), await prepared(), told]).toEqual([[{ one: 1 }], 0, 1]);
});

test("times are read as they are, whatever style the database writes them in by default", async () => {
  await open().sql`ALTER ROLE CURRENT_USER SET datestyle = 'SQL, DMY'`;
  const database = open();
  const [row] = await database.sql`SELECT timestamptz '2026-12-05 10:00:00.123Z' AS at`;
  expect(row).toEqual({ at: new Date("2026-12-05T10:00:00.123Z") });
  await database.sql`ALTER ROLE CURRENT_USER RESET datestyle`;
});
