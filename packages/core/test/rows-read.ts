import type { Database } from "../src/database/connect.ts";
import { executeOn, type Statement } from "../src/database/statement.ts";

type Plan = {
  "Relation Name"?: string;
  "Actual Rows": number;
  "Rows Removed by Filter"?: number;
  "Actual Loops": number;
  "Shared Hit Blocks": number;
  "Shared Read Blocks": number;
  Plans?: Plan[];
};

type Read = (deps: { database: Database }) => Promise<unknown>;

/**
 * How many rows of tables the statements of `read` take up, also those that a filter then throws away: what they cost,
 * whatever the machine. Of one table, or of all. Each statement runs once more, to be explained.
 *
 * @example
 * expect(await rowsRead(database, (deps) => readSeries(deps, "default", { window: "1h" }))).toBeLessThanOrEqual(61);
 */
export async function rowsRead(database: Database, read: Read, table?: string): Promise<number> {
  const plans = await plansOf(database, read);
  return plans.reduce((sum, plan) => sum + rowsIn(plan, table), 0);
}

/** How many pages of 8 KB they look at: entries of an index that lead to no row any more cost as well. */
export async function pagesRead(database: Database, read: Read): Promise<number> {
  const plans = await plansOf(database, read);
  return plans.reduce((sum, plan) => sum + plan["Shared Hit Blocks"] + plan["Shared Read Blocks"], 0);
}

async function plansOf(database: Database, read: Read): Promise<Plan[]> {
  const sent: Statement[] = [];
  const unsafe: typeof database.sql.unsafe = (text, params, options) => {
    sent.push({ text, params: (params ?? []) as Statement["params"] });
    return database.sql.unsafe(text, params, options);
  };
  await read({ database: { ...database, sql: { unsafe } as Database["sql"] } });
  const plans: Plan[] = [];
  for (const { text, params } of sent) {
    const [row] = await executeOn(database)<{ "QUERY PLAN": [{ Plan: Plan }] }>({
      text: `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`,
      params,
    });
    const plan = row?.["QUERY PLAN"][0].Plan;
    if (!plan) throw new Error(`no plan for ${text}`);
    plans.push(plan);
  }
  return plans;
}

function rowsIn(plan: Plan, table: string | undefined): number {
  const of = plan["Relation Name"];
  const counts = of !== undefined && (table === undefined || of === table);
  const here = counts ? (plan["Actual Rows"] + (plan["Rows Removed by Filter"] ?? 0)) * plan["Actual Loops"] : 0;
  return (plan.Plans ?? []).reduce((sum, part) => sum + rowsIn(part, table), here);
}
