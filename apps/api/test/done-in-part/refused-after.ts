import { changerOf, digestOf } from "@atlasqueue/harness";
import { vi } from "vitest";
import type { Call } from "../checked-request.ts";
import type { Stage } from "./stage.ts";

/** What is kept, but for what only tells of it, such as the audit trail, counts and the claims of ended leases. */
const tables = [
  ["jobs", "job_attempts", "job_groups", "idempotency_keys"],
  ["flow_jobs", "flow_edges", "outbox", "job_state"],
  ["queues", "operations", "schedules", "tenants", "tokens", "sessions"],
].flat();
const changes = changerOf(tables);

/** How a request is refused what it sends after the first statement that wrote. */
type Refused = {
  /** So many more are let through. */
  statements: number;
  refusal: () => Error;
  /** And so much time passes at once. */
  pause_ms: number;
};

type Told = {
  status: number;
  /** Whether the answer says so. */
  maybe_done: boolean;
  /** Whether anything was done. */
  changed: boolean;
  entries: number;
  /** How many statements were refused before it was answered. */
  refused: number;
};

/**
 * What a request is answered when all that it sends to the database is refused some statements after the first that
 * wrote. Its entry in the audit trail can still be written.
 */
export async function refusedAfter(
  { sql, ask, quiet, watched }: Stage,
  id: string,
  call: Call,
  { statements, refusal, pause_ms }: Refused,
): Promise<Told> {
  await quiet();
  const before = await digestOf(sql, tables);
  // A tenant's is made after the act.
  const entries = async () =>
    Number((await sql`SELECT count(*) FROM atlasqueue.audit_log WHERE action <> 'tenant.provision'`)[0]?.["count"]);
  const entries_before = await entries();
  let left: number | undefined;
  let refused = 0;
  const answer = await watched(
    (step, sent) => {
      const text = sent.at(-1) ?? "";
      if (text.includes("audit_log")) return;
      if (step === "answer" && left === undefined && sent.some(changes)) {
        left = statements;
        passed(pause_ms);
      }
      if (step !== "statement" || left === undefined) return;
      if (left === 0) {
        refused += 1;
        throw refusal();
      }
      left -= 1;
    },
    () => ask(id, call),
  );
  vi.restoreAllMocks();
  const text = await answer.text();
  const { maybe_done, detail } = (text === "" ? {} : JSON.parse(text)) as { maybe_done?: boolean; detail?: unknown };
  return {
    status: answer.status,
    maybe_done: maybe_done ?? /(was|have been) done/.test(String(detail)),
    changed: (await digestOf(sql, tables)) !== before,
    entries: (await entries()) - entries_before,
    refused,
  };
}

/** Moves the clock by which everything bounds itself. */
function passed(ms: number): void {
  const { now } = performance;
  if (ms > 0) vi.spyOn(performance, "now").mockImplementation(() => now.call(performance) + ms);
}
