import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { basename, join } from "node:path";
import postgres from "postgres";
import { expect, onTestFinished, test } from "vitest";
import { closedFolder, openFolder } from "../test/folder.ts";
import { startPostgres } from "./postgres/postgres.ts";
import { startRedis } from "./redis/redis.ts";

const isRoot = process.getuid?.() === 0;
const nobody = 65_534;

async function start(dataDir: string) {
  const server = await startPostgres({ dataDir, settings: { fsync: "off" } });
  onTestFinished(() => server.stop());
  return server;
}

async function redisIn(dir: string) {
  const server = await startRedis({ dir });
  onTestFinished(() => server.stop());
  return server;
}

async function ask(url: string, query: string): Promise<unknown[]> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    return await sql.unsafe(query);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** One command over a raw socket, one reply. */
async function say(port: number, command: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.write(`${command}\r\n`);
  const [reply] = (await once(socket, "data")) as [Buffer];
  socket.destroy();
  return reply.toString();
}

function withPassword(url: string, password: string): string {
  const other = new URL(url);
  other.password = password;
  return other.href;
}

const userOf = (pid: number) => Number(execFileSync("ps", ["-o", "uid=", "-p", String(pid)], { encoding: "utf8" }));
const argumentsOf = (pid: number) =>
  execFileSync("ps", ["-ww", "-o", "args=", "-p", String(pid)], { encoding: "utf8" });

test("PostgreSQL wants the password, kept in a file only its user can read", { tags: ["nightly"] }, async () => {
  const server = await start(join(openFolder(), "postgres"));
  const { password } = new URL(server.url);
  expect(password).toMatch(/^[\w-]{32}$/);
  for (const wrong of ["", "postgres"])
    await expect(ask(withPassword(server.url, wrong), "select 1")).rejects.toThrow(/password/);
  expect(await ask(server.url, "select left(rolpassword, 13) as kept from pg_authid where rolcanlogin")).toEqual([
    { kept: "SCRAM-SHA-256" },
  ]);
  expect(readFileSync(server.urlFile, "utf8").trim()).toBe(server.url);
  for (const file of [server.urlFile, join(server.dataDir, "atlasqueue.password")]) {
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(file).uid).toBe(userOf(server.pid));
  }
  expect(argumentsOf(server.pid)).not.toContain(password);
});

test("Redis lets no one in without the password, which is not among its arguments, and never runs as root", async () => {
  for (const server of [await redisIn(join(openFolder(), "redis")), await startRedis()]) {
    onTestFinished(() => server.stop());
    const { password } = new URL(server.url);
    expect(await say(server.port, "PING")).toContain("NOAUTH");
    expect(await say(server.port, "AUTH default")).toContain("WRONGPASS");
    expect(await say(server.port, `AUTH ${password}`)).toBe("+OK\r\n");
    expect(argumentsOf(server.pid)).not.toContain(password);
    expect(userOf(server.pid)).not.toBe(0);
    await server.restart();
    expect(await say(server.port, `AUTH ${password}`)).toBe("+OK\r\n");
    for (const file of [server.passwordFile, server.urlFile]) if (file) expect(statSync(file).mode & 0o777).toBe(0o600);
  }
});

test("passwords stay the same from start to start", { tags: ["nightly"] }, async () => {
  const folder = openFolder();
  const passwords = async () => {
    const server = await start(join(folder, "postgres"));
    const redis = await redisIn(join(folder, "redis"));
    await Promise.all([server.stop(), redis.stop()]);
    return [server.url, redis.url].map((url) => new URL(url).password);
  };
  expect(await passwords()).toEqual(await passwords());
});

test("a password file that does not match the data says how to fix it", { tags: ["nightly"] }, async () => {
  const dataDir = join(openFolder(), "postgres");
  const first = await start(dataDir);
  await first.stop();
  const file = join(dataDir, "atlasqueue.password");
  writeFileSync(file, "short");
  await expect(start(dataDir)).rejects.toThrow(`${file} holds no password: remove it`);
  writeFileSync(file, "x".repeat(32));
  await expect(start(dataDir)).rejects.toThrow(`${file} holds another password than the data: remove it`);
  rmSync(file);
  expect(await ask((await start(dataDir)).url, "select 1 as one")).toEqual([{ one: 1 }]);
});

test("links and FIFOs planted in a data folder lead to no write outside it", { tags: ["nightly"] }, async () => {
  const folder = openFolder();
  const [dataDir, dir] = [join(folder, "postgres"), join(folder, "redis")];
  const first = [await start(dataDir), await redisIn(dir)];
  await Promise.all(first.map((server) => server.stop()));
  // As root that could be any file on the machine.
  const target = join(closedFolder(), "target");
  writeFileSync(target, "untouched");
  const names = ["owner", "url", "url.new", `owner.${process.pid}`, `owner.stale.${process.pid}`];
  const files = names.flatMap((name) => [dataDir, dir].map((place) => join(place, `atlasqueue.${name}`)));
  files.push(join(dir, "redis.pid"));
  const postmaster = join(dataDir, "postmaster.pid");
  const users = first.map((_, at) => statSync(at === 0 ? dataDir : dir));

  for (const plant of ["link", "fifo"]) {
    for (const file of files) {
      rmSync(file, { force: true });
      if (plant === "link") symlinkSync(target, file);
      else execFileSync("sh", ["-c", 'mkfifo "$1"', "sh", file]);
    }
    const servers = [await start(dataDir), await redisIn(dir)];
    await Promise.all(servers.map((server) => server.stop()));
    expect(readFileSync(target, "utf8")).toBe("untouched");
  }
  expect([dataDir, dir].map((place) => statSync(place).uid)).toEqual(users.map(({ uid }) => uid));
  if (isRoot) expect(statSync(target).uid).toBe(0);

  // PostgreSQL's own file: if its user may not write it, the server does not start.
  symlinkSync(target, postmaster);
  await expect(start(dataDir).then((server) => server.stop())).rejects.toThrow(/postmaster\.pid/);
  expect(readFileSync(target, "utf8")).toBe("untouched");
});

test("in a user's own folder root starts the servers as that user", { tags: ["nightly"] }, async () => {
  const folder = openFolder();
  if (isRoot) chownSync(folder, nobody, nobody);
  const server = await start(join(folder, "clone", ".atlasqueue", "postgres"));
  const redis = await redisIn(join(folder, "clone", ".atlasqueue", "redis"));
  const expected = isRoot ? nobody : process.getuid?.();
  expect([userOf(server.pid), userOf(redis.pid), statSync(join(folder, "clone")).uid]).toEqual([
    expected,
    expected,
    expected,
  ]);

  const loose = openFolder();
  mkdirSync(join(loose, "redis"));
  writeFileSync(join(loose, "redis", "dump.rdb"), "");
  chmodSync(join(loose, "redis"), 0o777);
  if (isRoot) {
    await expect(startRedis({ dir: join(loose, "redis") })).rejects.toThrow("others may write there");
    const stolen = join(folder, basename(loose));
    symlinkSync(loose, stolen);
    execFileSync("chown", ["-h", String(nobody), stolen]);
    await expect(startRedis({ dir: stolen })).rejects.toThrow("is a link that the user with id 65534 made");
  }
  expect(statSync(join(loose, "redis", "dump.rdb")).uid).toBe(process.getuid?.());
});
