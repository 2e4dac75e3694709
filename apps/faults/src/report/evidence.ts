import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Sql } from "postgres";
import type { Judged } from "./markdown.ts";

/**
 * Writes `evidence.json`: of each job that a finding names, its row and all its moves. What its submitter and its handlers
 * did is in the history, by its id.
 */
export async function keepEvidence(folder: string, sql: Sql, { findings }: Judged): Promise<void> {
  const ids = [...new Set(findings.flatMap(({ first }) => first.flatMap(({ job }) => job ?? [])))];
  const known = ids.filter((id) => /^[0-9a-f-]{36}$/.test(id));
  if (known.length === 0) return;
  const jobs = await sql`SELECT * FROM atlasqueue.jobs WHERE id IN ${sql(known)}`;
  const moves = await sql`SELECT * FROM faults_audit WHERE job IN ${sql(known)} ORDER BY seq`;
  writeFileSync(join(folder, "evidence.json"), `${JSON.stringify({ findings, jobs, moves }, null, 2)}\n`);
}
