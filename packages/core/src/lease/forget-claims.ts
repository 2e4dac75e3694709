import type { Deps } from "../deps.ts";
import { composed } from "../database/composed.ts";
import { lockTimeout, asyncCommit } from "../database/clauses.ts";
import { executeOn } from "../database/statement.ts";
import { textArray, uuidArray } from "../database/literals.ts";

export type ClaimCleaner = {
  /** Jobs of these claims have been settled. */
  settled(tokens: Iterable<string>): void;
  stop(): void;
};

const rest_ms = 1_000;
const batch_max = 1_000;
/** Claims beyond that are left to the sweep, which finds each when its leases would have ended. */
const tokens_max = 20_000;

/**
 * Clears away the claims that remote workers have settled to the last job, a second's worth at a time. On its own, the
 * sweep looks at a thousand claims a second, and remote workers that take one job at a time make more.
 *
 * @example
 * const cleaner = createClaimCleaner(deps);
 * cleaner.settled([lease_token]);
 */
export function createClaimCleaner(deps: Deps): ClaimCleaner {
  const tokens = new Set<string>();
  let timer: NodeJS.Timeout | undefined;

  const clean = async (): Promise<void> => {
    const all = [...tokens];
    tokens.clear();
    try {
      for (let at = 0; at < all.length; at += batch_max) await forgetEndedClaims(deps, all.slice(at, at + batch_max));
    } catch {
      // The sweep finds them; nothing may be thrown from a timer.
    }
  };

  return {
    settled(settled) {
      for (const token of settled) if (tokens.size < tokens_max) tokens.add(token);
      timer ??= setTimeout(() => {
        timer = undefined;
        void clean();
      }, rest_ms).unref();
    },
    stop: () => clearTimeout(timer),
  };
}

/**
 * Delete claims whose jobs, as their holder knows, have all ended. Spares the sweep a look; a crash before this costs
 * only that look, so it is not synced to disk.
 */
export async function forgetClaims(
  deps: Deps,
  claims: readonly { tenant: string; lease_token: string }[],
): Promise<void> {
  if (claims.length === 0) return;
  const params = [uuidArray(claims.map((one) => one.lease_token)), textArray(claims.map((one) => one.tenant))];
  await executeOn(deps.database)({ text: forget, params });
}

// By key: a join with the tenants would be planned by statistics, which may be old.
const forget = composed(
  "lease/forget-claims",
  ["tokens", "tenants"],
  `DELETE FROM atlasqueue.claims
   WHERE token = ANY($1::uuid[]) AND tenant = ($2::text[])[array_position($1::uuid[], token)] AND ${asyncCommit} AND ${lockTimeout}`,
);

/**
 * Empty those of the claims whose jobs have all ended, for callers that settled some of the jobs and do not know about
 * the others. The sweep deletes the row a minute later, as a remote worker's token leases once. A crash before this costs
 * the sweep only a look, so it is not synced to disk.
 */
export async function forgetEndedClaims(deps: Pick<Deps, "database">, tokens: readonly string[]): Promise<void> {
  if (tokens.length > 0) await executeOn(deps.database)({ text: forgetEnded, params: [uuidArray(tokens)] });
}

/** The row of a claim whose jobs have all ended. */
export const asEnded = "job_ids = '{}', check_at = now() + interval '60 seconds'";

// By primary key of the jobs, claim by claim: as a join it would be planned for the average claim, whatever its size.
const forgetEnded = composed(
  "lease/forget-ended-claims",
  ["tokens"],
  `
  UPDATE atlasqueue.claims SET ${asEnded} WHERE token = ANY($1::uuid[]) AND job_ids <> '{}' AND ${asyncCommit} AND ${lockTimeout}
    AND (SELECT count(*) FROM atlasqueue.jobs WHERE jobs.id = ANY(job_ids) AND status = 'running'
           AND lease_token = claims.token) = 0`,
);
