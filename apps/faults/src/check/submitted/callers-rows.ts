import type { Invariant } from "../invariant.ts";
import { forgotten, mayBeForgotten } from "../trouble.ts";

export const callersRows: Invariant = {
  name: "callers-rows",
  sentence: "What a caller writes and the jobs of the same transaction are there together, or neither is",
  *find(facts, excuse) {
    const { submits, stories, final } = facts;
    const rows = new Set(final.rows);
    const made = new Set<string>();
    for (const { moves } of stories.values())
      if (moves[0]?.was === null && moves[0].nonce !== null) made.add(moves[0].nonce);
    for (const { row, jobs, known, to_ms } of submits) {
      if (row === undefined) continue;
      const [with_row, with_jobs] = [rows.has(row), jobs.filter(({ nonce }) => made.has(nonce)).length];
      const whole = with_row ? with_jobs === jobs.length : with_jobs === 0;
      if (!whole)
        yield {
          evidence: `of ${row}, the row ${with_row ? "is" : "is not"} there and ${with_jobs} of ${jobs.length} jobs are`,
        };
      else if (known === "ok" && !with_row && mayBeForgotten(facts, to_ms)) excuse(forgotten);
      else if (known === "ok" && !with_row) yield { evidence: `${row} was committed and is not there` };
      else if (known === "fail" && with_row) yield { evidence: `${row} was rolled back and is there` };
    }
  },
};
