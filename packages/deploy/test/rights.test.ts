import { readFileSync } from "node:fs";
import { migrateDatabase } from "@atlasqueue/core";
import { grantStatements, grantSubmitStatements, migrationScript } from "@atlasqueue/core/internal/tools";
import { readApiConfig, startApi } from "@atlasqueue/api";
import { readWorkerConfig, startWorkers } from "@atlasqueue/worker-app";
import { eventually, testDatabase } from "@atlasqueue/harness";
import postgres from "postgres";
import { expect, onTestFinished, test } from "vitest";

const page = readFileSync(new URL("../../../apps/docs/pages/operate/rights.md", import.meta.url), "utf8");
const grants = /```sql\n([\s\S]*?)```/.exec(page)?.[1] ?? "";

test("the page has the lines that `migrate --grant` runs", () => {
  const unquoted = (text: string) => text.replaceAll('"', "");
  expect(grants.trim().split("\n")).toEqual(grantStatements("app").map((text) => `${unquoted(text)};`));
});

test("the printed script makes the tables that `migrate` makes, and rights are granted to a role that exists", async () => {
  const [made, printed] = [await testDatabase(), await testDatabase()];
  const role = `App "${process.pid}"`;
  const { sql } = printed.database;
  onTestFinished(async () => {
    await sql`DROP SCHEMA IF EXISTS "Odd-1" CASCADE`;
    await sql.unsafe(`DROP ROLE IF EXISTS "${role.replaceAll('"', '""')}"`);
    for (const one of [made, printed]) await one.drop();
  });
  const psql = postgres(printed.url, { max: 1, onnotice: () => {} });
  await psql.unsafe(migrationScript({ schema: "Odd-1" }));
  await psql.end();
  const columns = (of: typeof made, schema: string) =>
    of.database.sql`
      SELECT table_name, column_name, data_type, column_default IS NOT NULL AS has_default, is_nullable, collation_name
      FROM information_schema.columns WHERE table_schema = ${schema} ORDER BY table_name, ordinal_position`;
  expect([...(await columns(printed, "Odd-1"))]).toEqual([...(await columns(made, "atlasqueue"))]);
  const grant = () => migrateDatabase(printed.url, { schema: "Odd-1", grant: role });
  await expect(grant()).rejects.toThrow('there is no role "App');
  await sql.unsafe(`CREATE ROLE "${role.replaceAll('"', '""')}"`);
  await grant();
  const [rights] = await sql`SELECT has_table_privilege(${role}, '"Odd-1".jobs', 'UPDATE') AS rows`;
  expect(rights).toEqual({ rows: true });
  await sql.unsafe(`DROP OWNED BY "${role.replaceAll('"', '""')}"`);
});

test("a role with only the rights of the page runs a job, and may use tables that come later", async () => {
  const own = await testDatabase();
  const { sql } = own.database;
  const role = `app_${process.pid}`;
  await sql.unsafe(`CREATE ROLE ${role} LOGIN PASSWORD 'app'; ${grants.replaceAll(/\bapp\b/g, role)}`);
  onTestFinished(async () => {
    await sql.unsafe(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
    await own.drop();
  });
  const DATABASE_URL = Object.assign(new URL(own.url), { username: role, password: "app" }).href;
  const settings = { DATABASE_URL, REDIS_URL: "", LOG_LEVEL: "silent" };
  const api = await startApi(readApiConfig({ ...settings, API_PORT: "0" }));
  onTestFinished(() => api.stop());
  const worker = await startWorkers(readWorkerConfig({ ...settings, WORKER_METRICS_PORT: "0" }), {});
  onTestFinished(async () => void (await worker.stop()));
  const headers = { "content-type": "application/json", "idempotency-key": "first" };
  const body = JSON.stringify({ type: "noop", payload: {} });
  const submitted = await fetch(`${api.url}/v1/jobs`, { method: "POST", headers, body });
  const { id } = (await submitted.json()) as { id: string };
  expect([submitted.status, id]).toEqual([201, expect.any(String)]);
  await eventually(async () => {
    expect(await (await fetch(`${api.url}/v1/jobs/${id}`)).json()).toMatchObject({ status: "succeeded" });
  });
  const [never] = await sql`SELECT reltuples::int AS rows FROM pg_class WHERE oid = 'atlasqueue.jobs'::regclass`;
  const granted = postgres(DATABASE_URL, { max: 1 });
  await granted`SELECT atlasqueue.refresh_statistics('jobs')`;
  await granted.end();
  const [known] = await sql`SELECT reltuples::int AS rows FROM pg_class WHERE oid = 'atlasqueue.jobs'::regclass`;
  expect([never, known]).toEqual([{ rows: -1 }, { rows: 1 }]);
  await sql`CREATE TABLE atlasqueue.later (id bigserial PRIMARY KEY)`;
  const [rights] = await sql`
    SELECT has_table_privilege(${role}, 'atlasqueue.later', 'DELETE') AS rows, has_sequence_privilege(${role}, 'atlasqueue.later_id_seq', 'USAGE') AS ids`;
  expect(rights).toEqual({ rows: true, ids: true });
});

test("a role of `migrate --grant-submit` submits jobs of its tenant and does nothing else, in a schema of any name", async () => {
  const own = await testDatabase();
  const { sql } = own.database;
  const role = `Shop "${process.pid}"`;
  const quoted = `"${role.replaceAll('"', '""')}"`;
  const schema = "Odd-1";
  onTestFinished(async () => {
    await sql.unsafe(`DROP SCHEMA IF EXISTS "${schema}" CASCADE; DROP OWNED BY ${quoted}; DROP ROLE ${quoted}`);
    await own.drop();
  });
  await sql.unsafe(`CREATE ROLE ${quoted}`);
  const grant = (tenant: string) => migrateDatabase(own.url, { schema, grantSubmit: { role, tenant } });
  await expect(grant("it's")).rejects.toThrow(`there is no tenant "it's"; create it first`);
  await sql.unsafe(`INSERT INTO "Odd-1".tenants (tenant) VALUES ('it''s')`);
  for (const tenant of ["default", "it's", "it's"]) await grant(tenant);
  expect(grantSubmitStatements(role, { schema, tenant: "acme" })).toHaveLength(1);
  const asRole = (text: string) =>
    sql.begin(async (tx) => {
      await tx.unsafe(`SET LOCAL ROLE ${quoted}`);
      return [...(await tx.unsafe(text))];
    });
  const key = `'{"idempotency_key": "k"}'`;
  const [first] = await asRole(`SELECT "Odd-1".submit('noop', '{}', ${key}) AS id`);
  expect(await asRole(`SELECT "Odd-1".submit('noop', '{}', ${key}) AS id`)).toEqual([first]);
  expect([...(await sql`SELECT id, tenant FROM "Odd-1".jobs`)]).toEqual([{ ...first, tenant: "it's" }]);
  for (const text of [
    `SELECT FROM "Odd-1".jobs`,
    `SELECT "Odd-1".submitting_tenant('default')`,
    `SELECT "Odd-1".grant_submit('me', 'default')`,
    `SELECT "Odd-1".refresh_statistics('jobs')`,
    `SELECT "Odd-1".submit('noop', '{}', '{"tenant": "default"}')`,
  ])
    await expect(asRole(text)).rejects.toMatchObject({ code: "42501" });
});
