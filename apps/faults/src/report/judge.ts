import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Sql } from "postgres";
import { readAudit } from "../audit/read-audit.ts";
import { readFinal } from "../audit/read-final.ts";
import { check } from "../check/check.ts";
import { gather } from "../check/gather.ts";
import { readHistory } from "../history/read-history.ts";
import { figuresOf } from "./figures.ts";
import { markdownOf, type Judged } from "./markdown.ts";

/**
 * What a run was worth, when all is quiet: its history, what the trigger noted and what is left, checked and counted. `dead_list`
 * is the list in Redis.
 *
 * @example
 * const { findings } = await judge(history, sql, await redis.lrange("atlasqueue:dlq", 0, -1));
 */
export async function judge(history: string, sql: Sql, dead_list: string[]): Promise<Judged> {
  const facts = await gather(readHistory(history), readAudit(sql), await readFinal(sql, dead_list));
  const findings = check(facts);
  return { figures: figuresOf(facts, findings), findings };
}

/** Writes `figures.md` and `figures.json`. */
export function publish(folder: string, judged: readonly Judged[]): void {
  writeFileSync(join(folder, "figures.md"), `${markdownOf(judged)}\n`);
  writeFileSync(join(folder, "figures.json"), `${JSON.stringify(judged, null, 2)}\n`);
}
