import { composed } from "../database/composed.ts";
import { lockTimeout } from "../database/clauses.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { isLive, standsFor } from "./rows.ts";
import { newToken } from "./token.ts";

/** Half a day: nobody works longer without a break. */
const session_seconds = 43_200;
/** Of one token. The oldest make room, as a person opens far fewer. */
const sessions_max = 100;

/** Which token of which tenant. */
export type TokenRef = { tenant: string; token_id: string };

/** A token as its holder may see it, and when what was shown ends. */
export type WhoIs = { name: string; hint: string; until: Date | null };
/** `session` is the only copy of its text. */
export type OpenedSession = WhoIs & { session: string; hash: string; expires_in_ms: number };

/**
 * Open a session in place of a token, which ends with it, or after half a day; the one with the hash `replaces` ends in the
 * same statement, so that all of it is done or nothing. Undefined when the token is unknown, ended or replaced.
 *
 * @example
 * const opened = await openSession(deps, { tenant, token_id });
 */
export async function openSession(
  deps: Deps,
  { tenant, token_id }: TokenRef,
  replaces?: string,
): Promise<OpenedSession | undefined> {
  const { token: session, hash } = newToken("aqs");
  type Ended = { tenant: string; token_id: string };
  const [row] = await executeOn(deps.database)<WhoIs & { expires_in_ms: number; ended: Ended | null }>({
    text: open,
    params: [tenant, token_id, hash, replaces ?? ""],
  });
  if (!row) return undefined;
  const { ended, ...shown } = row;
  deps.observe({ event: "session_opened", tenant, token_id });
  if (ended) deps.observe({ event: "session_closed", ...ended });
  return { ...shown, session, hash };
}

// Reads the whole table, and removes every session that has expired: so it has only those of half a day.
const open = composed(
  "tokens/open-session",
  ["tenant", "token_id", "hash", "replaces"],
  `
  WITH gone AS (
    DELETE FROM atlasqueue.sessions WHERE hash = ANY(ARRAY(
      SELECT hash FROM atlasqueue.sessions WHERE expires_at <= now() OR hash IN (
        SELECT hash FROM atlasqueue.sessions WHERE tenant = $1 AND token_id = $2::text::uuid ORDER BY created_at DESC OFFSET ${sessions_max - 1})
      FOR UPDATE SKIP LOCKED))
  ), made AS (
    INSERT INTO atlasqueue.sessions (hash, tenant, token_id, expires_at)
    SELECT decode($3, 'hex'), tenant, id, least(expires_at, now() + interval '${session_seconds} seconds')
    FROM atlasqueue.tokens WHERE tenant = $1 AND id = $2::text::uuid AND ${standsFor}
    RETURNING expires_at
  ), ended AS (
    DELETE FROM atlasqueue.sessions WHERE hash = ANY(ARRAY(
      SELECT hash FROM atlasqueue.sessions WHERE hash = decode($4, 'hex') AND EXISTS (SELECT FROM made) FOR UPDATE SKIP LOCKED))
    RETURNING tenant, token_id
  )
  SELECT name, hint, made.expires_at AS until,
         (extract(epoch FROM made.expires_at - now()) * 1000)::float8 AS expires_in_ms,
         (SELECT to_json(ended) FROM ended) AS ended
  FROM made CROSS JOIN atlasqueue.tokens WHERE tenant = $1 AND id = $2::text::uuid`,
);

/** End a session. Processes that remember it do so for a few seconds more. */
export async function closeSession(deps: Deps, hash: string): Promise<void> {
  const [row] = await executeOn(deps.database)<{ tenant: string; token_id: string }>({ text: close, params: [hash] });
  if (row) deps.observe({ event: "session_closed", ...row });
}

const close = composed(
  "tokens/close-session",
  ["hash"],
  `
  DELETE FROM atlasqueue.sessions WHERE hash = decode($1, 'hex') AND ${lockTimeout} RETURNING tenant, token_id`,
);

/** Who shows a token, or the session with this hash. */
export async function whoIs(
  deps: Pick<Deps, "database">,
  { tenant, token_id }: TokenRef,
  session_hash: string | undefined,
): Promise<WhoIs | undefined> {
  const params = [tenant, token_id, session_hash ?? ""];
  const [row] = await executeOn(deps.database)<WhoIs>({ text: who, params });
  return row;
}

const who = `
  SELECT name, hint,
         least(tokens.expires_at, (SELECT expires_at FROM atlasqueue.sessions WHERE hash = decode($3, 'hex'))) AS until
  FROM atlasqueue.tokens WHERE tenant = $1 AND id = $2::text::uuid AND ${isLive}`;
