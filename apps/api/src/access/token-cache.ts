import type { Caller } from "../http/context.ts";
import { localPermits, type FoundToken, type RateLimit } from "@atlasqueue/core/internal";

/** A caller whose token was found, and the token's id, for noting its use. */
export type Known = Caller & { token_id: string; token_name: string };

/** What the limits go by: the caller's network, and whether the token has its checksum. */
type Asked = { network: string; form: "checked" | "unchecked" };

export type TokenCache = {
  /**
   * Whose token has this hash; undefined when it is no one's. At once for one looked up a moment ago. Rejects with
   * `TooManyUnknownError`, or as the database does.
   */
  ask(hash: string, from: Asked): Known | undefined | Promise<Known | undefined>;
  /** The next time, ask the database. */
  forget(hash: string): void;
};

/** Unknown tokens were looked up too often: the database is for callers whose tokens are known. */
export class TooManyUnknownError extends Error {
  override readonly name = "TooManyUnknownError";
}

/** Counted from the moment of asking the database, so that a revoked token is refused everywhere within 5 s. */
const trusted_ms = 4_500;
const unknown_ms = 4_500;
const known_max = 10_000;
const unknown_max = 1_000;
/** Look-ups from one network of tokens this process has not known before. */
const of_network: RateLimit = { limit: 200, period_ms: 1_000 };
/**
 * From all networks together. Someone who knows how the checksum is made can guess well-formed tokens from many places:
 * that must not overwhelm the database. Without a checksum every guess is well-formed, so those have a separate limit.
 */
const of_all = {
  checked: { limit: 2_000, period_ms: 1_000 },
  unchecked: { limit: 200, period_ms: 1_000 },
} satisfies Record<Asked["form"], RateLimit>;

/**
 * What the database said about tokens, for a few seconds. Simultaneous callers with one token share a query. Both
 * memories are bounded: guesses can only push out guesses, as a token must exist to be among the known.
 *
 * @example
 * const cache = createTokenCache((hash) => findToken(deps, hash));
 * const known = await cache.ask(hashToken(token), { network: "10.1.2.3", form: "checked" });
 */
export function createTokenCache(
  find: (hash: string) => Promise<FoundToken | undefined>,
  now: () => number = () => performance.now(),
): TokenCache {
  // Kept past their time, as a sign that their holder is not guessing. Oldest first, as each answer goes last.
  const known = new Map<string, { caller: Known; until: number }>();
  const unknown = new Map<string, number>();
  const asking = new Map<string, Promise<Known | undefined>>();
  const draw = localPermits(now);

  const allowed = (name: string, rate: RateLimit) => draw(name, [1], rate)[0]?.allowed === true;
  // Its network's limit first: what that refuses takes nothing from the others.
  const mayLook = ({ network, form }: Asked) =>
    allowed(`${form} ${network}`, of_network) && allowed(form, of_all[form]);

  const look = async (hash: string): Promise<Known | undefined> => {
    // Taken before the query, whose snapshot is younger: what it says was still true then.
    const asked_at = now();
    const found = await find(hash);
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

  return {
    ask(hash, from) {
      const entry = known.get(hash);
      if (entry && entry.until > now()) return entry.caller;
      if ((unknown.get(hash) ?? -Infinity) > now()) return undefined;
      const under_way = asking.get(hash);
      if (under_way) return under_way;
      if (!entry && !mayLook(from)) return Promise.reject(new TooManyUnknownError());
      const asked = look(hash).finally(() => asking.delete(hash));
      asking.set(hash, asked);
      return asked;
    },
    forget: (hash) => void known.delete(hash),
  };
}

function dropOldest<T>(entries: Map<string, T>, entries_max: number): void {
  if (entries.size <= entries_max) return;
  for (const [oldest] of entries) {
    entries.delete(oldest);
    return;
  }
}
