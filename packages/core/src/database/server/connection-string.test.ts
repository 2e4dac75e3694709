import { certificateAuthority, type Authority } from "@atlasqueue/harness";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseDatabaseUrl } from "./connection-string.ts";

let authority: Authority;
beforeAll(() => void (authority = certificateAuthority()));
afterAll(() => authority.remove());

const driver = (url: string) => parseDatabaseUrl(url).driver;

test.each([
  ["postgres://localhost/queue", { host: ["localhost"], port: [5_432], database: "queue" }],
  ["postgresql://u:p%25s%40t@db:6432/q%2Fd", { user: "u", pass: "p%s@t", port: [6_432], database: "q/d" }],
  ["postgres://u:p@ss,w:x@a:1,b/q", { pass: "p@ss,w:x", host: ["a", "b"], port: [1, 5_432] }],
  ["postgres://u@[fd00::1]:5433,[::1]/q", { host: ["fd00::1", "::1"], port: [5_433, 5_432] }],
  ["postgres://u:p@/q?host=/cloudsql/p:r:i", { host: ["/cloudsql/p:r:i"], port: [5_432], ssl: false, user: "u" }],
  ["postgres://u:p@localhost/q?host=/cloudsql/p:r:i", { host: ["/cloudsql/p:r:i"], ssl: false }],
  ["postgres:///q?host=/run&port=6000&user=a+b", { host: ["/run"], port: [6_000], user: "a+b" }],
  ["postgres://u@%2Frun%2Fpostgresql/q", { host: ["/run/postgresql"] }],
  ["postgres://u@h/q?dbname=other&password=p%26", { database: "other", pass: "p&" }],
  ["postgres://a,b/q", { target_session_attrs: "read-write" }],
  ["postgres://a,b/q?target_session_attrs=any", { target_session_attrs: undefined }],
])("%s is read as libpq reads it", (url, expected) => expect(driver(url)).toMatchObject(expected));

test.each([
  ["", { optional: true, rejectUnauthorized: false }],
  ["?sslmode=disable", false],
  ["?ssl=false", false],
  ["?sslmode=allow", { optional: true, rejectUnauthorized: false }],
  ["?sslmode=prefer", { optional: true, rejectUnauthorized: false }],
  ["?sslmode=require", { optional: false, rejectUnauthorized: false }],
  ["?ssl=true", { optional: false, rejectUnauthorized: false }],
  ["?sslmode=no-verify", { optional: false, rejectUnauthorized: false }],
  ["?sslmode=require&sslrootcert=CA", { rejectUnauthorized: true, checkServerIdentity: expect.any(Function) }],
  ["?sslmode=verify-ca", { rejectUnauthorized: true, checkServerIdentity: expect.any(Function) }],
  ["?sslmode=verify-full&sslrootcert=CA", { rejectUnauthorized: true, ca: expect.stringContaining("BEGIN") }],
  ["?sslrootcert=system", { optional: false, rejectUnauthorized: true, ca: expect.any(Array) }],
] as [string, false | object][])("TLS of %j", (query, expected) => {
  const { ssl } = driver(`postgres://h/q${query.replace("CA", authority.ca_file)}`);
  if (expected === false) expect(ssl).toBe(false);
  else expect(ssl).toMatchObject(expected);
  const checksName = /verify-full|system/.test(query);
  if (ssl) expect("checkServerIdentity" in ssl).toBe(!checksName);
});

test("what poolers and other programs add is ignored, and named", () => {
  const query = "channel_binding=require&pgbouncer=true&connection_limit=1&pool_timeout=0&schema=public";
  const url = `postgres://h/q?${query}&uselibpqcompat=true&sslaccept=strict&statement_timeout=5&sslmode=require`;
  expect(parseDatabaseUrl(url).ignored).toEqual([
    ...query.split("&").map((each) => each.split("=")[0]),
    "uselibpqcompat",
    "sslaccept",
    "statement_timeout",
  ]);
});

test("what starts a connection is taken", () => {
  const url = "postgres://h/q?application_name=mail%20er&options=-c%20search_path=a+b&connect_timeout=7";
  expect(parseDatabaseUrl(url)).toMatchObject({
    startup: { application_name: "mail er", options: "-c search_path=a+b" },
    connect_timeout_seconds: 7,
    ignored: [],
  });
});

test.each([
  [undefined, "databaseUrl must be a URL such as postgres://user:password@host:5432/database; got nothing"],
  ["", 'be a URL such as postgres://user:password@host:5432/database; got ""'],
  [" ", 'got " "'],
  ["nonsense", "got something else (not shown)"],
  ["mysql://u:s3cret@h/q", 'got "mysql://[hidden]@h/q"'],
  [
    "postgres:///queue",
    'name its host, or the folder of its socket as in postgres:///database?host=/run; got "postgres',
  ],
  ["postgres://u:s3cret@db1,/q", "name each host as host, host:port or [IPv6]:port"],
  ["postgres://u:s3cret@::1/q", "name each host as host, host:port or [IPv6]:port"],
  ["postgres://u:s3cret@db:port/q", "have ports from 1 to 65535"],
  ["postgres://u:s3cret@db:99999/q", "have ports from 1 to 65535"],
  ["postgres://u:s3cret%@db/q", "have %25 for each % alone"],
  ["postgres://u:1/s3cret@db/q", "have /, ?, # and % in its password percent-encoded"],
  ["postgres://u:1#s3cret@db/q", "have /, ?, # and % in its password percent-encoded"],
  ["postgres://u:s3cret@db/q?target_session_attrs=other", "have a target_session_attrs of any, read-write, read-only"],
  [
    "postgres://u:s3cret@db/q?sslmode=full",
    "have a sslmode of disable, allow, prefer, require, verify-ca, verify-full",
  ],
  [
    "postgres://u:s3cret@db/q?sslrootcert=/nowhere",
    "name usable PEM files in sslrootcert, sslcert, sslkey and sslcrl (ENOENT",
  ],
  ["postgres://u:s3cret@db/q?sslrootcert=system&sslmode=require", "have sslmode=verify-full with sslrootcert=system"],
])("%s is refused, without its password", (url, why) => {
  expect(() => parseDatabaseUrl(url)).toThrow(why);
  expect(() => parseDatabaseUrl(url)).toThrow(TypeError);
  expect(() => parseDatabaseUrl(url)).not.toThrow(/s3cret/);
});

test("a certificate without its key's pair is refused", () => {
  const [one, other] = [authority.issue("one"), authority.issue("other")];
  expect(() => driver(`postgres://h/q?sslcert=${one.cert_file}&sslkey=${other.key_file}`)).toThrow(
    /usable PEM files .*key/,
  );
});
