import { setTimeout as wait } from "node:timers/promises";
import type { SpawnedJobInput, Steps } from "@atlasqueue/contract";
import type { History } from "../history/open-history.ts";
import type { Task, TaskInput } from "./task.ts";

/** An attempt as a handler sees it, whether its worker has a database or is remote. */
export type Attempt = {
  worker: string;
  remote: boolean;
  job: { id: string; type: string; queue: string; attempt: number };
  signal: AbortSignal;
  spawn(jobs: readonly SpawnedJobInput[]): void;
  waitFor: Steps["waitFor"];
};

/** Whoever gets no signal goes on after so long, counted from the first wait. */
const parked_seconds_max = 5;

/** What the two libraries call the error that rules out another try. */
export type GiveUp = new (message: string) => Error;

/** Does what the payload asks for, and writes down that it does before it does anything. */
export async function perform(history: History, task: Task, attempt: Attempt, GiveUpError: GiveUp): Promise<object> {
  const { job, worker, remote, signal } = attempt;
  const { nonce, tenant, group } = task;
  const run = history.invoke("handle", {
    job: job.id,
    attempt: job.attempt,
    worker,
    tenant,
    queue: job.queue,
    nonce,
    ...(group !== undefined && { group }),
    ...(remote && { remote }),
  });
  try {
    if (task.waits_for !== undefined) await attempt.waitFor(task.waits_for, { timeoutSeconds: parked_seconds_max });
    const ms = job.attempt > 1 ? task.later_ms : task.ms;
    if (task.manner === "blocks") block(history, worker, ms);
    else if (ms > 0) await wait(ms, undefined, task.manner === "heeds" ? { signal } : {});
    if (job.attempt <= task.fails)
      throw task.gives_up ? new GiveUpError("it never will") : new Error("as it was asked to");
    if (task.spawns > 0) attempt.spawn(addedBy(history, task, job));
  } catch (error) {
    run.ok({ ended: signal.aborted ? "aborted" : "threw" });
    throw error;
  }
  run.ok({ ended: "returned" });
  return { by: worker, attempt: job.attempt };
}

/** Nothing else of its process gets a turn meanwhile: to the other jobs there that is a fault like any. */
function block(history: History, worker: string, ms: number): void {
  const [program = worker] = /^[a-z]+-\d+/.exec(worker) ?? [];
  const fault = history.invoke("fault", { fault: "event-loop-blocked-by-a-handler", victims: [program] });
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
  fault.ok({});
}

/** They are stored with the success or not at all, and nobody tells the handler which. */
function addedBy(history: History, { nonce, tenant, spawns }: Task, job: Attempt["job"]): SpawnedJobInput[] {
  const nonces = Array.from({ length: spawns }, (_, at) => `${nonce}.${job.attempt}.${at}`);
  const wanted = { kind: "spawned", tenant, queue: job.queue, ends: "succeeded" as const };
  history
    .invoke("submit", {
      via: "spawn",
      batch: `${nonce}.${job.attempt}`,
      jobs: nonces.map((one) => ({ nonce: one, ...wanted })),
    })
    .info("it is stored if the attempt succeeds");
  return nonces.map((one) => ({
    type: job.type,
    queue: job.queue,
    max_attempts: 25,
    payload: { nonce: one, tenant, ms: 5 } satisfies TaskInput,
  }));
}
