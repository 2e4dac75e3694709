import type { Database } from "../database/connect.ts";
import { uuidArray } from "../database/literals.ts";
import type { Lease } from "./claim.ts";

type Held = Pick<Lease, "id" | "lease_token">;

/** The leases as the input of a fenced UPDATE: `FROM ${leaseRows(…)} WHERE ${holdsLease(…)}`. */
export function leaseRows({ sql }: Database, leases: readonly Held[]) {
  return sql`unnest(${idsOf(leases)}::uuid[], ${tokensOf(leases)}::uuid[]) AS input(id, token)`;
}

/**
 * The fence: the job still runs under this token. The ids stand there a second time so that the rows are looked up by
 * primary key: for the join alone PostgreSQL may prefer to read the whole table.
 */
export function holdsLease({ sql }: Database, leases: readonly Held[]) {
  return sql`jobs.id = ANY(${idsOf(leases)}::uuid[]) AND jobs.id = input.id AND jobs.lease_token = input.token
    AND jobs.status = 'running'`;
}

export const idsOf = (leases: readonly Held[]) => uuidArray(leases.map((lease) => lease.id));
export const tokensOf = (leases: readonly Held[]) => uuidArray(leases.map((lease) => lease.lease_token));
