import type { ActRow } from "../database/schema/index.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { insertActs, rowsOf, type BegunAct } from "./record.ts";

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
 * Store what is about to be done, unless an act of the tenant has its key already. Of many at once one is begun. An act
 * that was left unfinished loses its key to the same request: whether it was done nobody knows, so it is done again.
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
