import type { Mutant } from "./mutant.ts";
import { ofMechanisms } from "./of-mechanisms.ts";
import {
  alwaysFails,
  heardTwice,
  killsItsWorkers,
  lockedByStranger,
  lostAnswer,
  peopleCancel,
  renewedInTime,
  staleAck,
} from "./scenarios/leases.ts";
import { crowdedQueue, lateStarts, oneGroup } from "./scenarios/order.ts";
import { batches, dueLater, insideTransactions, oneKey, signalled } from "./scenarios/submissions.ts";

/** Known-bad engines. Each must be caught; a scene with the engine as it is must not be. */
export const catalogue: readonly Mutant[] = [
  {
    name: "fence removed",
    edits: [{ file: "lease/fence.ts", find: "THEN jobs.lease_token = ($3::uuid[])[1]", put: "THEN true" }],
    scenario: staleAck,
    twice: true,
  },
  {
    name: "owner instead of token",
    edits: [
      {
        file: "lease/claim/statement.ts",
        find: "const lease_token = claimer.lease_token ?? randomUUID();",
        put: `const lease_token = \`\${Buffer.from(claimer.worker_id.padEnd(16)).toString("hex").slice(0, 8)}-0000-4000-8000-000000000000\`; void randomUUID;`,
      },
    ],
    scenario: staleAck,
    twice: true,
  },
  {
    name: "sweep without a second look at the lease",
    edits: [
      {
        file: "lease/recover.ts",
        find: "SELECT * FROM running WHERE locked_until <= now()",
        put: "SELECT * FROM running",
      },
      { file: "lease/recover.ts", find: " AND jobs.locked_until <= now()\n    RETURNING", put: "\n    RETURNING" },
    ],
    scenario: renewedInTime,
    twice: true,
  },
  {
    name: "claim without a look at the status",
    edits: [
      {
        file: "lease/take-leases.ts",
        find: "AND status = 'queued' AND",
        put: "AND status IN ('queued', 'running') AND",
      },
    ],
    scenario: heardTwice,
    twice: true,
  },
  {
    name: "deadline without a second look",
    edits: [
      {
        file: "lease/claim/statement.ts",
        find: "if (outcomeUnknown(error)) claimer.unanswered?.(lease_token, claimer.tenant);",
        put: "void outcomeUnknown;",
      },
    ],
    scenario: lostAnswer,
  },
  {
    name: "a lost lease costs no attempt",
    edits: [
      {
        file: "lease/recover.ts",
        find: "last_error = $2, lease_token = NULL",
        put: "attempts = attempts - 1, last_error = $2, lease_token = NULL",
      },
    ],
    scenario: killsItsWorkers,
  },
  {
    name: "retry forgets attempts",
    edits: [
      {
        file: "settle/statement.ts",
        find: "updated_at = now(), locked_until = NULL",
        put: "attempts = 0, updated_at = now(), locked_until = NULL",
      },
    ],
    scenario: alwaysFails,
  },
  {
    name: "one attempt too many",
    edits: [
      {
        file: "settle/verdict.ts",
        find: "attempt.attempts >= attempt.max_attempts",
        put: "attempt.attempts > attempt.max_attempts",
      },
    ],
    scenario: alwaysFails,
  },
  {
    name: "dead letter not in the list",
    edits: [{ file: "follow-ups.ts", find: `if (became === "dead") dead.push(job.id);`, put: "" }],
    scenario: alwaysFails,
  },
  {
    name: "lock without SKIP LOCKED",
    edits: [{ file: "database/clauses.ts", find: "UPDATE OF jobs SKIP LOCKED", put: "UPDATE OF jobs" }],
    scenario: lockedByStranger,
  },
  {
    name: "cancel without a look at the status",
    edits: [
      {
        file: "jobs/cancel.ts",
        find: "SELECT * FROM found WHERE status = ANY($3::text[])",
        put: "SELECT * FROM found WHERE $3::text[] IS NOT NULL",
      },
    ],
    scenario: peopleCancel,
  },
  {
    name: "tenant left out",
    edits: [
      {
        file: "jobs/cancel.ts",
        find: "id = $1::uuid AND tenant = $2 AND",
        put: "id = $1::uuid AND $2::text IS NOT NULL AND",
      },
    ],
    scenario: peopleCancel,
  },
  {
    name: "check-then-insert idempotency",
    edits: [
      {
        file: "submit/insert-jobs.ts",
        find: "ON CONFLICT DO NOTHING\n    RETURNING job_id",
        put: "ON CONFLICT (tenant, key) DO UPDATE SET job_id = excluded.job_id\n    RETURNING job_id",
      },
    ],
    scenario: oneKey,
    twice: true,
  },
  {
    name: "batch split over transactions",
    edits: [
      {
        file: "submit/enqueue-all.ts",
        find: "await store(executeOn(deps.database), drafts, known, { ...options, postponed, strict: true });",
        put: "for (const one of drafts) await store(executeOn(deps.database), [one], known, { ...options, postponed, strict: true });",
      },
    ],
    scenario: batches,
  },
  {
    name: "a connection of its own for a caller's transaction",
    edits: [
      {
        file: "queue.ts",
        find: "submitInside(executeIn(tx, database.schema), one",
        put: "submitInside(executeIn(database.sql, database.schema), one",
      },
    ],
    scenario: insideTransactions,
    twice: true,
  },
  {
    name: "LPUSH before commit",
    edits: [
      {
        file: "submit/enqueue.ts",
        find: "const drafts = submissions.map(draft);\n  const outcomes: Outcomes = new Map();\n  await lookAgain(",
        put: "const drafts = submissions.map(draft);\n  await (deps as any).signal?.push(drafts.map(({ id, tenant, request }) => ({ id, tenant, queue: request.queue, priority: 0 })));\n  const outcomes: Outcomes = new Map();\n  await lookAgain(",
      },
    ],
    scenario: signalled,
  },
  {
    name: "jobs for later are never looked at again",
    edits: [
      {
        file: "maintenance/promote.ts",
        find: "SELECT id, status FROM atlasqueue.jobs WHERE due_at <= now()",
        put: "SELECT id, status FROM atlasqueue.jobs WHERE due_at < created_at",
      },
    ],
    scenario: dueLater,
    twice: true,
  },
  {
    name: "order by insertion, the newest first",
    edits: [{ file: "groups/join.ts", find: "ORDER BY group_seq LIMIT", put: "ORDER BY group_seq DESC LIMIT" }],
    scenario: oneGroup,
    twice: true,
  },
  {
    name: "group overlap",
    edits: [
      {
        file: "groups/join.ts",
        find: "(same_group ORDER BY place) <= admitted AS may_run",
        put: "(same_group ORDER BY place) <= admitted + 9 AS may_run",
      },
      { file: "groups/join.ts", find: `\${slotsOf("members")} = 1 AS is_strict`, put: "false AS is_strict" },
    ],
    scenario: oneGroup,
    twice: true,
  },
  {
    name: "no next job when one of a group ends",
    edits: [{ file: "groups/join.ts", find: "LIMIT ${jobs_max}", put: "LIMIT 0" }],
    scenario: oneGroup,
    twice: true,
  },
  {
    name: "limit check without lock",
    edits: [{ file: "lease/claim/limited.ts", find: "ORDER BY queue FOR UPDATE)", put: "ORDER BY queue)" }],
    scenario: crowdedQueue,
  },
  {
    name: "now() race: a start dated to before the wait for its turn",
    edits: [
      {
        file: "limits/note-starts.ts",
        find: "greatest(statement_timestamp(), to_timestamp(\n      ceil(extract(epoch FROM statement_timestamp())",
        put: "greatest(now(), to_timestamp(\n      ceil(extract(epoch FROM now())",
      },
    ],
    scenario: lateStarts,
  },
  ...ofMechanisms,
];
