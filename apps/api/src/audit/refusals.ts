import { localPermits, type Act, type RateLimit } from "@atlasqueue/core/internal/http";

/** Entries about one token's refused calls, in one process. */
const entries: RateLimit = { limit: 10, period_ms: 60_000 };
/** Tokens whose further calls are counted; the log has a line for each call. */
const tokens_max = 10_000;

/**
 * Bounds the entries about refused calls: the next entry that a token gets has the number of those it did not get.
 *
 * @example
 * const refusals = createRefusals();
 * const entry = refusals.entryOf(act);
 */
export function createRefusals(now?: () => number) {
  const draw = localPermits(now);
  const uncounted = new Map<string, number>();
  return {
    /** The entry to be stored; undefined for a call that is only counted. */
    entryOf(act: Act): Act | undefined {
      const token = act.actor.token_id ?? "";
      const refused = (uncounted.get(token) ?? 0) + 1;
      uncounted.delete(token);
      if (draw(token, [1], entries)[0]?.allowed) return { ...act, refused };
      uncounted.set(token, refused);
      if (uncounted.size > tokens_max) uncounted.delete(uncounted.keys().next().value ?? "");
      return undefined;
    },
  };
}
