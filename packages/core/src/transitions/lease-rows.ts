import type { Lease } from "./claim.ts";

/** Leases as the JSON parameter of a fenced UPDATE: `json_to_recordset(…) AS input(id uuid, token uuid)`. */
export function leaseRows(leases: readonly Pick<Lease, "id" | "lease_token">[]): string {
  return JSON.stringify(leases.map(({ id, lease_token }) => ({ id, token: lease_token })));
}
