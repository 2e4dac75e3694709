import { schemaNamed } from "../schema/name.ts";
import { makeTable, noteApplied, shippedMigrations } from "./journal.ts";

/**
 * What `migrateDatabase` runs on a database without AtlasQueue's tables, as a script for psql. `schema` is
 * `atlasqueue` by default. Throws a TypeError for a schema's name that is not accepted.
 *
 * @example
 * process.stdout.write(migrationScript({ schema: "emails" }));
 */
export function migrationScript({ schema }: { schema?: string | undefined } = {}): string {
  const { name, fill } = schemaNamed(schema);
  const migrations = shippedMigrations().flatMap((migration) => [
    `-- ${migration.tag}\nBEGIN`,
    ...migration.sql.map((text) => fill(text.trim().replace(/;$/, ""))),
    fill(noteApplied(migration)),
    "COMMIT",
  ]);
  const statements = [`CREATE SCHEMA IF NOT EXISTS "${name}"`, fill(makeTable), ...migrations];
  return statements.map((text) => `${text};\n`).join("");
}

/**
 * The statements that give a role what the API and the workers need, on the tables there are and on those that the role
 * that runs them makes later. `role` is a role's name, not quoted.
 *
 * @example
 * for (const text of grantStatements("app")) await sql.unsafe(text);
 */
export function grantStatements(role: string, { schema }: { schema?: string | undefined } = {}): string[] {
  const to = `TO "${role.replaceAll('"', '""')}"`;
  const inSchema = `IN SCHEMA "${schemaNamed(schema).name}"`;
  const rows = "SELECT, INSERT, UPDATE, DELETE";
  return [
    `GRANT USAGE ON SCHEMA "${schemaNamed(schema).name}" ${to}`,
    `GRANT ${rows} ON ALL TABLES ${inSchema} ${to}`,
    `GRANT USAGE ON ALL SEQUENCES ${inSchema} ${to}`,
    `GRANT EXECUTE ON ALL FUNCTIONS ${inSchema} ${to}`,
    `ALTER DEFAULT PRIVILEGES ${inSchema} GRANT ${rows} ON TABLES ${to}`,
    `ALTER DEFAULT PRIVILEGES ${inSchema} GRANT USAGE ON SEQUENCES ${to}`,
    `ALTER DEFAULT PRIVILEGES ${inSchema} GRANT EXECUTE ON FUNCTIONS ${to}`,
  ];
}

/**
 * The statements that let a role submit jobs for one tenant with the functions `submit`, `submit_job` and `submit_flow`, and do nothing
 * else. A role has one tenant: the newest grant's. PostgreSQL refuses a tenant that does not exist.
 *
 * @example
 * for (const text of grantSubmitStatements("shop", { tenant: "acme" })) await sql.unsafe(text);
 */
export function grantSubmitStatements(
  role: string,
  { tenant, schema }: { tenant: string; schema?: string | undefined },
): string[] {
  const literal = (text: string) => `'${text.replaceAll("'", "''")}'`;
  return [schemaNamed(schema).fill("SELECT atlasqueue.grant_submit(") + `${literal(role)}, ${literal(tenant)})`];
}
