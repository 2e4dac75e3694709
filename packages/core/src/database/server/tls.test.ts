import { chmodSync, chownSync, copyFileSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { certificateAuthority, ownServers, type Authority, type Servers } from "@atlasqueue/harness";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../../../test/opened.ts";
import { connectDatabase } from "../connect.ts";
import { isUnavailable } from "../errors.ts";

// PostgreSQL with a certificate for 127.0.0.1 and for no name.

let servers: Servers;
let authority: Authority;
let base: URL;
beforeAll(async () => {
  authority = certificateAuthority();
  servers = await ownServers();
  const { dataDir, url } = servers.postgres;
  base = new URL(url);
  const { uid, gid } = statSync(dataDir);
  const { cert_file, key_file } = authority.issue("server", ["IP:127.0.0.1"]);
  for (const [from, name] of [
    [cert_file, "server.crt"],
    [key_file, "server.key"],
    [authority.ca_file, "ca.crt"],
  ] as const) {
    copyFileSync(from, join(dataDir, name));
    chownSync(join(dataDir, name), uid, gid);
    chmodSync(join(dataDir, name), 0o600);
  }
  const admin = connectDatabase({ url, connectionsMax: 1, timeoutMs: 5_000 });
  for (const set of ["ssl = on", "ssl_ca_file = 'ca.crt'"]) await admin.sql.unsafe(`ALTER SYSTEM SET ${set}`);
  await admin.close();
  await servers.postgres.stop();
  await servers.postgres.restart();
});
afterAll(async () => {
  await servers.stop();
  authority.remove();
});

const at = (hosts: string, query = "") =>
  `postgres://${base.username}:${base.password}@${hosts}${base.pathname}${query.replace("CA", authority.ca_file)}`;
const here = () => `127.0.0.1:${base.port}`;

/** Whether the connection was encrypted, or the code of why there was none. */
async function tried(url: string): Promise<unknown> {
  const database = openDatabase({ url, connectionsMax: 1, timeoutMs: 5_000 });
  try {
    const [row] = await database.sql`SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()`;
    return row?.ssl;
  } catch (error) {
    expect(isUnavailable(error)).toBe(true);
    return (error as NodeJS.ErrnoException).code;
  }
}

const unknown = "SELF_SIGNED_CERT_IN_CHAIN";
const otherName = "ERR_TLS_CERT_ALTNAME_INVALID";
test.each([
  ["127.0.0.1", "", true],
  ["127.0.0.1", "?sslmode=disable", false],
  ["127.0.0.1", "?sslmode=prefer", true],
  ["127.0.0.1", "?sslmode=require", true],
  ["127.0.0.1", "?sslmode=require&sslrootcert=CA", true],
  ["127.0.0.1", "?sslmode=verify-ca", unknown],
  ["127.0.0.1", "?sslmode=verify-full&sslrootcert=CA", true],
  ["127.0.0.1", "?sslmode=verify-full", unknown],
  ["127.0.0.1", "?sslrootcert=system", unknown],
  ["localhost", "?sslmode=verify-ca&sslrootcert=CA", true],
  ["localhost", "?sslmode=verify-full&sslrootcert=CA", otherName],
])("over %s%s: %s", async (host, query, expected) => {
  expect(await tried(at(`${host}:${base.port}`, query))).toBe(expected);
});

test("of several hosts each certificate is checked against the one that was dialled", async () => {
  expect(await tried(at(`127.0.0.1:1,${here()}`, "?sslmode=verify-full&sslrootcert=CA"))).toBe(true);
  const nameOnly = at(`127.0.0.1:1,localhost:${base.port}`, "?sslmode=verify-full&sslrootcert=CA");
  expect(await tried(nameOnly)).toBe(otherName);
});

test("a certificate of ours is shown", async () => {
  const { cert_file, key_file } = authority.issue("client");
  const url = at(here(), `?sslmode=verify-full&sslrootcert=CA&sslcert=${cert_file}&sslkey=${key_file}`);
  const database = openDatabase({ url, connectionsMax: 1, timeoutMs: 5_000 });
  const rows = await database.sql`SELECT client_dn FROM pg_stat_ssl WHERE pid = pg_backend_pid()`;
  expect(rows).toEqual([{ client_dn: "/CN=client" }]);
});

test("a socket is dialled by its folder, whatever sslmode says", async () => {
  const folder = mkdtempSync(join(tmpdir(), "atlasqueue-socket-"));
  // As the proxies of clouds have one.
  const proxy = createServer((near) => {
    const far = connect(Number(base.port), "127.0.0.1");
    near.pipe(far).pipe(near);
    for (const side of [near, far]) side.on("error", () => {});
  }).listen(join(folder, `.s.PGSQL.${base.port}`));
  onTestFinished(() => {
    proxy.close();
    rmSync(folder, { recursive: true });
  });
  const login = `user=${base.username}&password=${base.password}&port=${base.port}`;
  for (const url of [
    `postgres://${base.pathname}?host=${folder}&${login}&sslmode=require`,
    at(`localhost:${base.port}`, `?host=${folder}`),
    at(`${encodeURIComponent(folder)}:${base.port}`),
  ])
    expect(await tried(url)).toBe(false);
});

test("a server without TLS refuses whom sslmode makes ask for it, in words, and serves the others", async () => {
  const plain = await ownServers();
  onTestFinished(() => plain.stop());
  expect(await tried(`${plain.postgres.url}?sslmode=prefer`)).toBe(false);
  expect(await tried(`${plain.postgres.url}?sslmode=require`)).toBe("ERR_TLS_NOT_OFFERED");
});
