import { composed } from "../database/composed.ts";
import { lockTimeout, asyncCommit } from "../database/clauses.ts";
import { numberArray, textArray } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { mergedInto, sumColumns } from "./columns.ts";
import type { Rollup } from "./tally.ts";

/**
 * Add figures that are `age_ms` old to their minutes, in one statement. Not synced to disk: a crash of the
 * database may forget the last of them.
 *
 * @example
 * await writeRollups(deps, tally.take(), 0);
 */
export async function writeRollups(
  deps: Pick<Deps, "database">,
  rollups: readonly Rollup[],
  age_ms: number,
): Promise<void> {
  const texts = (read: (row: Rollup) => string) => textArray(rollups.map(read));
  const numbers = (read: (row: Rollup) => number) => numberArray(rollups.map(read));
  const params = [
    texts((row) => row.tenant),
    texts((row) => row.queue),
    texts((row) => row.type),
    ...sumColumns.map((column) => numbers((row) => row[column])),
    texts((row) => numberArray(row.waits)),
    texts((row) => numberArray(row.runs)),
    age_ms / 1_000,
  ];
  await executeOn(deps.database)({ text, params });
}

const arrays = sumColumns.map((_, at) => `$${at + 4}::int[]`).join(", ");

// Rows in the same order everywhere, so that two flushes never deadlock.
const text = composed(
  "rollups/write",
  ["tenants", "queues", "types", ...sumColumns, "waits", "runs", "age_seconds"],
  `
  INSERT INTO atlasqueue.rollups AS known (tenant, queue, type, resolution, at, ${sumColumns.join(", ")}, waits, runs)
  SELECT tenant, queue, type, 'minute', date_trunc('minute', now() - make_interval(secs => $11::float8), 'UTC'),
         ${sumColumns.join(", ")}, waits::int8[], runs::int8[]
  FROM unnest($1::text[], $2::text[], $3::text[], ${arrays}, $9::text[], $10::text[])
    AS input(tenant, queue, type, ${sumColumns.join(", ")}, waits, runs)
  WHERE ${asyncCommit} AND ${lockTimeout}
  ORDER BY tenant COLLATE "C", queue COLLATE "C", type COLLATE "C"
  ON CONFLICT (tenant, queue, type, at, resolution) DO UPDATE SET ${mergedInto("known")}`,
);
