import { createServer } from "node:net";
import { once } from "node:events";
import { chownSync, existsSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import postgres from "postgres";
import { expect, onTestFinished, test, vi } from "vitest";
import { closedFolder, openFolder } from "../../test/folder.ts";
import { holdServers, isRunning } from "../../test/holder.ts";
import { freePort } from "../process/free-port.ts";
import { startPostgres, type PostgresOptions } from "./postgres.ts";

const isRoot = process.getuid?.() === 0;

/** These tests kill processes, never the machine, so they needn't wait for the disk. */
async function start(options: PostgresOptions) {
  const server = await startPostgres({ ...options, settings: { fsync: "off", ...options.settings } });
  onTestFinished(() => server.stop());
  return server;
}

function connect(url: string) {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  onTestFinished(() => sql.end({ timeout: 1 }));
  return sql;
}

async function keepNumber(url: string, number: number) {
  const sql = connect(url);
  await sql`create table if not exists kept (number int)`;
  await sql`insert into kept values (${number})`;
}

async function keptNumbers(url: string): Promise<number[]> {
  const rows = await connect(url)<{ number: number }[]>`select number from kept order by number`;
  return rows.map((row) => row.number);
}

test("a server starts durable and in UTF-8, away from Ctrl-C, and stops", { tags: ["nightly"] }, async () => {
  const server = await startPostgres({ dataDir: join(openFolder(), "postgres") });
  const sql = connect(server.url);
  const [row] = await sql`
    select current_database() as database, current_setting('server_encoding') as encoding,
      current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit,
      current_setting('listen_addresses') as addresses, upper('é') as upper`;
  await sql.end();
  expect(row).toEqual({
    database: "atlasqueue",
    encoding: "UTF8",
    fsync: "on",
    commit: "on",
    addresses: "127.0.0.1",
    upper: "É",
  });
  // Its own process group, named by its leader's id, is what keeps the terminal's Ctrl-C away.
  expect(process.kill(-server.pid, 0)).toBe(true);

  await server.stop();
  expect(isRunning(server.pid)).toBe(false);
  await server.stop();
});

test("settings win over the defaults", { tags: ["nightly"] }, async () => {
  const server = await start({ dataDir: join(openFolder(), "postgres"), settings: { max_connections: "17" } });
  const [row] = await connect(server.url)`show max_connections`;
  expect(row).toEqual({ max_connections: "17" });
});

test("a restart keeps the rows and the port, after a stop and after a SIGKILL too", { tags: ["nightly"] }, async () => {
  const server = await start({ dataDir: join(openFolder(), "postgres") });
  await keepNumber(server.url, 1);
  await server.restart();
  expect(await keptNumbers(server.url)).toEqual([1]);

  await keepNumber(server.url, 2);
  const killed = server.pid;
  await server.kill("SIGKILL");
  expect(isRunning(killed)).toBe(false);
  await server.restart();
  expect(await keptNumbers(server.url)).toEqual([1, 2]);

  await server.stop();
  await server.restart();
  expect(await keptNumbers(server.url)).toEqual([1, 2]);
});

test("a paused server still stops", { tags: ["nightly"] }, async () => {
  const server = await start({ dataDir: join(openFolder(), "postgres") });
  await server.kill("SIGSTOP");
  await server.stop();
  expect(isRunning(server.pid)).toBe(false);
});

test("the server of a killed process is taken over with its rows", { tags: ["nightly"] }, async () => {
  const folder = openFolder();
  const holder = await holdServers(folder);
  await keepNumber(holder.url, 1);
  holder.kill("SIGKILL");
  await holder.exited;
  expect(isRunning(holder.postgres)).toBe(true);

  const server = await start({ dataDir: join(folder, "postgres") });
  expect(isRunning(holder.postgres)).toBe(false);
  expect(await keptNumbers(server.url)).toEqual([1]);
});

test("a process that exits takes its servers with it", { tags: ["nightly"] }, async () => {
  const holder = await holdServers(openFolder(), "exit");
  await holder.exited;
  await vi.waitUntil(() => !isRunning(holder.postgres) && !isRunning(holder.redis), { timeout: 3_000 });
});

test("data held by a living process is refused, naming the process", { tags: ["nightly"] }, async () => {
  const folder = openFolder();
  const dataDir = join(folder, "postgres");
  const holder = await holdServers(folder);
  await expect(startPostgres({ dataDir })).rejects.toThrow(`is in use by process ${holder.pid}:`);
  expect(isRunning(holder.postgres)).toBe(true);
});

test("a postmaster.pid with another process's id is no obstacle to a start", { tags: ["nightly"] }, async () => {
  const dataDir = join(openFolder(), "postgres");
  const first = await start({ dataDir });
  const file = join(dataDir, "postmaster.pid");
  await first.kill("SIGKILL");
  const bystander = await start({ dataDir: join(openFolder(), "postgres") });
  writeFileSync(file, `${bystander.pid}\n${dataDir}\n1\n1\n\n127.0.0.1\n\nready\n`);
  await first.stop();

  const second = await start({ dataDir });
  expect(isRunning(second.pid)).toBe(true);
  expect(isRunning(bystander.pid)).toBe(true);
});

test("an interrupted initdb is done again", { tags: ["nightly"] }, async () => {
  const dataDir = join(openFolder(), "postgres");
  mkdirSync(join(dataDir, "atlasqueue.init", "data"), { recursive: true });
  writeFileSync(join(dataDir, "atlasqueue.init", "data", "PG_VERSION"), "18\n");
  const server = await start({ dataDir });
  expect(isRunning(server.pid)).toBe(true);
  expect(existsSync(join(dataDir, "atlasqueue.init"))).toBe(false);
});

test("an interrupted move out of initdb's draft is resumed", { tags: ["nightly"] }, async () => {
  const dataDir = join(openFolder(), "postgres");
  const first = await start({ dataDir });
  await keepNumber(first.url, 1);
  await first.stop();
  const place = join(dataDir, "atlasqueue.init");
  mkdirSync(join(place, "data"), { recursive: true });
  for (const left of ["PG_VERSION", "base", "pg_wal"]) renameSync(join(dataDir, left), join(place, "data", left));
  writeFileSync(join(place, "done"), "");
  const { uid, gid } = statSync(dataDir);
  for (const made of [place, join(place, "data")]) chownSync(made, uid, gid);

  const second = await start({ dataDir });
  expect(await keptNumbers(second.url)).toEqual([1]);
  expect(existsSync(place)).toBe(false);
});

test("a folder with something else in it is left alone", async () => {
  const dataDir = openFolder();
  writeFileSync(join(dataDir, "letter.txt"), "dear");
  await expect(startPostgres({ dataDir })).rejects.toThrow(`${dataDir} is neither empty nor a PostgreSQL`);
  expect(statSync(dataDir).uid).toBe(process.getuid?.());
});

test("a taken port is named, and the data is free again afterwards", { tags: ["nightly"] }, async () => {
  const dataDir = join(openFolder(), "postgres");
  const port = await freePort();
  const other = createServer().listen(port, "127.0.0.1");
  onTestFinished(() => void other.close());
  await once(other, "listening");
  await expect(startPostgres({ dataDir, port })).rejects.toThrow(`port ${port} is in use`);

  other.close();
  await once(other, "close");
  expect((await start({ dataDir, port })).port).toBe(port);
});

test("a setting PostgreSQL refuses is reported in its words", { tags: ["nightly"] }, async () => {
  const refused = start({ dataDir: join(openFolder(), "postgres"), settings: { max_connections: "many" } });
  await expect(refused).rejects.toThrow(/invalid value for parameter "max_connections": "many"/);
});

test("data goes where its user can reach it: elsewhere for root", { tags: ["nightly"] }, async () => {
  const wanted = join(closedFolder(), "postgres");
  const server = await start({ dataDir: wanted });
  if (isRoot) {
    onTestFinished(() => rmSync(server.dataDir, { recursive: true, force: true }));
    expect(dirname(server.dataDir)).toBe("/var/lib/atlasqueue");
    expect(statSync(server.dataDir).uid).not.toBe(0);
    await keepNumber(server.url, 1);
    await server.stop();
    const again = await start({ dataDir: wanted });
    expect(again.dataDir).toBe(server.dataDir);
    expect(await keptNumbers(again.url)).toEqual([1]);
    await again.stop();
  } else {
    expect(server.dataDir).toBe(wanted);
    expect(statSync(server.dataDir).uid).toBe(process.getuid?.());
  }
});

test("existing data its user can't reach is never replaced by an empty database", async () => {
  const wanted = join(closedFolder(), "postgres");
  mkdirSync(wanted);
  writeFileSync(join(wanted, "PG_VERSION"), "18\n");
  const why = isRoot ? /can't reach the data in .*: move it elsewhere/ : /did not start/;
  await expect(startPostgres({ dataDir: wanted })).rejects.toThrow(why);
});
