import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";

const answer_ms_max = 1_000;

/**
 * How long a due job, or a lease whose end is due, has waited for a sweep, of all tenants. 0 if the database takes longer
 * than a second to say so, as where an index is full of dead entries.
 */
export async function sweepLateMs({ database }: Pick<Deps, "database">): Promise<number> {
  const hasty = { ...database, timeout_ms: Math.min(answer_ms_max, database.timeout_ms) };
  const rows = await executeOn(hasty)<{ late_ms: number }>({ text, params: [] }).catch(() => []);
  return rows[0]?.late_ms ?? 0;
}

// Each reads one end of an index.
const text = `
  SELECT greatest(0, extract(epoch FROM now() - least(
    (SELECT min(due_at) FROM atlasqueue.jobs),
    (SELECT check_at FROM atlasqueue.claims ORDER BY check_at LIMIT 1))) * 1000)::float8 AS late_ms`;
