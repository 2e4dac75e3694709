import { readFile } from "node:fs/promises";
import postgres from "postgres";

const statements = new URL("../../../../../packages/core/sql/", import.meta.url);

/** What every job goes through, and what clears up after it. */
const hot = [
  "submit/insert",
  "lease/claim",
  "settle/settle",
  "lease/forget-claims",
  "lease/recover",
  "counts/fold",
  "maintenance/promote",
  "maintenance/prune",
];

/**
 * How PostgreSQL would run each of the hot statements now: its plan for any parameters, without costs, as text.
 *
 * @example
 * const changed = changedPlans(before, await readPlans(servers.postgres));
 */
export async function readPlans(url: string): Promise<Map<string, string>> {
  const sql = postgres(url, { max: 1, fetch_types: false });
  try {
    const plans = new Map<string, string>();
    for (const name of hot) {
      const text = await readFile(new URL(`${name}.sql`, statements), "utf8");
      const lines = await sql.unsafe(`EXPLAIN (GENERIC_PLAN, COSTS OFF) ${text}`);
      plans.set(name, lines.map((line) => String(line["QUERY PLAN"])).join("\n"));
    }
    return plans;
  } finally {
    await sql.end({ timeout: 1 });
  }
}
