import postgres from "postgres";
import { expect, test } from "vitest";
import { databaseUrlFault } from "./database-url.ts";

test.each([
  "postgres://localhost/queue",
  "postgresql://queue:p%25s%40t@db.internal:5432/queue?sslmode=require",
  "postgres://queue:p@ss,word@db1:5432,db2:5433/queue?target_session_attrs=primary",
  "postgres://queue:secret@db",
])("%s can be used, and the driver reads it", (url) => {
  expect(databaseUrlFault(url)).toBeUndefined();
  expect(() => postgres(url)).not.toThrow();
});

test.each([
  ["mysql://localhost/queue", "be a URL such as postgres://user:password@host:5432/database"],
  ["postgres:///queue", "be a URL such as"],
  ["postgres://queue:s3cret@db1,/queue", "be a URL such as"],
  ["postgres://queue:s3cret@db:port/queue", "be a URL such as"],
  ["postgres://queue:s3cret%@db/queue", "have %25 for each % in its user and password"],
  ["postgres://queue:s3cret@%2Fvar%2Frun%2Fpostgresql:5432,db2:5432/queue", "name its hosts without any %"],
  ["postgres://queue:s3cret@db1:6432,db2/queue", "name a port for each of its hosts or for none"],
  ["postgres://queue:s3cret@[::1]:5432/queue", "name its host rather than an IPv6 address"],
  [
    "postgres://queue:s3cret@db/queue?target_session_attrs=any",
    'have a target_session_attrs of read-write, read-only, primary, standby, prefer-standby or none; got "any"',
  ],
])("%s is refused with why, and without its password", (url, why) => {
  expect(databaseUrlFault(url)).toContain(why);
  expect(databaseUrlFault(url)).not.toContain("s3cret");
});
