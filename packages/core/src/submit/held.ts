import { composed } from "../database/composed.ts";
import { textArray } from "../database/literals.ts";
import type { Execute } from "../database/statement.ts";
import type { Draft } from "./insert-jobs.ts";

/** What a request must have for itself for the time of its statement: the row of a group, or of a unique key. */
export type Wanted = { of: "group" | "unique"; tenant: string; queue: string; name: string };

/** What is the same for those that want the same. */
export const nameOf = ({ of, tenant, queue, name }: Wanted): string => JSON.stringify([of, tenant, queue, name]);

/** The name of a request's group, if it has one. */
export const groupOf = ({ tenant, request: { queue, group } }: Draft): string | undefined =>
  group === undefined ? undefined : nameOf({ of: "group", tenant, queue, name: group });

/**
 * Those of what is wanted, by their names, that another transaction has locked at the moment. What is locked here is
 * free again with the answer.
 *
 * @example
 * const held = await heldAmong(execute, [{ of: "group", tenant, queue, name: "customer-17" }]);
 */
export async function heldAmong(execute: Execute, wanted: readonly Wanted[]): Promise<ReadonlySet<string>> {
  const asked = [...new Map(wanted.map((one) => [nameOf(one), one])).values()];
  if (asked.length === 0) return new Set();
  const params = (["of", "tenant", "queue", "name"] as const).map((column) =>
    textArray(asked.map((one) => one[column])),
  );
  const held = await execute<{ place: number }>({ text: look, params });
  return new Set(
    held.flatMap(({ place }) => {
      const one = asked[place - 1];
      return one ? [nameOf(one)] : [];
    }),
  );
}

const rowOf = (table: string, column: string, columns: string, lock: string) => `LATERAL (
    SELECT ${columns} FROM atlasqueue.${table} AS known
    WHERE (known.tenant, known.queue, known.${column}) = (wanted.tenant, wanted.queue, wanted.name) ${lock})`;
const heldIn = (of: Wanted["of"], table: string, column: string) => `
  SELECT place::int FROM wanted
  LEFT JOIN ${rowOf(table, column, "true AS exists", "OFFSET 0")} AS seen ON true
  LEFT JOIN ${rowOf(table, column, "true AS free", "FOR NO KEY UPDATE SKIP LOCKED")} AS part ON true
  WHERE wanted.of = '${of}' AND seen.exists IS DISTINCT FROM part.free`;

const look = composed(
  "submit/held-among",
  ["of", "tenants", "queues", "names"],
  `
  WITH wanted AS MATERIALIZED (
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) WITH ORDINALITY AS one(of, tenant, queue, name, place)
  ), of_groups AS MATERIALIZED (${heldIn("group", "job_groups", "group_key")}
  ), of_keys AS MATERIALIZED (${heldIn("unique", "unique_keys", "key")}
  )
  SELECT place FROM of_groups UNION ALL SELECT place FROM of_keys`,
);
