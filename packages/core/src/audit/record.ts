import type { Actor, AuditAction, JsonObject } from "@atlasqueue/contract";
import { composed } from "../database/composed.ts";
import { lockTimeout, asyncCommit } from "../database/clauses.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { newId } from "../ids.ts";
import type { ActRow } from "../database/schema/index.ts";

/** Something a person or a program did. */
export type Act = {
  tenant: string;
  actor: Actor;
  action: AuditAction;
  target: string | null;
  count: number | null;
  detail: JsonObject | null;
  request_id: string | null;
  /** Where the request came from; null for one that did not come over HTTP. */
  address: string | null;
  /** How many calls of its token were refused since the last such act; null: it was done. */
  refused: number | null;
};

/** An act that is about to be done. */
export type BegunAct = Act & { id: string };

/**
 * Store what was done, in the order given; or what is about to be done (not `finished`), under ids from `newId`. That need
 * not wait for the disk: whatever the act itself writes there comes after it in the same log.
 * See decisions/2026-11-21-audit.md.
 *
 * @example
 * await recordActs(deps, [{ tenant, actor, action: "queue.pause", target: "mails", request_id, address, … }]);
 */
export async function recordActs(
  deps: Pick<Deps, "database">,
  acts: readonly (Act & { id?: string })[],
  finished = true,
): Promise<void> {
  const begun = acts.map((act) => ({ id: newId(), ...act }));
  await executeOn(deps.database)({ text: insertActs, params: [rowsOf(begun), String(finished), ...no_key] });
}

/**
 * How an act that was begun went, with what is known of it now. `failed`: some of it may have been done, and its key may be
 * used again.
 */
export type EndedAct = Pick<BegunAct, "id" | "tenant" | "target" | "count" | "detail"> & {
  outcome: "done" | "nothing_changed" | "failed";
};

/** Say how acts went that were begun; those that changed nothing are forgotten. */
export async function endActs(deps: Pick<Deps, "database">, acts: readonly EndedAct[]): Promise<void> {
  await executeOn(deps.database)({ text: end, params: [JSON.stringify(acts)] });
}

const rowsOf = (acts: readonly BegunAct[]): string =>
  JSON.stringify(acts.map((act) => ({ ...act, token_id: act.actor.token_id })));

const no_key = ["", "", "", 0] as const;

/**
 * The key is taken from an unfinished act before the insert looks for it: `left_over` is read for its row. One that is
 * still to come was begun before the clock was set back. Acts that are begun need not wait for the disk.
 */
const insertActs = composed(
  "audit/record",
  ["acts", "finished", "tenant", "idempotency_key", "fingerprint", "act_seconds_max"],
  `
  WITH left_over AS (
    UPDATE atlasqueue.audit_log SET idempotency_key = NULL
    WHERE tenant = $3 AND idempotency_key = nullif($4, '') AND fingerprint = $5 AND NOT finished AND ${lockTimeout}
      AND (at < now() - make_interval(secs => $6::float8) OR at > now() + make_interval(secs => $6::float8))
    RETURNING 1
  )
  INSERT INTO atlasqueue.audit_log (id, tenant, actor, token_id, action, target, count, detail, request_id, address, refused,
                         idempotency_key, fingerprint, finished)
  SELECT id, tenant, actor, token_id, action, target, count, detail, request_id, address, refused, idempotency_key,
         fingerprint, $2::text::bool
  FROM json_to_recordset($1::text::json) AS acts(id uuid, tenant text, actor json, token_id uuid, action text, target text,
                                                 count int, detail json, request_id text, address text, refused int,
                                                 idempotency_key text, fingerprint text)
  WHERE ($2::text::bool OR ${asyncCommit}) AND ${lockTimeout} AND (SELECT count(*) FROM left_over) >= 0
  ON CONFLICT (tenant, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING
  RETURNING id`,
);

const end = composed(
  "audit/end",
  ["acts"],
  `
  WITH ended AS MATERIALIZED (
    SELECT * FROM json_to_recordset($1::text::json) AS acts(id uuid, tenant text, target text, count int, detail json, outcome text)
  ), forgotten AS (
    DELETE FROM atlasqueue.audit_log USING ended
    WHERE audit_log.id = ended.id AND audit_log.tenant = ended.tenant AND outcome = 'nothing_changed' AND ${lockTimeout}
  )
  UPDATE atlasqueue.audit_log SET finished = outcome = 'done', target = ended.target, count = ended.count, detail = ended.detail,
    idempotency_key = CASE WHEN outcome = 'done' THEN idempotency_key END
  FROM ended WHERE audit_log.id = ended.id AND audit_log.tenant = ended.tenant AND outcome <> 'nothing_changed' AND ${lockTimeout}`,
);

/** An act under an idempotency key; the fingerprint is a digest of the request that the key stands for. */
export type KeyedAct = BegunAct & { idempotency_key: string; fingerprint: string };

export type BegunOnce =
  | { kind: "begun" }
  /** The same request was carried out before. */
  | { kind: "done"; act: ActRow }
  /** It was begun, and it is not known yet how it went. */
  | { kind: "under_way" }
  /** The key stands for another request. */
  | { kind: "mismatch" };

/** No act takes as long: one that is still not finished then never will be, as its process died. */
const act_seconds_max = 60;
/** The act that has the key may end as one that changed nothing between the two statements, and free it. */
const tries_max = 3;

/**
 * Store an act before it is done, unless another act of the tenant has its key. Of several at once, one is stored. The key
 * of an act whose process died goes to the next request that is the same: the act may not have been done, so it is done again.
 *
 * @example
 * const outcome = await beginOnce(deps, { id: newId(), …, idempotency_key: "pause mails", fingerprint });
 */
export async function beginOnce(deps: Pick<Deps, "database">, act: KeyedAct): Promise<BegunOnce> {
  const { tenant, idempotency_key, fingerprint } = act;
  const execute = executeOn(deps.database);
  for (let tries = 0; tries < tries_max; tries += 1) {
    const params = [rowsOf([act]), "false", tenant, idempotency_key, fingerprint, act_seconds_max];
    const begun = await execute({ text: insertActs, params });
    if (begun.length > 0) return { kind: "begun" };
    const [known] = await execute<ActRow>({ text: find, params: [tenant, idempotency_key] });
    if (!known) continue;
    if (known.fingerprint !== fingerprint) return { kind: "mismatch" };
    return known.finished ? { kind: "done", act: known } : { kind: "under_way" };
  }
  return { kind: "under_way" };
}

const find = `SELECT * FROM atlasqueue.audit_log WHERE tenant = $1 AND idempotency_key = $2`;
