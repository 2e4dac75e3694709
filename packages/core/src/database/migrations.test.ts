import { readFileSync, readdirSync } from "node:fs";
import { createDatabase, eventually, postgresUrl, testDatabase } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { appliedIn, file } from "../../test/migrating.ts";
import postgres from "./driver.ts";
import { applyMissing } from "./migrating/apply-missing.ts";

// Expand, then contract: while a release rolls out, the one before it still runs, on the newer schema. So a migration
// only adds, and what is no longer used goes in the release after the next. `packages/system-tests/system/rolling.test.ts`
// has a running system take what is allowed.
const folder = new URL("../../../../drizzle/", import.meta.url);
/** The files after the first one, which makes all tables. */
const later = () => readdirSync(folder).filter((name) => name.endsWith(".sql") && name !== "0000_initial.sql");

/** What the version before would stumble over, in a table that it has. */
const forbidden: [RegExp, string][] = [
  [/\bDROP (TABLE|COLUMN|SCHEMA|TYPE|FUNCTION)\b/i, "takes away what the version before reads"],
  [/\bRENAME\b/i, "takes a name away; add the new one, fill both, drop the old one a release later"],
  [/\bALTER COLUMN \S+ (SET DATA )?TYPE\b/i, "rewrites the table under a lock, and changes what plans return"],
  [/\bSET NOT NULL\b/i, "refuses what the version before writes"],
  [/\bDROP DEFAULT\b/i, "refuses what the version before leaves out"],
  [/\bADD COLUMN (?!.*\bDEFAULT\b).*\bNOT NULL\b/i, "refuses rows of the version before, which has no value for it"],
  [/\bADD CONSTRAINT\b/i, "may refuse what the version before writes, and reads the whole table under a lock"],
  [/\bCREATE UNIQUE INDEX\b/i, "may refuse what the version before writes"],
];

function faultsOf(text: string): string[] {
  const withoutComments = text.replaceAll(/^\s*--(?!> statement-breakpoint).*$/gm, "");
  const statements = withoutComments.split("--> statement-breakpoint").flatMap((part) => part.split(/;\s*$/m));
  const made = [...withoutComments.matchAll(/CREATE TABLE (?:IF NOT EXISTS )?(?:"atlasqueue"\.)?"?(\w+)"?/gi)].map(
    ([, name]) => name,
  );
  return statements
    .map((statement) => statement.trim().replaceAll(/\s+/g, " "))
    .filter((statement) => {
      const [, table] = /(?:ALTER TABLE(?: ONLY)?|\bON) (?:"atlasqueue"\.)?"?(\w+)"?/i.exec(statement) ?? [];
      return statement !== "" && !made.includes(table);
    })
    .flatMap((statement) => {
      const found = forbidden.find(([pattern]) => pattern.test(statement));
      return found ? [`${statement}: ${found[1]}`] : [];
    });
}

test("a migration only adds, so that the version before goes on running", () => {
  for (const name of later()) expect([name, faultsOf(readFileSync(new URL(name, folder), "utf8"))]).toEqual([name, []]);
});

/** The tables that a file changes and does not make, as far as it names them. */
const changedBy = (text: string): string[] => {
  const made = [...text.matchAll(/CREATE TABLE (?:IF NOT EXISTS )?(?:"atlasqueue"\.)?"?(\w+)"?/gi)].map(
    ([, name]) => name,
  );
  const named = [
    ...text.matchAll(
      /^(?:ALTER TABLE(?: ONLY)?|CREATE (?:UNIQUE )?INDEX \S+ ON|UPDATE|INSERT INTO) (?:"atlasqueue"\.)?"?(\w+)"?/gim,
    ),
  ];
  return [...new Set(named.map(([, name = ""]) => name))].filter((name) => !made.includes(name));
};

test("a migration locks one table that is in use, as it and the version that runs would take two in different orders", () => {
  const several = later().filter((name) => changedBy(readFileSync(new URL(name, folder), "utf8")).length > 1);
  expect(several).toEqual([]);
  expect(changedBy('ALTER TABLE "a" ADD COLUMN "x" text;\nCREATE INDEX "i" ON "b" ("x");')).toEqual(["a", "b"]);
});

test("each table says which row is meant, as one that a publication has is not written to otherwise", async () => {
  const { database, drop } = await testDatabase();
  onTestFinished(drop);
  const tables = await database.sql<{ name: string; known_by: string | null }[]>`
    SELECT relname AS name, CASE
        WHEN relreplident = 'f' THEN 'row'
        WHEN relreplident = 'd' AND EXISTS (SELECT FROM pg_index WHERE indrelid = pg_class.oid AND indisprimary) THEN 'key'
      END AS known_by
    FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'atlasqueue'::regnamespace
    ORDER BY relname`;
  expect(tables.map(({ name }) => name)).toEqual(expect.arrayContaining(["jobs", "migrations"]));
  expect(tables.filter(({ known_by }) => known_by === null)).toEqual([]);
  // Whoever follows them looks for each row in the whole table, or an index of it: these stay short.
  expect(tables.filter(({ known_by }) => known_by === "row").map(({ name }) => name)).toEqual(short);
});

const short = ["queue_changes", "queue_starts"];

test("each migration has a transaction of its own: one that waits for its table holds no other", async () => {
  const created = await createDatabase(postgresUrl());
  onTestFinished(() => created.drop());
  const sql = postgres(created.url, { max: 4, onnotice: () => {} });
  onTestFinished(() => sql.end());
  await sql`CREATE TABLE one (a int)`;
  await sql`CREATE TABLE two (a int)`;
  const migrations = [
    file(1, "CREATE INDEX one_a ON one (a)"),
    file(2, "ALTER TABLE two ADD COLUMN b int", "CREATE INDEX two_b ON two (b)"),
    file(3, "ALTER TABLE two ADD COLUMN c int", "SELECT wrong"),
  ];
  let applying: Promise<unknown> | undefined;
  await sql.begin(async (running) => {
    await running`LOCK TABLE two IN ROW EXCLUSIVE MODE`;
    applying = applyMissing(sql, migrations).catch((error: unknown) => error);
    await eventually(async () =>
      expect(
        await sql`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      ).toHaveLength(1),
    );
    await running`LOCK TABLE one IN ROW EXCLUSIVE MODE NOWAIT`;
  });
  expect(await applying).toMatchObject({ message: expect.stringContaining("wrong") });
  expect(await appliedIn(sql)).toEqual(["1", "2"]);
  // What failed left nothing behind, and the next try goes on from there.
  await applyMissing(sql, [...migrations.slice(0, 2), file(3, "ALTER TABLE two ADD COLUMN c int")]);
  expect(await appliedIn(sql)).toEqual(["1", "2", "3"]);
});

test.each([
  'ALTER TABLE "jobs" DROP COLUMN "payload";',
  'ALTER TABLE "jobs" RENAME COLUMN "type" TO "kind";',
  'ALTER TABLE "jobs" ADD COLUMN "size" integer NOT NULL;',
  'ALTER TABLE "jobs" ALTER COLUMN "priority" SET DATA TYPE bigint;',
  'ALTER TABLE "jobs" ALTER COLUMN "result" SET NOT NULL;',
  'ALTER TABLE "jobs" ADD CONSTRAINT "positive" CHECK (priority > 0);',
  'CREATE UNIQUE INDEX "one" ON "jobs" USING btree ("type");',
])("%s is refused", (statement) => {
  expect(faultsOf(`CREATE TABLE "other" ("id" uuid);--> statement-breakpoint\n${statement}`)).toHaveLength(1);
});

test.each([
  'ALTER TABLE "jobs" ADD COLUMN "note" text;',
  'ALTER TABLE "jobs" ADD COLUMN "flag" boolean DEFAULT false NOT NULL;',
  'CREATE INDEX "jobs_note" ON "jobs" USING btree ("note");',
  'CREATE TABLE "new" ("id" uuid NOT NULL);--> statement-breakpoint\nCREATE UNIQUE INDEX "new_id" ON "new" ("id");',
])("%s is fine", (text) => {
  expect(faultsOf(text)).toEqual([]);
});
