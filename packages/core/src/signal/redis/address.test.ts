import { expect, test } from "vitest";
import { parseRedisUrl } from "./address.ts";

const none = { username: undefined, password: undefined };

test("one server, by default at port 6379 and database 0", () => {
  const server = { host: "redis.internal", port: 6_379 };
  expect(parseRedisUrl("redis://redis.internal")).toEqual({ kind: "server", ...none, tls: false, server, database: 0 });
  expect(parseRedisUrl("rediss://jobs:p%40ss:word@[::1]:7000/3")).toEqual({
    kind: "server",
    username: "jobs",
    password: "p@ss:word",
    tls: true,
    server: { host: "::1", port: 7_000 },
    database: 3,
  });
  expect(parseRedisUrl("redis://:p@ss@127.0.0.1/")).toMatchObject({ ...none, password: "p@ss", database: 0 });
});

test("sentinels, with the name of the set and a login of their own", () => {
  const url = "rediss+sentinel://jobs:one@a:1,b/main?sentinel_username=watch&sentinel_password=t%26wo&database=2";
  expect(parseRedisUrl(url)).toEqual({
    kind: "sentinel",
    username: "jobs",
    password: "one",
    tls: true,
    sentinels: [
      { host: "a", port: 1 },
      { host: "b", port: 26_379 },
    ],
    set: "main",
    database: 2,
    sentinel_login: { username: "watch", password: "t&wo" },
  });
});

test("some servers of a cluster", () => {
  expect(parseRedisUrl("redis+cluster://10.0.0.1,10.0.0.2:7000/")).toEqual({
    kind: "cluster",
    ...none,
    tls: false,
    servers: [
      { host: "10.0.0.1", port: 6_379 },
      { host: "10.0.0.2", port: 7_000 },
    ],
  });
});

test.each([
  ["secret", "be a URL such as redis://host:6379", "something else (not shown)"],
  ["", "be a URL such as redis://host:6379", "something else (not shown)"],
  ["http://u:secret@host", "be a URL such as redis://host:6379", '"http://[hidden]@host"'],
  ["redis+ha://:secret@host", "be a URL such as redis://host:6379", '"redis+ha://[hidden]@host"'],
  ["redis://", "name each server as host or host:port", '"redis://"'],
  ["redis://:secret@", "name each server as host or host:port", '"redis://[hidden]@"'],
  ["redis://host:0", "name each server as host or host:port with a port from 1 to 65535", '"redis://host:0"'],
  ["redis://host:65536", "with a port from 1 to 65535", '"redis://host:65536"'],
  ["redis://host:six", "with a port from 1 to 65535", '"redis://host:six"'],
  ["redis://::1", 'host:port with a port from 1 to 65535, separated by commas (not "::1")', '"redis://::1"'],
  ["redis://a,b", "name one server; several are redis+cluster://… or redis+sentinel://…/name", '"redis://a,b"'],
  ["redis://a/jobs", "name its database as a number from 0 to 65535", '"redis://a/jobs"'],
  ["redis://a/-1", "name its database as a number", '"redis://a/-1"'],
  ["redis://a/1/2", "name its database as a number", '"redis://a/1/2"'],
  [
    "redis://a?password=secret",
    'have only family in its query, once each (not "password")',
    '"redis://a?password=[hidden]"',
  ],
  ["redis://jobs@a", "have a password after its user name, as in user:password@host", '"redis://[hidden]@a"'],
  ["redis://:se%cret@a", "have a password whose % signs are followed by two hexadecimal digits", "[hidden]@a"],
  ["redis://u%:secret@a", "have a user name whose % signs", "[hidden]@a"],
  ["redis+sentinel://a:1,b:2", "end in the name that the sentinels have", '"redis+sentinel://a:1,b:2"'],
  ["redis+sentinel://a:1/x/y", "end in the name that the sentinels have", '"redis+sentinel://a:1/x/y"'],
  ["redis+sentinel://:secret@a:1,,b:2/x", 'separated by commas (not "")', '"redis+sentinel://[hidden]@a:1,,b:2/x"'],
  ["redis+sentinel://a/x?database=one", "name its database as a number", "database=[hidden]"],
  [
    "redis+sentinel://a/x?sentinel_pasword=secret",
    'only database, sentinel_username, sentinel_password, family in its query, once each (not "sentinel_pasword")',
    "sentinel_pasword=[hidden]",
  ],
  ["redis+sentinel://a/x?database=1&database=2", 'once each (not "database")', "database=[hidden]&database=[hidden]"],
  ["redis+cluster://a,b/1", "have nothing after the servers: a cluster has only database 0", '"redis+cluster://a,b/1"'],
  ["redis+cluster://a:1,b:x", 'separated by commas (not "b:x")', '"redis+cluster://a:1,b:x"'],
  ["redis://a#secret", "be a URL such as redis://host:6379", '"redis://a#[hidden]"'],
  ["redis://:se/secret@a", "have a password whose /, ? and # are percent-encoded", '"redis://[hidden]@a"'],
  ["redis+cluster://:se?secret@a,b", "have a password whose /, ? and # are", '"redis+cluster://[hidden]@a,b"'],
])("%j is refused in one line that says what is accepted, and shows no secret", (url, accepts, got) => {
  const parse = () => parseRedisUrl(url);
  expect(parse).toThrow(accepts);
  expect(parse).toThrow(/; got /);
  expect(parse).toThrow(got);
  expect(parse).not.toThrow(/secret|se%cret|\n/);
});

test.each(["redis://a?family=0", "rediss+cluster://a,b?family=6", "redis+sentinel://a/x?database=1&family=4"])(
  "%s has the family that ioredis looks names up in",
  (url) => expect(parseRedisUrl(url).family).toBe(Number(url.at(-1))),
);

test("another family is refused", () => {
  expect(() => parseRedisUrl("redis://a?family=5")).toThrow("must have a family of 0, 4 or 6");
});
