import { composedStatements } from "../../../core/src/database/composed.ts";

/**
 * Where a process may die, lose an answer, or be late. A statement that commits has two moments: `before_commit`, when
 * its transaction has done its work and holds its locks, and `after_commit`, when nobody has the answer yet. A call to the
 * signal has `before` and `after`.
 */
export type Moment = "before_commit" | "after_commit";

/**
 * The statements of a job's life, by the name they were composed under: of several that begin alike, all are variants of
 * one (`lease/claim-limited` of `lease/claim`), unless the longer name is here too. The words beside them say which seam it is.
 */
export const seams: Readonly<Record<string, string>> = {
  "submit/insert": "a job comes in, with its key",
  "submit/insert-grouped": "jobs of groups come in, with their keys",
  "submit/insert-related": "jobs come in with unique keys, or that wait for one another",
  "submit/admit": "what came with a caller's transaction is admitted",
  "lease/claim":
    "jobs are taken: before_commit is after the pop, after_commit is the answer on its way to a worker or its API",
  "lease/claim-limited": "jobs of a queue with limits are taken",
  "lease/extend": "a worker's leases are renewed, or progress is stored",
  "lease/heartbeat": "a remote worker's lease is renewed",
  "lease/release": "a lease is given back by who holds it",
  "lease/revoke-claim": "a lease is taken back whose answer was lost",
  "lease/recover": "jobs of ended leases go back, or die",
  "lease/end-leases": "the leases of a process that ended are ended by the one that started it",
  "lease/forget-claims": "the rows of ended claims are removed",
  "lease/forget-ended-claims": "the rows of claims that remote workers settled are removed",
  "settle/settle":
    "a job succeeds, fails or dies: before_commit is before the ack, after_commit is before a dead letter is listed",
  "settle/complete-and-lease-next": "a job of a group succeeds, and the next is leased",
  "groups/advance": "a job of a group has ended, and the next may go",
  "flows/close-edges": "rows of the outbox about parents that ended are acted on",
  "flows/release-children": "rows of the outbox about children are acted on: they are let go",
  "flows/adopt-children": "a job that adds others begins a flow, or its dependants wait for them",
  "maintenance/promote": "delayed jobs and retries become ready",
  "schedules/fire": "a slot of a schedule gets its job",
  "schedules/store": "a schedule is kept",
  "steps/store": "a step's result is kept",
  "steps/park": "a job waits for a signal",
  "steps/signal": "a job is sent a signal",
  "limits/set": "a queue's limits change",
  "groups/mark-blocked": "groups that may have more of their jobs run are to be looked at",
  "jobs/cancel": "a job is cancelled",
  "jobs/cancel-many": "a page of a bulk cancellation",
  "jobs/retry": "a job starts over",
  "jobs/write-payloads": "jobs that start over get other payloads",
  "jobs/delete": "a finished job is removed",
  "dead-letters/replay": "dead letters are replayed, or a page of stopped jobs is retried",
  "dead-letters/purge": "dead letters are removed",
  "operations/create": "an operation is begun",
  "operations/note": "a page of an operation is noted",
  "counts/fold": "the counts of a queue are folded",
};

/** Calls to the signal that change something there, or take something out. */
export const signalSeams: readonly string[] = [
  "signal/push",
  "signal/pushFront",
  "signal/take",
  "signal/wait",
  "signal/takeTurn",
  "signal/deadLetters.add",
  "signal/deadLetters.remove",
  "signal/notices.tell",
];

/** The other calls. */
export const signalBeside: Readonly<Record<string, string>> = {
  "signal/look": "changes nothing",
  "signal/state": "changes nothing",
  "signal/check": "changes nothing",
  "signal/deadLetters.page": "changes nothing",
  "signal/deadLetters.look": "changes nothing",
  "signal/presence.list": "changes nothing",
  "signal/notices.listen": "changes nothing",
  "signal/close": "the end",
  "signal/join": "connects processes, and stores nothing",
  "signal/setMarked":
    "a setting in Redis that the sweep compares with the table, both ways: core/src/signal/signal.test.ts",
  "signal/takePermits": "rates of requests, not of jobs",
  "signal/deadLetters.carryOn": "with where it has come to, or not at all, and the next sweep goes on from there",
  "signal/deadLetters.clear": "the beginning of making the list anew",
  "signal/presence.announce": "repeated every two seconds",
  "signal/presence.withdraw": "as if the process had died",
};

/** Statements that commit something, and have no points, as no guarantee about a job depends on them. */
export const beside: Readonly<Record<string, string>> = {
  "audit/": "who did what: its own promise and tests, in core/src/audit",
  "tokens/": "access, not jobs",
  "rollups/": "figures over time, whose last seconds may be lost",
  "queues/": "pause, resume and defaults: one row, no follow-up but a signal, and repeated it changes nothing",
  "submit/defer-insert": "inside a caller's transaction: its commit is the caller's",
  "maintenance/prune": "removes what has been over for days; stopped at each statement in prune.test.ts",
  "maintenance/forget": "removes what holds or says nothing any more",
  "maintenance/clear-results": "removes results of long ago; stopped at each statement in cleaner.test.ts",
  "operations/steer": "one row, and repeated it changes nothing",
  "submit/forget-spent-keys": "frees a key whose job is gone; what is submitted under it comes after",
  "signal/note-redis-nonce": "one row, written each minute; what Redis misses, the next renewal replaces",
  "outbox/": "in one transaction with the statements that act on its rows, which have points",
  "lease/reindex-orphaned-leases": "a repair: of leases without a claim's row",
};

/** Whether a statement, or a source file, writes. */
export const writes = (text: string): boolean =>
  /\b(INSERT INTO|UPDATE [\w.]+ (AS \w+ )?SET|UPDATE atlasqueue.jobs|DELETE FROM)\b/.test(text);

const names = new Map<string, string>();
/** The name of a statement; the list of them grows while modules load. */
function nameOf(text: string): string | undefined {
  if (!names.has(text)) for (const one of composedStatements()) names.set(one.text, one.name);
  return names.get(text);
}

/** All points, in the order of the list. */
export const points: readonly string[] = [
  ...Object.keys(seams).flatMap((seam) => [`${seam}:before_commit`, `${seam}:after_commit`]),
  ...signalSeams.flatMap((seam) => [`${seam}:before`, `${seam}:after`]),
];

/** The seam that a statement is at, by its name; undefined for one beside the points. */
export function seamOf(name: string): string | undefined {
  return startOf(name, Object.keys(seams));
}

/** Of several starts of a name, the longest; it ends where a part of the name does. */
export function startOf(name: string, starts: readonly string[]): string | undefined {
  const found = starts.filter((start) => name === start || name.startsWith(start.endsWith("/") ? start : `${start}-`));
  return found.toSorted((a, b) => b.length - a.length)[0];
}

/** The points that a transaction is at, by the statements it sent. */
export function pointsOf(sent: readonly string[], moment: Moment): string[] {
  const reached = sent.flatMap((text) => seamOf(nameOf(text) ?? "") ?? []);
  return [...new Set(reached)].map((seam) => `${seam}:${moment}`);
}
