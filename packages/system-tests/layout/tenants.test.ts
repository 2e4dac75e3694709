import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

// Guarantee 12: the tenant is in every WHERE. PostgreSQL does not check it: see the API's README.
const core = fileURLToPath(new URL("../../core/src", import.meta.url));

const aboutTheServer = "asks about the server or the schema, not about jobs";

/** Statements no caller can point at another tenant's rows, and why. */
const exempt: Record<string, string> = {
  "database/server/cancel-late.ts": aboutTheServer,
  "database/migrating/apply-missing.ts": aboutTheServer,
  "database/migrating/journal.ts": aboutTheServer,
  "database/server/refresh-statistics.ts": aboutTheServer,
  "database/server/connections.ts": aboutTheServer,
  "database/server/version.ts": aboutTheServer,
  "database/transaction.ts": aboutTheServer,
  "dead-letters/count.ts": "its conditions are those of dead-pages.ts, which name the tenant",
  "dead-letters/bulk.ts": "its conditions are those of pages.ts, which name the tenant",
  "flows/awaited.ts": "part of statements, over a job that the rest of them chose by tenant",
  "flows/keeping/ended-flows.ts": "part of the cleaner's statements, over all tenants",
  "flows/keeping/overdue-edges.ts": "the doctor's, over all tenants",
  "jobs/wait-finished.ts": "says only that ids have finished; the caller looks the job up before and after",
  "maintenance/sweep/recovery-gate.ts": "the sweep's: it asks whether there is any claim",
  "database/server/readiness.ts": "asks for an impossible job, to learn whether the database answers",
  "maintenance/prune.ts": "the cleaner's, over all tenants",
  "maintenance/bisect-on-error.ts": "retention's, over all tenants",
  "maintenance/clear-results.ts": "the cleaner's, over all tenants",
  "maintenance/retention.ts": aboutTheServer,
  "lease/fence.ts": "the fence itself; a remote worker's ids go through find-leased first",
  "submit/pending/admit.ts": "the drainer's, over rows of the outbox of all tenants",
  "operations/page.ts": "over ids that a replay's own walk chose, by its tenant",
  "dead-letters/rebuild-list.ts": "the sweep's, over all tenants",
  "tokens/signing-key.ts": "a system-wide key, which no caller sees or names",
  "settle/settle.ts": "by the lease's token; a remote worker's ids go through find-leased first",
  "rollups/columns.ts": "part of statements, over rows that the rest of them name by tenant",
  "database/clauses.ts": "part of statements, over jobs chosen by the rest of them",
  "database/server/rights.ts": "rights on whole tables, as a program starts",
  "signal/redis-owner.ts": aboutTheServer,
  "memory-budget/bytes.ts": "part of statements, over rows that the rest of them chose by tenant",
};

const statement = /\b(SELECT|INSERT INTO|UPDATE|DELETE FROM)\s+[\w*(]/;
/** Texts between quotes or backticks. */
const texts = (source: string) =>
  [...source.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "").matchAll(/`(?:[^`\\]|\\.)*`|"(?:[^"\\\n]|\\.)*"/g)].map(
    ([text]) => text,
  );
const code = (source: string) => source.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$|^import .*$/gm, "");
const read = (file: string) => readFileSync(`${core}/${file}`, "utf8");
/** Uses drizzle's query builder, without any SQL text. */
const builds = (source: string) => /\bplain\((?:deps\.)?database\b/.test(code(source));
const namesTenant = (source: string) =>
  (builds(source) ? [code(source)] : texts(source)).some((text) => /\btenant\b/.test(text));

const files = readdirSync(core, { recursive: true, encoding: "utf8" })
  .map((file) => file.replaceAll("\\", "/"))
  .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"));
const withSql = files.filter((file) => builds(read(file)) || texts(read(file)).some((text) => statement.test(text)));
const without = withSql.filter((file) => !namesTenant(read(file)));

test("every file with SQL for callers names the tenant", () => {
  expect(withSql.length).toBeGreaterThan(20);
  expect(without.filter((file) => !(file in exempt))).toEqual([]);
});

test("no exemption is left over", () => {
  expect(Object.keys(exempt).filter((file) => !without.includes(file))).toEqual([]);
});
