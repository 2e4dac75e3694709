import type { Deps } from "../deps.ts";
import { forgetEndedClaims } from "./forget-claims.ts";

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
