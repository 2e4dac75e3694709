import { eventually, ownServers, type Servers } from "@atlasqueue/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import postgres from "../driver.ts";
import { applyMissing } from "./apply-missing.ts";

// An autovacuum may take hours, and gives way only to who has waited for `deadlock_timeout`. We run as a role that sees
// little of others.

let servers: Servers;
let admin: postgres.Sql;
let sql: postgres.Sql;
beforeAll(async () => {
  servers = await ownServers();
  admin = postgres(servers.postgres.url, { max: 1, onnotice: () => {} });
  await admin`ALTER SYSTEM SET autovacuum_naptime = '1s'`;
  await admin`SELECT pg_reload_conf()`;
  await admin`CREATE ROLE plain LOGIN PASSWORD 'plain'`;
  const url = new URL(servers.postgres.url);
  await admin.unsafe(
    `GRANT CREATE ON DATABASE ${url.pathname.slice(1)} TO plain; GRANT CREATE ON SCHEMA public TO plain`,
  );
  url.username = url.password = "plain";
  sql = postgres(url.href, { max: 2, onnotice: () => {} });
});
afterAll(async () => {
  await Promise.all([admin, sql].map((one) => one.end({ timeout: 0 })));
  await servers.stop();
});

test("a migration does not wait for the end of an autovacuum", async () => {
  // As slow as it may be: it would take minutes.
  await sql`CREATE TABLE large WITH (autovacuum_vacuum_cost_delay = 100, autovacuum_vacuum_cost_limit = 1,
    autovacuum_vacuum_threshold = 1, autovacuum_enabled = false) AS SELECT generate_series(1, 200000) AS a`;
  await sql`DELETE FROM large WHERE a % 2 = 0`;
  await sql`ALTER TABLE large SET (autovacuum_enabled = true)`;
  await eventually(async () =>
    expect(await admin`SELECT FROM pg_stat_progress_vacuum WHERE relid = 'large'::regclass`).toHaveLength(1),
  );
  const told: string[] = [];
  const change = { sql: ["ALTER TABLE large ADD COLUMN b int"], hash: "1", folderMillis: 1 };
  await applyMissing(sql, [change], { tell: (line) => void told.push(line) });
  expect(told.join("\n")).toMatch(/waits for process \d+ \(autovacuum\)/);
});
