import { forFile, testDatabase } from "@atlasqueue/harness";
import { beforeAll, expect, test } from "vitest";
import { allStatements } from "../../test/all-statements.ts";

const own = forFile(testDatabase);
let statements: Awaited<ReturnType<typeof allStatements>>;
beforeAll(async () => void (statements = await allStatements()));

type Plan = { "Node Type": string; "Relation Name"?: string; "Index Name"?: string; Plans?: Plan[] };
const conditions = ["Index Cond", "Filter", "Join Filter"] as const;

/** Their first column is the id. */
const leadToIds = new Set(["jobs_pkey"]);

/** Nodes that look for ids of jobs in the whole table, or in the whole of some other index. */
function* walks(plan: Plan & Partial<Record<(typeof conditions)[number], string>>): Generator<string> {
  const { "Node Type": kind, "Relation Name": table, "Index Name": index = "" } = plan;
  const looks = (table === "jobs" && !/^(Bitmap Heap|Tid) Scan$/.test(kind)) || index.startsWith("jobs_");
  const asked = conditions.flatMap((one) => plan[one] ?? []).filter((one) => /\bid = /.test(one));
  if (looks && asked.length > 0 && !leadToIds.has(index)) yield `${kind} ${index || "jobs"}: ${asked.join(", ")}`;
  for (const part of plan.Plans ?? []) yield* walks(part);
}

// Made while no job waited or was dead, a plan takes the indexes of those for empty, and is kept when they are not.
test("jobs named by their ids are found by them, though the statistics say that no job waits or is dead", async () => {
  const { sql } = own.database;
  await sql`
    INSERT INTO atlasqueue.jobs (id, tenant, queue, type, status, payload, max_attempts, run_at, created_at, updated_at, finished_at)
    SELECT uuidv7(make_interval(secs => -n)), 'default', 'q', 't', 'succeeded', '{}', 5, now(), now(), now(), now()
    FROM generate_series(1, 50000) AS n`;
  await sql`VACUUM ANALYZE atlasqueue.jobs`;
  const found: string[] = [];
  for (const { name, text } of statements) {
    const rows = await sql.unsafe<{ "QUERY PLAN": [{ Plan: Plan }] }[]>(`EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${text}`);
    for (const { "QUERY PLAN": plans } of rows)
      for (const { Plan } of plans) for (const walk of walks(Plan)) found.push(`${name}: ${walk}`);
  }
  expect(found).toEqual([]);
});
