// A process that dials while it has no file or no port left, and again once it has.
import { closeSync, openSync } from "node:fs";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { connectDatabase, type Database } from "../src/database/connect.ts";

const [what, url = ""] = process.argv.slice(2);
const say = (line: string) => void process.stdout.write(`${line}\n`);
const open = (at: string) => connectDatabase({ url: at, connectionsMax: 1, timeoutMs: 5_000 });
const ask = (database: Database) =>
  database.sql`SELECT 1`.then(
    () => "works",
    (error: NodeJS.ErrnoException) => String(error.code),
  );

if (what === "files") {
  const database = open(url);
  say(await withoutFiles(() => ask(database)));
  say(await withoutFiles(() => ask(database)));
  say(await ask(database));
  await database.close();
} else {
  // Outside the range of ports to dial from, in a network of its own.
  const port = 7_000;
  const server = createServer((socket) => void socket.on("error", () => {})).listen(port, "127.0.0.1");
  await once(server, "listening");
  const taken = [connect(port, "127.0.0.1"), connect(port, "127.0.0.1")];
  await Promise.all(taken.map((socket) => once(socket, "connect")));
  const database = open(`postgres://a:b@127.0.0.1:${port}/x`);
  say(await ask(database));
  say(await ask(database));
  for (const socket of taken) socket.resetAndDestroy();
  const dialled = once(server, "connection");
  void ask(database);
  await dialled;
  say("dials");
  process.exit(0);
}

async function withoutFiles<T>(work: () => Promise<T>): Promise<T> {
  const files: number[] = [];
  try {
    for (;;) files.push(openSync("/dev/null", "r"));
  } catch {
    return await work();
  } finally {
    for (const file of files) closeSync(file);
  }
}
