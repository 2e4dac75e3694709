import {
  queueInside,
  type JobStatus,
  type Json,
  type SendSignalAnswer,
  type SubmitJobInput,
  type Tracing,
} from "@atlasqueue/contract";
import { executeIn, type CallerTransaction } from "./database/caller-transaction.ts";
import { connectDatabase } from "./database/connect.ts";
import { requiredAtFirstUse } from "./database/server/require-postgres.ts";
import { defaultTenant } from "./deps.ts";
import { answerOwn, ownFlow } from "./flows/own-flow.ts";
import type { QueueFlow, SubmittedFlow } from "./flows/queue-flow.ts";
import { jobsOf } from "./flows/submit-flow.ts";
import { createFollowUps } from "./follow-ups.ts";
import type { Observe } from "./observe/events.ts";
import { createScheduleBook, type Schedules } from "./schedules/schedules.ts";
import { keysOf, type SignalKeys } from "./signal/keys.ts";
import { noSignal } from "./signal/memory/signal.ts";
import type { RedisTls } from "./signal/redis/dial.ts";
import { redisSignal } from "./signal/redis/signal.ts";
import type { Signal } from "./signal/signal.ts";
import { sendAll, sendOne } from "./tracing/send.ts";
import { queueSignal } from "./steps/signal.ts";
import { ownSubmission } from "./submit/own-submission.ts";
import { createSubmitter } from "./submit/submitter.ts";
import {
  announceInside,
  submitInside,
  type InsideOutcome,
  insideFaults,
  submitFlowInside,
} from "./submit/pending/submit-inside.ts";
import type { EnqueueOutcome, Submission } from "./submit/outcome.ts";
import { IdempotencyMismatchError, InvalidJobError, UniqueConflictError } from "./submit/refused.ts";

/**
 * What became of a signal. `sent_before`: the first of its name counts. `too_late`: the job has stopped waiting for it.
 * `finished`, `unknown`: there is no such job that could wait. `full`: the job was sent as many as it may be. All but
 * `sent` changed nothing.
 */
export type SignalSent = SendSignalAnswer["outcome"] | "finished" | "unknown" | "full";

export type QueueOptions = {
  databaseUrl: string;
  /** The schema of the tables. Default `atlasqueue`. */
  schema?: string | undefined;
  /**
   * `redis://`, `redis+sentinel://host:port,host:port/name` or `redis+cluster://host:port,host:port`, or the same with
   * `rediss`. Without it, workers find the jobs by their sweep, within a second or two.
   */
  redisUrl?: string | undefined;
  /** In PEM, for `rediss`: the authorities that its certificate may be from, and our own certificate and key. */
  redisTls?: RedisTls | undefined;
  /** Names in Redis. Default: `<schema>:jobs` and `<schema>:dlq`. */
  keys?: SignalKeys;
  tenant?: string;
  /** A submit not committed by then rejects. Default 10,000. */
  timeoutMs?: number;
  /** How long an idempotency key is remembered. Default a day. */
  idempotencyTtlSeconds?: number;
  connectionsMax?: number;
  preparedStatements?: boolean;
  observe?: Observe;
  /** Around each submitted job, the first outermost; not around what a schedule submits. Default: none. */
  middleware?: Parameters<typeof queueInside>[0];
  /**
   * Where spans go: `openTelemetry()` of `@atlasqueue/core/opentelemetry`. Jobs carry the context of their `send` span to
   * the worker that runs them. Default: none, which costs nothing.
   */
  tracing?: Tracing | undefined;
};

/** A job as `POST /v1/jobs` takes it, with the key that makes it safe to submit again. */
export type QueueJob = SubmitJobInput & { idempotency_key?: string };

/**
 * `created` is false when the key was already used for the same job, or a job with its unique key exists: the id is
 * that job's.
 */
export type Submitted = { id: string; status: JobStatus; created: boolean };

export type Queue = {
  /** Resolves when the job is durable. Jobs submitted concurrently share one commit. */
  submit(job: QueueJob): Promise<Submitted>;
  /**
   * Any number of jobs, answered in the same order, which is also the order within groups. All are checked first; then
   * they are stored 500 at a time, each part in its own transaction. When one part fails, or a key was used for another
   * job, the promise rejects and other parts may be stored: with keys it is safe to call again.
   */
  submitMany(jobs: readonly QueueJob[]): Promise<Submitted[]>;
  /**
   * Up to 1,000 jobs that wait for one another, all of them or none, as `POST /v1/jobs/batch` takes them: a job waits for
   * those in its `depends_on`, each the `ref` of another one or the id of a job that exists; `then` waits for all of them,
   * however they end. Throws `InvalidJobError` for a circle, or for a parent that does not exist.
   */
  submitFlow(flow: QueueFlow): Promise<SubmittedFlow>;
  /**
   * Store a job in your own transaction (of postgres.js, drizzle, Prisma, node-postgres or TypeORM, or a function
   * that runs a text with `$1` … in it and resolves with the rows): it exists if that commits, and never
   * did if it rolls back. Call `announce` with the answers after the commit; jobs that are not announced are found by
   * the workers' sweep within a second or two.
   *
   * Your transaction may stay open for as long as you like: a job with an idempotency key, a unique key or a group
   * is `blocked` at first, and gets its keys and its place in the group after the commit. A key
   * already used, or a unique one already held with `on_conflict` "reject", is reported at once. Conflicts with what
   * others commit before you do show in the job: it ends as `cancelled`, and its `last_error` names the job that has
   * the key. Jobs enter their group in the order in which their transactions committed; of transactions that overlapped,
   * in the order in which they were submitted.
   */
  submitIn(tx: CallerTransaction, job: QueueJob): Promise<Submitted>;
  /**
   * Store up to 1,000 jobs that wait for one another in your own transaction, in the form of `submitFlow`. Resolves with
   * their ids in their order, `then` last, which `announce` takes after the commit. It takes no idempotency key, as your
   * transaction stores the flow once. A job waits only for jobs of the list, and only a job that waits for none may be
   * `unique`. Throws `InvalidJobError`. If a unique key is held, the driver throws PostgreSQL's error 23505, which ends
   * your transaction.
   *
   * @example
   * const jobs = await queue.submitFlowIn(tx, { jobs: [{ type: "pack", ref: "pack" }, { type: "ship", depends_on: ["pack"] }] });
   */
  submitFlowIn(tx: CallerTransaction, flow: Omit<QueueFlow, "idempotency_key">): Promise<{ id: string }[]>;
  announce(...submitted: Pick<Submitted, "id">[]): Promise<void>;
  /** Send a signal to a job that waits for it, or will. Resolves with what became of it; only `sent` changed anything. */
  signal(id: string, name: string, payload?: Json): Promise<SignalSent>;
  /** Jobs that recur by cron: put, look, pause, delete. */
  readonly schedules: Schedules;
  /** Waits until everything submitted is answered, then closes the connections. */
  close(): Promise<void>;
};

const bulk_rows_max = 500;
/** Parts under way at once: while one waits for the disk, the next is made. */
const bulk_lanes = 3;

/**
 * Submit jobs from your own code, without HTTP. The database must be migrated. Throws a TypeError without a
 * `databaseUrl`, and for a URL or a schema that cannot be used. Calls reject with a `SettingError` of one line if PostgreSQL
 * is too old, or the database's encoding is not UTF8.
 *
 * @example
 * const queue = createQueue({ databaseUrl, redisUrl });
 * await queue.submit({ type: "email.send", payload: { to: "ada@example.org" }, idempotency_key: "welcome-17" });
 */
export function createQueue(options: QueueOptions): Queue {
  const tenant = options.tenant ?? defaultTenant;
  const observe = options.observe ?? (() => {});
  const connected = connectDatabase({
    url: options.databaseUrl,
    schema: options.schema,
    connectionsMax: options.connectionsMax ?? 4,
    timeoutMs: options.timeoutMs ?? 10_000,
    preparedStatements: options.preparedStatements ?? true,
    applicationName: "atlasqueue-queue",
    observe,
  });
  const database = requiredAtFirstUse(connected);
  const signal: Signal = options.redisUrl
    ? redisSignal({
        url: options.redisUrl,
        tls: options.redisTls,
        keys: options.keys ?? keysOf(options.schema),
      })
    : noSignal();
  const deps = { database, signal, observe, tracing: options.tracing };
  const enqueueOptions = { idempotency_ttl_seconds: options.idempotencyTtlSeconds ?? 86_400 };
  const followUps = createFollowUps(deps);
  const submitter = createSubmitter({ ...deps, followUps }, enqueueOptions);

  const submissionOf = (job: QueueJob) => ownSubmission(tenant, job);

  return queueInside<Queue>(options.middleware, {
    schedules: createScheduleBook(deps, tenant),
    signal: queueSignal(deps, followUps, tenant),
    async submit(job) {
      const submission = submissionOf(job);
      return answer(submission, await submitter.submit(submission, 1_000));
    },
    async submitMany(jobs) {
      const submissions = jobs.map(submissionOf);
      const outcomes: EnqueueOutcome[] = Array.from({ length: submissions.length });
      // Signalled in job order, whichever part is stored first.
      let signalled: Promise<unknown> = Promise.resolve();
      const store = async (from: number) => {
        const before = signalled;
        const stored = submitter.submitTogether(submissions.slice(from, from + bulk_rows_max));
        signalled = Promise.allSettled([before, stored]).then(([, part]) =>
          part.status === "fulfilled" ? followUps.submitted(part.value) : undefined,
        );
        (await stored).forEach((outcome, at) => (outcomes[from + at] = outcome));
      };
      let next = 0;
      let failed = false;
      const lane = async () => {
        while (next < submissions.length && !failed) {
          const from = next;
          next += bulk_rows_max;
          await store(from).catch((error: unknown) => {
            failed = true;
            throw error;
          });
        }
      };
      // Concurrent parts could be committed out of order.
      const inOrder = jobs.some(({ group, unique }) => group !== undefined || unique !== undefined);
      const lanes = inOrder ? 1 : bulk_lanes;
      await Promise.all(Array.from({ length: lanes }, lane));
      return outcomes.map((outcome, at) => answer(submissions[at] as Submission, outcome));
    },
    async submitFlow(flow) {
      const submissions = ownFlow(tenant, flow);
      return answerOwn(submissions, await submitter.submitFlow(submissions), flow.idempotency_key);
    },
    async submitIn(tx, job) {
      const submission = submissionOf(job);
      const store = (one: Submission) => submitInside(executeIn(tx, database.schema), one, enqueueOptions);
      return answer(submission, await sendOne(deps, submission, store));
    },
    async submitFlowIn(tx, asked) {
      const flow = ownFlow(tenant, asked);
      const faults = insideFaults(flow);
      if (faults.length > 0) throw new InvalidJobError(faults);
      const jobs = await sendAll(deps, jobsOf(flow), (all) =>
        submitFlowInside(executeIn(tx, database.schema), flow, all),
      );
      return jobs.map(({ id }) => ({ id }));
    },
    announce: (...submitted) => announceInside(deps, followUps, tenant, submitted),
    async close() {
      await submitter.close();
      await followUps.stop();
      await Promise.all([database.close(), signal.close()]);
    },
  });
}

function answer({ idempotency_key }: Submission, outcome: EnqueueOutcome | InsideOutcome): Submitted {
  if (outcome.kind === "mismatch") throw new IdempotencyMismatchError(idempotency_key);
  if (outcome.kind === "conflict") throw new UniqueConflictError(outcome.job_id);
  return { id: outcome.job.id, status: outcome.job.status, created: outcome.kind === "created" };
}
