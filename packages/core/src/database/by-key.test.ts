import { forFile, testDatabase } from "@atlasqueue/harness";
import { beforeAll, expect, test } from "vitest";
import { allStatements } from "../../test/all-statements.ts";

const own = forFile(testDatabase);
let statements: Awaited<ReturnType<typeof allStatements>>;
beforeAll(async () => void (statements = await allStatements()));

const conditions = ["Index Cond", "Filter", "Join Filter"] as const;
type Plan = Partial<Record<(typeof conditions)[number] | "Relation Name" | "Index Name", string>> & {
  "Node Type": string;
  Plans?: Plan[];
};

/** The nodes of all statements' plans that `walk` names, after the statement's name. */
async function nodes(walk: (plan: Plan) => string | undefined): Promise<string[]> {
  const found: string[] = [];
  const into = (name: string, plan: Plan): void => {
    const node = walk(plan);
    if (node !== undefined) found.push(`${name}: ${node}`);
    for (const part of plan.Plans ?? []) into(name, part);
  };
  for (const { name, text } of statements) {
    const explain = `EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${text}`;
    for (const row of await own.database.sql.unsafe<{ "QUERY PLAN": { Plan: Plan }[] }[]>(explain))
      for (const { Plan } of row["QUERY PLAN"]) into(name, Plan);
  }
  return found;
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

/** What lives for a moment, and rows of it. */
const shortLived: Readonly<Record<string, string>> = {
  claims: "SELECT 'default', uuidv7(), 'w', now(), '{}' FROM generate_series(1, 50000)",
  job_groups: "SELECT 'default', 'q', 'g' || n, 1, 1, '{}' FROM generate_series(1, 50000) AS n",
  flow_edges: "SELECT 'default', uuidv7(), uuidv7(), 'cancel' FROM generate_series(1, 50000)",
  outbox: "SELECT n, 'admit', 1, 'default', uuidv7()::text, 'key ' || n FROM generate_series(1, 50000) AS n",
};

// While a snapshot is open, their dead entries stay in the indexes, and the statistics count hardly any living row.
test("rows that live for a moment are found by their keys, though the statistics say that hardly any are left", async () => {
  const { sql } = own.database;
  for (const [name, rows] of Object.entries(shortLived)) {
    const table = `atlasqueue.${name}`;
    await sql.unsafe(`ALTER TABLE ${table} SET (autovacuum_enabled = false)`);
    await sql.unsafe(`INSERT INTO ${table} ${rows}`);
    await sql.unsafe(`DELETE FROM ${table} WHERE ctid NOT IN (SELECT ctid FROM ${table} LIMIT 1)`);
    await sql.unsafe(`ANALYZE ${table}`);
  }
  const whole = await nodes(
    ({ "Node Type": kind, "Relation Name": table = "", "Index Name": index = "", "Index Cond": cond }) =>
      table in shortLived && /^(Seq|Index|Index Only) Scan$/.test(kind) && cond === undefined
        ? `${table}: ${kind} ${index}`
        : undefined,
  );
  const of = (node: string) => node.split(": ").slice(0, 2).toReversed().join(" ");
  expect(whole.filter((node) => !excused[of(node)])).toEqual([]);
});

/** Their first column is the id. */
const leadToIds = new Set(["jobs_pkey"]);

// Made while no job waited or was dead, a plan takes the indexes of those for empty, and is kept when they are not.
test("jobs named by their ids are found by them, though the statistics say that no job waits or is dead", async () => {
  const { sql } = own.database;
  await sql`
    INSERT INTO atlasqueue.jobs (id, tenant, queue, type, status, payload, max_attempts, run_at, created_at, updated_at, finished_at)
    SELECT uuidv7(make_interval(secs => -n)), 'default', 'q', 't', 'succeeded', '{}', 5, now(), now(), now(), now()
    FROM generate_series(1, 50000) AS n`;
  await sql`VACUUM ANALYZE atlasqueue.jobs`;
  const elsewhere = await nodes((plan) => {
    const { "Node Type": kind, "Relation Name": table, "Index Name": index = "" } = plan;
    const looks = (table === "jobs" && !/^(Bitmap Heap|Tid) Scan$/.test(kind)) || index.startsWith("jobs_");
    const asked = conditions.flatMap((one) => plan[one] ?? []).filter((one) => /\bid = /.test(one));
    return looks && asked.length > 0 && !leadToIds.has(index)
      ? `${kind} ${index || "jobs"}: ${asked.join(", ")}`
      : undefined;
  });
  expect(elsewhere).toEqual([]);
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
