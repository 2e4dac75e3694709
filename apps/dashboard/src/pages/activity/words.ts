import { auditActions, type AuditAction } from "@atlasqueue/contract";

const words: Record<AuditAction, string> = {
  "queue.pause": "Paused a queue",
  "queue.resume": "Resumed a queue",
  "queue.limits": "Set limits",
  "queue.defaults": "Set defaults",
  "job.cancel": "Cancelled a job",
  "job.retry": "Retried a job",
  "job.signal": "Sent a job a signal",
  "job.edit": "Edited and retried a job",
  "job.delete": "Deleted a job",
  "jobs.bulk": "Changed jobs in bulk",
  "flow.cancel": "Cancelled a flow",
  "flow.retry": "Retried a flow",
  "dlq.replay": "Replayed dead letters",
  "dlq.purge": "Purged dead letters",
  "operation.create": "Started a bulk operation",
  "operation.cancel": "Stopped an operation",
  "replay.create": "Started a replay",
  "replay.pause": "Paused a replay",
  "replay.resume": "Resumed a replay",
  "replay.cancel": "Cancelled a replay",
  "schedule.create": "Created a schedule",
  "schedule.put": "Changed a schedule",
  "schedule.delete": "Deleted a schedule",
  "schedule.pause": "Paused a schedule",
  "schedule.resume": "Resumed a schedule",
  "schedule.run": "Ran a schedule now",
  "token.create": "Created a token",
  "token.rotate": "Rotated a token",
  "token.revoke": "Revoked a token",
  "session.open": "Signed in",
  "session.close": "Signed out",
  "tenant.provision": "Created a tenant",
  "tenant.place": "Put the tenant into a cell",
  "tenant.move": "Moved the tenant to a cell",
};

/** What one can choose to see, in this order. */
export const kindsOf: readonly AuditAction[] = auditActions;

/** An act in words; one that a newer server knows of, by its name. */
export function actionWords(action: string): string {
  return Object.hasOwn(words, action) ? words[action as AuditAction] : action;
}

/** What is known of an act's target besides its id: a job's type, a token's name. */
export function nameOf(action: string, detail: Detail | null): string | undefined {
  const name = action.startsWith("job.") ? detail?.["type"] : detail?.["name"];
  return typeof name === "string" ? name : undefined;
}

/**
 * The details of an act in words: "type mail.send, rate 5". What is empty or off is left out, and so is what `nameOf` says. A
 * fingerprint is the error that it stands for.
 */
export function detailWords(action: string, detail: Detail): string {
  const named = action.startsWith("job.") ? "type" : "name";
  return Object.entries(detail)
    .filter(([name, value]) => value !== null && value !== false && name !== named)
    .filter(([name]) => name !== "fingerprint" || detail["error"] === undefined)
    .map(([name, value]) => wordsOf(name, value))
    .join(", ");
}

type Detail = Readonly<Record<string, unknown>>;

function wordsOf(name: string, value: unknown): string {
  if (name === "error") return `“${String(value)}”`;
  if (name === "fingerprint") return "of one error";
  const said = name.replaceAll("_", " ");
  if (value === true) return said;
  if (Array.isArray(value)) return `${said} ${value.map(String).join(" ")}`;
  if (typeof value === "object" && value !== null)
    return `${said} (${Object.entries(value)
      .map(([part, each]) => wordsOf(part, each))
      .join(", ")})`;
  return `${said} ${String(value)}`;
}
