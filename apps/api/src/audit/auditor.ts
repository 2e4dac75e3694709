import { isUnavailable } from "@atlasqueue/core";
import { recordActs, type Deps } from "@atlasqueue/core/internal";
import {
  beginOnce,
  endActs,
  newId,
  forTenant,
  type Act,
  type BegunAct,
  type EndedAct,
  type KeyedAct,
  localPermits,
  type RateLimit,
} from "@atlasqueue/core/internal/http";
import { batched } from "../batched.ts";

export type Auditor = ReturnType<typeof createAuditor>;

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
export function createAuditor(deps: Deps) {
  const begin = batched({ items_max }, (acts: readonly BegunAct[]) => recordActs(deps, acts, false));
  const end = batched({ items_max }, (acts: readonly EndedAct[]) => endActs(deps, acts));
  const record = batched({ items_max }, (acts: readonly Act[]) => recordActs(deps, acts));
  const refusals = createRefusals();
  const recordOrLog = (act: Act) => record(act).catch((error: unknown) => lost(deps, act, error));
  return {
    /** Resolves when it is stored that this is about to be done. Rejects when it cannot be: then it must not be done. */
    async begin(act: Act): Promise<BegunAct> {
      const begun = { id: newId(), ...act };
      await begin(begun);
      return begun;
    },
    /** The same for an act with an idempotency key, unless the key has been used: then it must not be done either. */
    beginOnce: (act: KeyedAct) => beginOnce({ database: forTenant(deps.database, { tenant: act.tenant }) }, act),
    /** Resolves when it is stored how it went, or cannot be: then it stays as one that was begun. Never rejects. */
    end: (act: EndedAct): Promise<void> => end(act).catch(() => {}),
    /** For an act whose caller is only known afterwards. It has been done: if it cannot be stored it is logged. Never rejects. */
    record: recordOrLog,
    /** For an act that its caller's token does not allow: at most ten entries a minute and token, each with a count. Never rejects. */
    async refuse(act: Act): Promise<void> {
      const entry = refusals.entryOf(act);
      if (entry) await recordOrLog(entry);
    },
  };
}

/** Each act is kept by the auditor of its tenant's cell, wherever it is done. */
export function placedAuditor(deps: Deps, auditorOf: (tenant: string) => Promise<Auditor>): Auditor {
  const orLog = async (act: Act, work: (auditor: Auditor) => Promise<void>) => {
    const auditor = await auditorOf(act.tenant).catch((error: unknown) => lost(deps, act, error));
    if (auditor) await work(auditor);
  };
  return {
    begin: async (act) => (await auditorOf(act.tenant)).begin(act),
    beginOnce: async (act) => (await auditorOf(act.tenant)).beginOnce(act),
    end: (act) =>
      auditorOf(act.tenant).then(
        (auditor) => auditor.end(act),
        () => {},
      ),
    record: (act) => orLog(act, (auditor) => auditor.record(act)),
    refuse: (act) => orLog(act, (auditor) => auditor.refuse(act)),
  };
}

function lost(deps: Deps, { actor, count, detail: _detail, ...act }: Act, error: unknown): void {
  const reason = isUnavailable(error) ? "the database is unavailable" : String(error);
  deps.observe({
    ...act,
    event: "audit_write_failed",
    by: actor.name ?? actor.kind,
    token_id: actor.token_id,
    changed: count,
    reason,
  });
}

/** Entries about one token's refused calls, in one process. */
const entries: RateLimit = { limit: 10, period_ms: 60_000 };
/** Tokens whose further calls are counted; the log has a line for each call. */
const tokens_max = 10_000;

/** Bounds the entries about refused calls: the next entry that a token gets has the number of those it did not get. */
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
