import { limits } from "@atlasqueue/contract";
import { page_bytes_max } from "../memory-budget/bytes.ts";

/**
 * How many jobs a claim of this process may ask for, so that their payloads stay near `page_bytes_max` together. It begins
 * with as many of the largest payload as fit. The size of a payload is known only after its claim: when payloads suddenly grow, one claim takes more than that, up to
 * its number of jobs times the largest payload.
 */
export type ClaimSize = {
  /** How many, at most. */
  jobs_max(): number;
  /** Learns from what a claim leased. */
  note(leases: readonly { payload_bytes?: number }[]): void;
};

/**
 * For one process. The largest payload of a claim counts at once, and after each claim with smaller ones half as much.
 *
 * @example
 * const size = createClaimSize();
 * await claimReady(deps, Math.min(100, size.jobs_max()), { ...claimer, size });
 */
export function createClaimSize(): ClaimSize {
  let largest_bytes: number = limits.payload_bytes_max;
  return {
    jobs_max: () => Math.max(1, Math.floor(page_bytes_max / largest_bytes)),
    note(leases) {
      if (leases.length === 0) return;
      let bytes = 1;
      for (const { payload_bytes = 1 } of leases) if (payload_bytes > bytes) bytes = payload_bytes;
      largest_bytes = Math.max(bytes, largest_bytes / 2);
    },
  };
}
