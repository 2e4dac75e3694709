import { numberArray, uuidArray } from "../database/literals.ts";
import type { Lease } from "./claim.ts";

type Held = Pick<Lease, "id" | "lease_token">;

/**
 * Leases as the first three parameters of a statement: their ids, for each which token it is under, and the tokens, as
 * jobs that were claimed together share one. `unnest($1::uuid[], $2::int[]) AS input(id, token)`.
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

/**
 * The fence: the job still runs under this token. The ids stand there a second time so that the rows are looked up by
 * primary key: for the join alone PostgreSQL may prefer to read the whole table.
 */
export const holdsLease = `jobs.id = ANY($1::uuid[]) AND jobs.id = input.id AND jobs.status = 'running'
    AND jobs.lease_token = ($3::uuid[])[input.token]`;

/** The input of statements that need nothing but the leases. */
export const leaseInput = "unnest($1::uuid[], $2::int[]) AS input(id, token)";
