import { hidden, numberArray, uuidArray } from "../database/literals.ts";
import type { Lease } from "./lease.ts";

type Held = Pick<Lease, "id" | "lease_token">;

/**
 * Leases as the first three parameters of a statement: their ids, the position of each one's token, and the tokens, as
 * jobs claimed together share one.
 */
export function leaseParams(leases: readonly Held[]): [ids: string, tokens: string, distinct: string] {
  const place = new Map<string, number>();
  const tokens = leases.map(({ lease_token }) => {
    const known = place.get(lease_token);
    if (known !== undefined) return known;
    place.set(lease_token, place.size + 1);
    return place.size;
  });
  return [uuidArray(leases.map(({ id }) => id)), numberArray(tokens), uuidArray([...place.keys()])];
}

/** What `leaseParams` returns, by name. */
export const leaseParameters = ["ids", "token_places", "tokens"];

/** The leases as rows. */
export const leaseInput = "unnest($1::uuid[], $2::int[]) AS input(id, token)";

/**
 * The fence, as a condition on `jobs`: the job is still running under this token. Jobs of one claim share it, so mostly
 * there is only one to compare with. Not a join, and inside the CASE PostgreSQL cannot make it one: it expects at most one
 * running job, and would read all the input for each of hundreds (a nested loop, 50 ms where hashing this sub-select
 * takes one). `= ANY` finds the rows by primary key.
 */
export const holdsLease = `jobs.id = ANY(${hidden("$1::uuid[]")}) AND jobs.status = 'running'
    AND CASE WHEN cardinality($3::uuid[]) = 1 THEN jobs.lease_token = ($3::uuid[])[1]
             ELSE (jobs.id, jobs.lease_token) IN (SELECT input.id, ($3::uuid[])[input.token] FROM ${leaseInput}) END`;

/**
 * The value of a job in a parameter made by `byJob`, by binary search. The sub-select parses the parameter once per
 * statement; in a kept plan, the bare cast would parse all of it again for each row.
 */
export const ofJob = (parameter: string, id = "jobs.id") => `((SELECT ${parameter}::text::jsonb) -> ${id}::text)`;

/** The same of a value that is a string, without its quotes. */
export const textOfJob = (parameter: string) => `((SELECT ${parameter}::text::jsonb) ->> jobs.id::text)`;

/** Values that differ per job, as one parameter; `ofJob` and `textOfJob` look them up. */
export function byJob<T>(leases: readonly Held[], valueOf: (at: number) => T | undefined): string {
  let members = "";
  for (let at = 0; at < leases.length; at += 1) {
    const value = valueOf(at);
    if (value !== undefined) members += `${members === "" ? "" : ","}"${leases[at]?.id}":${JSON.stringify(value)}`;
  }
  return `{${members}}`;
}
