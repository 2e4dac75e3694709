import type { Database } from "../database/connect.ts";
import { uuidArray } from "../database/literals.ts";
import type { Lease } from "./claim.ts";

/** Leases as the input of a fenced UPDATE: `FROM ${leaseRows(…)} WHERE jobs.id = input.id AND jobs.lease_token = input.token`. */
export function leaseRows({ sql }: Database, leases: readonly Pick<Lease, "id" | "lease_token">[]) {
  return sql`unnest(${uuidArray(leases.map((lease) => lease.id))}::uuid[],
                    ${uuidArray(leases.map((lease) => lease.lease_token))}::uuid[]) AS input(id, token)`;
}
