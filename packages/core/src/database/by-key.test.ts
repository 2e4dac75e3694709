import { forFile, testDatabase } from "@atlasqueue/harness";
import { beforeAll, expect, test } from "vitest";
import { allStatements } from "../../test/all-statements.ts";

const own = forFile(testDatabase);
let statements: Awaited<ReturnType<typeof allStatements>>;
beforeAll(async () => void (statements = await allStatements()));

type Plan = {
  "Node Type": string;
  "Relation Name"?: string;
  "Index Name"?: string;
  "Index Cond"?: string;
  Plans?: Plan[];
};

/** Nodes that go through all of a table, or all of an index of it. */
function* walks(plan: Plan, table: string): Generator<string> {
  const { "Node Type": kind, "Relation Name": of, "Index Name": index = "", "Index Cond": cond } = plan;
  if (of === table && /^(Seq|Index|Index Only) Scan$/.test(kind) && cond === undefined) yield `${kind} ${index}`;
  for (const part of plan.Plans ?? []) yield* walks(part, table);
}

/** Statements that go through all of a table, and what for. Nobody's jobs wait for them. */
const excused: Readonly<Record<string, string>> = {
  "claims dead-letters/purge": "which flows have a job that runs",
  "claims maintenance/prune": "which flows have a job that runs",
  "claims maintenance/clear-results": "which flows have a job that runs",
  "claims jobs/list-held-apart": "all jobs that run, if they are not too many",
  "claims maintenance/due-summary": "the first that is due",
  "claims maintenance/beat": "whether there is any",
  "claims lease/end-leases": "those of a worker whose process has ended",
  "flow_edges flows/overdue-edges": "a sample of them all",
  "outbox maintenance/due-summary": "whether there is any",
  "outbox outbox/take": "the first tenant with rows",
};

// What lives for a moment leaves dead entries behind while somebody's snapshot is open, and statistics that hardly any lives.
test.each([
  ["claims", "SELECT 'default', uuidv7(), 'w', now(), '{}' FROM generate_series(1, 50000)"],
  ["job_groups", "SELECT 'default', 'q', 'g' || n, 1, 1, '{}' FROM generate_series(1, 50000) AS n"],
  ["flow_edges", "SELECT 'default', uuidv7(), uuidv7(), 'cancel' FROM generate_series(1, 50000)"],
  ["outbox", "SELECT n, 'admit', 1, 'default', uuidv7()::text, 'key ' || n FROM generate_series(1, 50000) AS n"],
])("rows of %s are found by their keys, though the statistics say that hardly any are left", async (table, rows) => {
  const { sql } = own.database;
  await sql.unsafe(`ALTER TABLE atlasqueue.${table} SET (autovacuum_enabled = false)`);
  await sql.unsafe(`INSERT INTO atlasqueue.${table} ${rows}`);
  await sql.unsafe(`DELETE FROM atlasqueue.${table} WHERE ctid NOT IN (SELECT ctid FROM atlasqueue.${table} LIMIT 1)`);
  await sql.unsafe(`ANALYZE atlasqueue.${table}`);
  const found: string[] = [];
  for (const { name, text } of statements) {
    const plans = await sql.unsafe<{ "QUERY PLAN": [{ Plan: Plan }] }[]>(`EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${text}`);
    for (const { "QUERY PLAN": one } of plans)
      for (const { Plan } of one)
        for (const walk of walks(Plan, table)) if (!excused[`${table} ${name}`]) found.push(`${name}: ${walk}`);
  }
  expect(found).toEqual([]);
});

test("no statement reads jobs with parallel workers, even if they cost nothing", async () => {
  const { sql } = own.database;
  const free = ["parallel_setup_cost", "parallel_tuple_cost", "min_parallel_table_scan_size"];
  const parallel = await sql.begin(async (tx) => {
    for (const cost of free) await tx.unsafe(`SET LOCAL ${cost} = 0`);
    const found: string[] = [];
    for (const { name, text } of statements) {
      const plan = await tx.unsafe<{ "QUERY PLAN": string }[]>(`EXPLAIN (GENERIC_PLAN) ${text}`);
      if (plan.some((line) => / Parallel .* on jobs/.test(line["QUERY PLAN"]))) found.push(name);
    }
    return found;
  });
  expect(parallel).toEqual([]);
});
