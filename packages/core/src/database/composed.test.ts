import { readdir } from "node:fs/promises";
import { forFile, testDatabase } from "@atlasqueue/harness";
import { beforeAll, expect, test } from "vitest";
import { allStatements } from "../../test/all-statements.ts";

const snapshots = new URL("../../sql/", import.meta.url);

const own = forFile(testDatabase);
let statements: Awaited<ReturnType<typeof allStatements>>;
beforeAll(async () => void (statements = await allStatements()));

const named = ({ parameters }: { parameters: readonly string[] }) =>
  parameters.map((name, at) => `-- $${at + 1} ${name}\n`).join("");

test("each composed statement is whole in sql/, as PostgreSQL gets it, with its parameters named", async () => {
  const names = statements.map(({ name }) => name);
  expect(names.length).toBeGreaterThan(60);
  expect(new Set(names).size).toBe(names.length);
  for (const statement of statements) {
    const text = `${named(statement)}${statement.text.trim()};\n`;
    await expect(text).toMatchFileSnapshot(new URL(`${statement.name}.sql`, snapshots).pathname);
  }
  const files = await readdir(snapshots, { recursive: true });
  const there = files.filter((file) => file.endsWith(".sql")).map((file) => file.replace(/\.sql$/, ""));
  expect(there.filter((name) => !names.includes(name))).toEqual([]);
});

// A cast in a kept plan is evaluated for each row: a settlement of 250 jobs with results took seventeen times as long.
test("a parameter that holds the values of many jobs is parsed once per statement, in a sub-select", () => {
  for (const { name, text } of statements)
    expect([name, text.match(/(?<!SELECT )\$\d+::text::jsonb/g)]).toEqual([name, null]);
});

test("PostgreSQL accepts each of them, and counts as many parameters as are named", async () => {
  for (const { name, parameters, text } of statements) {
    await own.database.sql.unsafe(`PREPARE one AS ${text}`).catch((error: unknown) => {
      throw new Error(`${name}: ${String(error)}`);
    });
    const [row] = await own.database.sql`
      SELECT cardinality(parameter_types)::int AS count FROM pg_prepared_statements WHERE name = 'one'`;
    await own.database.sql.unsafe("DEALLOCATE one");
    expect([name, row?.count]).toEqual([name, parameters.length]);
  }
});
