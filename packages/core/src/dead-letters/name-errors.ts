import { composed } from "../database/composed.ts";
import { textArray, uuidArray } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { fingerprintOf } from "./fingerprint.ts";

/**
 * Name the errors of dead letters that have no fingerprint: those that died before there were any, or in a process of
 * an older version. Locked ones are passed over, and come next time. Returns how many it looked at.
 *
 * @example
 * while ((await nameErrors(deps, 500)) === 500);
 */
export async function nameErrors(deps: Pick<Deps, "database">, jobs_max: number): Promise<number> {
  const execute = executeOn(deps.database);
  const rows = await execute<{ id: string; last_error: string | null }>({ text: unnamed, params: [jobs_max] });
  if (rows.length === 0) return 0;
  const ids = uuidArray(rows.map(({ id }) => id));
  await execute({ text: name, params: [ids, textArray(rows.map(({ last_error }) => fingerprintOf(last_error)))] });
  return rows.length;
}

const unnamed = `
  SELECT id, last_error FROM jobs WHERE dead_at IS NOT NULL AND error_fingerprint IS NULL LIMIT $1::int
  FOR NO KEY UPDATE SKIP LOCKED`;

// One locked since the look is being replayed or removed.
const name = composed(
  "dead-letters/name-errors",
  ["ids", "fingerprints"],
  `
  WITH free AS MATERIALIZED (
    SELECT id FROM jobs WHERE id = ANY($1::uuid[]) AND dead_at IS NOT NULL AND error_fingerprint IS NULL
    FOR NO KEY UPDATE SKIP LOCKED
  )
  UPDATE jobs SET error_fingerprint = named.fingerprint
  FROM unnest($1::uuid[], $2::text[]) AS named(id, fingerprint)
  WHERE jobs.id = named.id AND jobs.id IN (SELECT id FROM free)`,
);
