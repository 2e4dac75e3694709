import { batched } from "../batched.ts";
import type { Caller } from "../http/context.ts";
import type { FoundToken } from "@atlasqueue/core/internal/http";

/** A caller whose token was found, and the token's id, for noting its use. */
export type Known = Caller & { token_id: string; token_name: string };

/** Counted from the moment of asking the database, so that a revoked token is refused everywhere within 5 s. */
const trusted_ms = 4_500;
const unknown_ms = 4_500;
const known_max = 10_000;
const unknown_max = 1_000;
/** In one statement. */
const hashes_max = 500;

/**
 * What the database said about tokens, for a few seconds. All that are asked for while a statement is under way share
 * the next one: however many tokens are made up, they cost one connection and delay others by a statement or two, so
 * none has to be refused before it was looked up. Both memories are bounded: guesses can only push out guesses, as a token
 * must exist to be among the known.
 *
 * @example
 * const cache = createTokenCache((hashes) => findTokens(deps, hashes));
 * const known = await cache.ask(hashToken(token));
 */
export function createTokenCache(
  find: (hashes: readonly string[]) => Promise<Map<string, FoundToken>>,
  now: () => number = () => performance.now(),
) {
  // Oldest first, as each answer goes last.
  const known = new Map<string, { caller: Known; until: number }>();
  const unknown = new Map<string, number>();
  const asked = new Map<string, Promise<Known | undefined>>();

  const note = (hash: string, found: FoundToken | undefined, asked_at: number): Known | undefined => {
    known.delete(hash);
    if (!found) {
      unknown.set(hash, asked_at + unknown_ms);
      dropOldest(unknown, unknown_max);
      return undefined;
    }
    const caller = { tenant: found.tenant, scopes: new Set(found.scopes), token_id: found.id, token_name: found.name };
    known.set(hash, { caller, until: asked_at + Math.min(trusted_ms, found.expires_in_ms ?? Infinity) });
    dropOldest(known, known_max);
    return caller;
  };

  const look = batched({ items_max: hashes_max }, async (hashes: readonly string[]) => {
    // Taken before the query, whose snapshot is younger: what it says was still true then.
    const asked_at = now();
    const found = await find(hashes);
    return hashes.map((hash) => note(hash, found.get(hash), asked_at));
  });

  return {
    /**
     * Whose token has this hash; undefined when it is no one's. At once for one looked up a moment ago. Rejects as the
     * database does.
     */
    ask(hash: string): Known | undefined | Promise<Known | undefined> {
      const entry = known.get(hash);
      if (entry && entry.until > now()) return entry.caller;
      if ((unknown.get(hash) ?? -Infinity) > now()) return undefined;
      const before = asked.get(hash);
      if (before) return before;
      const own = look(hash).finally(() => asked.delete(hash));
      asked.set(hash, own);
      return own;
    },
    /** The next time, ask the database. */
    forget: (hash: string) => void known.delete(hash),
  };
}

function dropOldest<T>(entries: Map<string, T>, entries_max: number): void {
  if (entries.size <= entries_max) return;
  for (const [oldest] of entries) {
    entries.delete(oldest);
    return;
  }
}
