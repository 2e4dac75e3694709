import { isUnavailable } from "@atlasqueue/core";
import { recordActs, type Deps } from "@atlasqueue/core/internal";
import {
  beginOnce,
  endActs,
  newId,
  forTenant,
  type Act,
  type BegunAct,
  type BegunOnce,
  type EndedAct,
  type KeyedAct,
} from "@atlasqueue/core/internal/http";
import { batched } from "../batched.ts";
import { createRefusals } from "./refusals.ts";

export type Auditor = {
  /** Resolves when it is stored that this is about to be done. Rejects when it cannot be: then it must not be done. */
  begin(act: Act): Promise<BegunAct>;
  /** The same for an act with an idempotency key, unless the key has been used: then it must not be done either. */
  beginOnce(act: KeyedAct): Promise<BegunOnce>;
  /** Resolves when it is stored how it went, or cannot be: then it stays as one that was begun. Never rejects. */
  end(act: EndedAct): Promise<void>;
  /** For an act whose caller is only known afterwards. It has been done: if it cannot be stored it is logged. Never rejects. */
  record(act: Act): Promise<void>;
  /** For an act that its caller's token does not allow: at most ten entries a minute and token, each with a count. Never rejects. */
  refuse(act: Act): Promise<void>;
};

/** In one statement. */
const items_max = 500;

/**
 * Stores what is about to be done, and how it went. Acts that come while a statement is under way share the next one, so
 * that a program that cancels a thousand jobs a second costs a few statements.
 *
 * @example
 * const auditor = createAuditor(deps);
 * const begun = await auditor.begin(act);
 */
export function createAuditor(deps: Deps): Auditor {
  const begin = batched({ items_max }, (acts: readonly BegunAct[]) => recordActs(deps, acts, false));
  const end = batched({ items_max }, (acts: readonly EndedAct[]) => endActs(deps, acts));
  const record = batched({ items_max }, (acts: readonly Act[]) => recordActs(deps, acts));
  const refusals = createRefusals();
  const recordOrLog = (act: Act) => record(act).catch((error: unknown) => lost(deps, act, error));
  const ownOf = ({ tenant }: Act) => ({ database: forTenant(deps.database, { tenant }) });
  return {
    async begin(act) {
      const begun = { id: newId(), ...act };
      await begin(begun);
      return begun;
    },
    beginOnce: (act) => beginOnce(ownOf(act), act),
    end: (act) => end(act).catch(() => {}),
    record: recordOrLog,
    async refuse(act) {
      const entry = refusals.entryOf(act);
      if (entry) await recordOrLog(entry);
    },
  };
}

function lost(deps: Deps, { actor, count, detail: _detail, ...act }: Act, error: unknown): void {
  const reason = isUnavailable(error) ? "the database is away" : String(error);
  deps.observe({
    ...act,
    event: "audit_write_failed",
    by: actor.name ?? actor.kind,
    token_id: actor.token_id,
    changed: count,
    reason,
  });
}
