import { setTimeout as delay } from "node:timers/promises";
import {
  createSchedule as scheduleSchema,
  submitBatch,
  submitJob,
  type JobStatus,
  type SubmitJobInput,
} from "@atlasqueue/contract";
import { isUnavailable } from "@atlasqueue/core";
import { flowOf, putSchedule, setLimits, SignalUnavailableError } from "@atlasqueue/core/internal";
import {
  cancel,
  createOperation,
  createReplay,
  deleteFinished,
  editAndRetry,
  findJob,
  heartbeat,
  purgeAll,
  replayAll,
  retry,
  sendSignal,
  settleRemote,
  underOneKey,
  type JobRow,
} from "@atlasqueue/core/internal/http";
import { claim, createLeaseReleaser, endLeases } from "@atlasqueue/core/internal/worker";
import type { World } from "./world.ts";

const tenant = "default";

/** What a client wants done, and what must have become of it at the end; `attempts` if nothing goes wrong. */
export type Wish = { request: SubmitJobInput; becomes: JobStatus | "gone"; attempts: number };
const wish = (request: SubmitJobInput, becomes: Wish["becomes"] = "succeeded", attempts = 1): Wish => ({
  request,
  becomes,
  attempts,
});
const ok = { type: "ok" };
const doomed = { type: "doomed", max_attempts: 1 };

/** Each submitted under its own name as the idempotency key; those of one line in its order. */
const lines: readonly Readonly<Record<string, Wish>>[] = [
  { plain: wish(ok), flaky: wish({ type: "flaky" }, "succeeded", 2) },
  { dead: wish(doomed, "dead"), dead_twice: wish({ ...doomed, max_attempts: 2 }, "dead", 2) },
  { delayed: wish({ ...ok, delay_seconds: 0.2 }), cancelled: wish({ ...ok, delay_seconds: 3_600 }, "cancelled", 0) },
  { g1: wish({ ...ok, group: "g" }), g2: wish({ ...ok, group: "g" }), g3: wish({ ...ok, group: "g" }) },
  { n1: wish({ ...ok, queue: "narrow" }), n2: wish({ ...ok, queue: "narrow" }) },
  { unique: wish({ ...ok, unique: { key: "u", scope: "active", on_conflict: "return" } }) },
  { stepper: wish({ type: "stepper" }), long: wish(ok), maker: wish({ type: "maker" }) },
  { deleted: wish(ok, "gone"), purged: wish({ ...doomed, type: "doomed.purged" }, "gone") },
  { replayed: wish({ type: "mended", max_attempts: 1 }), patched: wish({ ...doomed, type: "doomed.patched" }) },
  { in_bulk: wish({ type: "mended.in_bulk", max_attempts: 1 }) },
  { stopped: wish({ ...ok, type: "stopped", delay_seconds: 3_600 }, "cancelled", 0) },
  { edited: wish(doomed), retried: wish({ type: "mended.alone", max_attempts: 1 }) },
  { acked: wish({ ...ok, queue: "remote" }), nacked: wish({ type: "flaky", queue: "remote" }, "succeeded", 2) },
  { lost: wish({ ...ok, queue: "attic" }, "succeeded", 2), unanswered: wish({ ...ok, queue: "attic" }) },
  { given: wish({ ...ok, queue: "attic" }) },
];
export const wishes: Readonly<Record<string, Wish>> = Object.assign({}, ...lines) as Record<string, Wish>;

/** One that is submitted whole, under one key: jobs of which one adds another, and others that wait. */
const flow = submitBatch.parse({
  jobs: [
    { ref: "a", ...ok },
    { ref: "b", ...ok },
    { ref: "maker", type: "maker" },
    { ref: "sum", ...ok, depends_on: ["a", "b", "maker"] },
  ],
});

/** What happened, as a client sees it: what it was told was accepted, under which id. */
export type Told = (key: string, id: string) => void;

const tries_max = 40;
const by_hand_seconds_max = 10;
const wait_ms_max = 30_000;
/** Between looks, first and last: many stories look for a dozen things each, and looking is work for the server. */
const look_ms = { first: 20, last: 250 };

/** Looks until it finds something, for so long at most. */
export async function until<T>(
  what: string,
  look: () => Promise<T | undefined | false>,
  wait_ms = wait_ms_max,
): Promise<T> {
  const give_up_at = performance.now() + wait_ms;
  for (let pause_ms = look_ms.first; ; pause_ms = Math.min(look_ms.last, pause_ms * 1.5)) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > give_up_at) throw new Error(`waited in vain for ${what}`);
    await delay(pause_ms);
  }
}

/** What a client does: it asks again until it is answered. */
async function insist<T>(act: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1)
    try {
      return await act();
    } catch (error) {
      if (tries === tries_max || !(isUnavailable(error) || error instanceof SignalUnavailableError)) throw error;
      await delay(50);
    }
}

/**
 * All that clients, remote workers and people do to a queue, from the start, until what they want has become of each
 * job. Whoever begins it again, after the process that did it died, finds what was done and does the rest.
 */
export async function tellStory(world: World, told: Told): Promise<void> {
  const { deps, followUps, bare } = world;
  const ids = new Map<string, string>();
  const id = (key: string) => ids.get(key) ?? "";
  const find = (key: string) => findJob(bare, tenant, id(key));
  const whenIs = (key: string, ...statuses: JobStatus[]) =>
    until(`${key} to be ${statuses.join(" or ")}`, async () => {
      const job = await find(key);
      return job && statuses.includes(job.status) && job;
    });
  // What a process that died had taken by hand waits for their ends.
  const by_hand_seconds = Math.min(by_hand_seconds_max, world.lease_seconds);
  const note = (key: string, job_id: string) => {
    ids.set(key, job_id);
    told(key, job_id);
  };

  const submit = async (key: string, { request }: Wish): Promise<void> => {
    const parsed = submitJob.parse(key === "long" ? { ...request, payload: { ms: world.long_ms } } : request);
    const submission = { tenant, request: parsed, idempotency_key: key };
    const outcome = await insist(() => world.submitter.submit(submission, 200));
    if (!("job" in outcome)) throw new Error(`${key}: ${outcome.kind}`);
    note(key, outcome.job.id);
  };
  const submitLine = async (line: Readonly<Record<string, Wish>>): Promise<void> => {
    for (const [key, one] of Object.entries(line)) await submit(key, one);
  };
  const submitFlow = async (): Promise<void> => {
    const outcome = await insist(() => world.submitter.submitFlow(underOneKey(flowOf(flow, { tenant }), "flow")));
    if (outcome.kind !== "stored") throw new Error(`the flow: ${outcome.kind}`);
    for (const [at, one] of outcome.outcomes.entries()) if ("job" in one) note(`flow ${at}`, one.job.id);
  };

  /** A job that arrives with a caller's own transaction. */
  const arrive = async (): Promise<void> => {
    const job = { type: "ok", group: "arrivals", idempotency_key: "arrived" };
    const submitted = await world.sql.begin((tx) => world.queue.submitIn(tx, job));
    note("arrived", submitted.id);
  };
  /** What claims of workers come to whose answers are lost, who die, or who give back. No worker serves this queue. */
  const attic = async (): Promise<void> => {
    const returns = createLeaseReleaser(deps);
    const worker_id = `by-hand-${process.pid}-`;
    const take = (key: string) =>
      insist(() =>
        claim(deps, [id(key)], {
          tenant,
          queues: ["attic"],
          worker_id,
          lease_seconds: by_hand_seconds,
          unanswered: returns.unanswered,
        }),
      );
    await take("lost");
    await insist(() => endLeases(deps, worker_id));
    const [unanswered] = await take("unanswered");
    if (unanswered) returns.unanswered(unanswered.lease_token, tenant);
    await returns.release(await take("given"));
    await returns.close(20_000);
    await until("the abandoned lease", async () => ((await find("lost"))?.attempts ?? 0) > 0);
    await serve("attic", ["lost", "unanswered", "given"]);
  };
  /** A remote worker, until it has settled these. */
  const serve = async (queue: string, keys: readonly string[]): Promise<void> => {
    const call = { tenant, queue, worker_id: "remote", lease_seconds: by_hand_seconds, jobs_max: 1, wait_ms: 300 };
    const open = async () => {
      for (const key of keys) if ((await find(key))?.status !== "succeeded") return true;
      return false;
    };
    const never = new AbortController();
    while (await open())
      for (const job of (await insist(() => world.longPoll.lease(call, never.signal))).jobs) {
        const { id: job_id, lease_token } = job;
        const [run] =
          await world.sql`INSERT INTO runs (job_id, attempt) VALUES (${job_id}, ${job.attempts}) RETURNING id`;
        const beat = { id: job_id, lease_token, lease_seconds: by_hand_seconds, progress: { done: 0.5 } };
        await insist(() => heartbeat(deps, tenant, beat));
        await world.sql`UPDATE runs SET ended_at = clock_timestamp() WHERE id = ${run?.["id"] as string}`;
        const fails = job.type === "flaky" && job.attempts === 1;
        const acks = fails ? [] : [{ id: job_id, lease_token, result: { by: "remote" } }];
        const nacks = fails ? [{ id: job_id, lease_token, error: "not the first time", retry: true }] : [];
        await insist(() => settleRemote({ ...deps, followUps, backoff: world.backoff }, tenant, acks, nacks));
      }
  };
  const schedule = async (): Promise<void> => {
    const job = { type: "ok", payload: { slot: true } };
    const definition = { name: "yearly", cron: "0 0 1 1 *", timezone: "UTC", catch_up: "one", job } as const;
    await insist(() => putSchedule(deps, tenant, scheduleSchema.parse(definition)));
    await world.sql`UPDATE atlasqueue.schedules SET next_at = date_trunc('year', now()) WHERE name = 'yearly' AND last_slot_at IS NULL`;
    await until(
      "the slot",
      async () => (await world.sql`SELECT FROM atlasqueue.schedules WHERE last_slot_at IS NOT NULL`).length > 0,
    );
  };
  /** What is done to jobs that have ended; each is safe to do again. */
  const person = async (): Promise<void> => {
    await Promise.all([
      (async () => {
        const outcome = await insist(() => cancel(deps, tenant, id("cancelled")));
        if (outcome.kind === "cancelled") await followUps.cancelled([outcome.job], outcome.ready);
      })(),
      (async () => {
        await whenIs("deleted", "succeeded");
        await insist(() => deleteFinished(deps, tenant, [id("deleted")]));
      })(),
      (async () => {
        await until("the death", async () => ["dead", undefined].includes((await find("purged"))?.status));
        const purge = async () =>
          (await purgeAll({ ...deps, followUps }, { tenant, type: "doomed.purged" }, now)).matched;
        await until("the purge", async () => (await insist(purge)) === 0 || !(await find("purged")));
      })(),
      mend("replayed", () => replayAll({ ...deps, followUps }, { tenant, type: "mended" }, now)),
      mend("patched", async () => {
        const mended = { tenant, filter: { type: "doomed.patched" }, patch: { works: true } };
        if (!(await operating("replay"))) await createReplay(deps, mended, anybody);
      }),
      mend("in_bulk", () => operate("retry", "mended.in_bulk")),
      (async () => {
        await insist(() => operate("cancel", "stopped"));
        await whenIs("stopped", "cancelled");
      })(),
      mend("edited", async () =>
        followRetry(await editAndRetry(deps, tenant, id("edited"), { patch: { works: true } }, 10_000)),
      ),
      mend("retried", async () => followRetry(await retry(deps, tenant, id("retried")))),
      (async () => {
        const sent = await insist(() => sendSignal(deps, tenant, id("stepper"), "go", "gone"));
        if (sent.kind === "sent" && sent.woken) await followUps.woken(sent.job);
      })(),
    ]);
  };
  const operating = async (kind: string) =>
    (await world.sql`SELECT FROM atlasqueue.operations WHERE status = 'running' AND kind = ${kind}`).length > 0;
  /** All jobs of a type, in the background. */
  const operate = async (kind: "cancel" | "retry", type: string): Promise<void> => {
    const asked = { tenant, kind, filter: { type } };
    if (!(await operating(kind))) await createOperation({ ...deps, followUps }, asked, anybody);
  };
  /** A dead letter is given another chance, and one more if that one was lost with its process. */
  const mend = async (key: string, act: () => Promise<unknown>): Promise<void> => {
    while ((await whenIs(key, "dead", "succeeded")).status === "dead") {
      await insist(act);
      await delay(50);
    }
  };
  const followRetry = async (outcome: { kind: string; job?: JobRow; was_dead?: boolean }): Promise<void> => {
    const { job, kind, was_dead } = outcome;
    if (kind !== "retried" || !job) return;
    await followUps.retried({ ready: job.status === "queued" ? [job] : [], were_dead: was_dead ? [job.id] : [] });
  };

  const limits = await insist(() => setLimits(deps, { tenant, queue: "narrow" }, one_at_once));
  followUps.limitsChanged({ tenant, queue: "narrow" }, limits);
  await Promise.all([...lines.map(submitLine), submitFlow(), arrive()]);
  await Promise.all([attic(), serve("remote", ["acked", "nacked"]), schedule(), person()]);
}

const now = { dry_run: false };
const one_at_once = { concurrency: 1, group_concurrency: 2, rate: null, group_rate: null, fair_by: null };
const anybody = { kind: "anybody", token_id: null, name: null } as const;
