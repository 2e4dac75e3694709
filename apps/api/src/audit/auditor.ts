import { isUnavailable } from "@atlasqueue/core";
import {
  beginActs,
  beginOnce,
  endActs,
  freeKey,
  newId,
  onBehalfOf,
  recordActs,
  type Act,
  type BegunAct,
  type BegunOnce,
  type Deps,
  type EndedAct,
  type KeyedAct,
} from "@atlasqueue/core/internal";

export type Auditor = {
  /** Resolves when it is stored that this is about to be done. Rejects when it cannot be: then it must not be done. */
  begin(act: Act): Promise<BegunAct>;
  /** The same for an act with an idempotency key, unless the key has been used: then it must not be done either. */
  beginOnce(act: KeyedAct): Promise<BegunOnce>;
  /** Resolves when the key of an act that failed may be used again, or that cannot be stored. Never rejects. */
  freeKey(act: BegunAct): Promise<void>;
  /** Resolves when it is stored how it went, or cannot be: then it stays as one that was begun. Never rejects. */
  end(act: EndedAct): Promise<void>;
  /** For an act whose caller is only known afterwards. It has been done: if it cannot be stored it is logged. Never rejects. */
  record(act: Act): Promise<void>;
};

/** In one statement. */
const acts_max = 500;

/**
 * Stores what is about to be done, and how it went. Acts that come while a statement is under way share the next one, so
 * that a program that cancels a thousand jobs a second costs a few statements.
 *
 * @example
 * const auditor = createAuditor(deps);
 * const begun = await auditor.begin(act);
 */
export function createAuditor(deps: Deps): Auditor {
  const begin = together((acts: readonly BegunAct[]) => beginActs(deps, acts));
  const end = together((acts: readonly EndedAct[]) => endActs(deps, acts));
  const record = together((acts: readonly Act[]) => recordActs(deps, acts));
  const ownOf = ({ tenant }: Act) => ({ database: onBehalfOf(deps.database, { tenant }) });
  return {
    async begin(act) {
      const begun = { id: newId(), ...act };
      await begin(begun);
      return begun;
    },
    beginOnce: (act) => beginOnce(ownOf(act), act),
    freeKey: (act) => freeKey(ownOf(act), act).catch(() => {}),
    end: (act) => end(act).catch(() => {}),
    record: (act) => record(act).catch((error: unknown) => lost(deps, act, error)),
  };
}

/** What is handed over while a call is under way goes with the next one. */
function together<T>(send: (items: readonly T[]) => Promise<void>): (item: T) => Promise<void> {
  let open: { items: T[]; sent: Promise<void> } | undefined;
  let last: Promise<unknown> = Promise.resolve();
  return (item) => {
    if (!open || open.items.length >= acts_max) {
      const items: T[] = [];
      const sent = last.then(() => {
        if (open?.items === items) open = undefined;
        return send(items);
      });
      last = sent.catch(() => {});
      open = { items, sent };
    }
    open.items.push(item);
    return open.sent;
  };
}

function lost(deps: Deps, { tenant, actor, action, target, count, request_id }: Act, error: unknown): void {
  const reason = isUnavailable(error) ? "the database is away" : String(error);
  deps.observe({
    event: "audit_lost",
    tenant,
    by: actor.name ?? actor.kind,
    action,
    target,
    changed: count,
    request_id,
    reason,
  });
}
