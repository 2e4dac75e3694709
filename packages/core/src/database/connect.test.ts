import { createServer, type Server, type Socket } from "node:net";
import { eventually, ownServers, type Servers } from "@atlasqueue/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bounded } from "./bounded.ts";
import { connectDatabase, type Database } from "./connect.ts";
import { DatabaseTimeoutError, isUnavailable } from "./errors.ts";

let servers: Servers;
beforeAll(async () => {
  servers = await ownServers();
});
afterAll(() => servers.stop());

const one = (database: Database) => bounded(database, database.sql<{ one: number }[]>`SELECT 1 AS one`);

/** Accepts connections and never says a word, like a server behind a cable that was cut. */
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

test("a query that is late is cancelled on the server, and its connection is used again", async () => {
  const database = connectDatabase({ url: servers.postgres.url, connections_max: 1, timeout_ms: 300 });
  const watcher = connectDatabase({ url: servers.postgres.url, connections_max: 1, timeout_ms: 10_000 });
  await expect(bounded(database, database.sql`SELECT pg_sleep(600)`)).rejects.toBeInstanceOf(DatabaseTimeoutError);
  await eventually(async () => {
    const [row] = await watcher.sql<{ sleeping: number }[]>`
      SELECT count(*)::int AS sleeping FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%' AND state = 'active'`;
    expect(row?.sleeping).toBe(0);
    expect(await one(database)).toEqual([{ one: 1 }]);
  });
  await Promise.all([database.close(), watcher.close()]);
});

test("a server that never answers costs the deadline, not a pool slot for ever", async () => {
  const silent = await silentServer();
  const database = connectDatabase({ url: silent.url, connections_max: 2, timeout_ms: 100 });
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
  const database = connectDatabase({ url: servers.postgres.url, connections_max: 5, timeout_ms: 2_000 });
  await Promise.all(Array.from({ length: 5 }, () => one(database)));
  await servers.postgres.kill("SIGKILL");
  // Its backends may answer until they notice.
  await eventually(() => expect(one(database)).rejects.toSatisfy(isUnavailable));
  await servers.postgres.restart();
  await eventually(() => one(database), { timeout_ms: 5_000 });
  await database.close();
});

test("a database that is not there is unavailable at once", async () => {
  const database = connectDatabase({ url: "postgres://x@127.0.0.1:1/x", connections_max: 1, timeout_ms: 5_000 });
  await expect(one(database)).rejects.toSatisfy(isUnavailable);
  await database.close();
});
