import type { Json, JsonObject } from "../checks/json.ts";
import type { JobSubmission } from "./define-job.ts";

/** The attempt that a middleware of handlers is around. */
export type HandlerCall<Job = { id: string }> = {
  job: Job;
  type: string;
  queue: string;
  attempt: number;
  /** As it was submitted, before the handler's schema. */
  payload: Json;
  /** As the handler's own. */
  signal: AbortSignal;
};

/** Around each handler. `next()` runs it and resolves with its result; what this returns is stored, and throwing fails the attempt. */
export type HandlerMiddleware<Job = { id: string }> = (
  context: HandlerCall<Job>,
  next: () => Promise<unknown>,
) => unknown;

/** A copy that a middleware may change. */
export type Submitting = JobSubmission & { payload: JsonObject };

/**
 * Around each submission, of many as of one. `next()` resolves with the job's id once it is durable, and for one of many once
 * all of them are. Throwing before that submits nothing.
 */
export type SubmitMiddleware = (submission: Submitting, next: () => Promise<{ id: string }>) => unknown;

type Middleware<Given, Result> = (given: Given, next: () => Promise<Result>) => unknown;

/**
 * Runs something inside all of these, the first outermost. Each may call `next` once; calling it again throws.
 *
 * @example
 * const result = await throughAll(middleware, call, () => handler.run(payload, context));
 */
export async function throughAll<Given, Result>(
  all: readonly Middleware<Given, Result>[],
  given: Given,
  run: () => Promise<Result>,
): Promise<unknown> {
  const [first, ...others] = all;
  if (!first) return run();
  let called = false;
  return first(given, () => {
    if (called) throw new Error("a middleware called next() twice");
    called = true;
    const rest = throughAll(others, given, run) as Promise<Result>;
    // It may not be awaited.
    rest.catch(() => {});
    return rest;
  });
}

type Id = { id: string };
type FlowSubmission = { jobs: readonly JobSubmission[]; then?: JobSubmission | undefined };

/**
 * Has submissions pass through the middleware, each job by itself, before they are sent together.
 *
 * @example
 * const through = submitThrough(options.middleware);
 * submitMany: (jobs) => through.many(jobs, async (changed) => store(changed)),
 */
export function submitThrough(given: readonly SubmitMiddleware[] = []) {
  // Whatever it returns, the next outer one gets the job's id.
  const all = given.map((one) => async (submission: Submitting, next: () => Promise<Id>): Promise<Id> => {
    let stored: Promise<Id> | undefined;
    await one(submission, () => (stored = next()));
    if (!stored) throw new Error("a middleware of submissions must call next(), or throw");
    return stored;
  });
  async function pass<Job extends JobSubmission, Answer>(
    jobs: readonly Job[],
    send: (jobs: readonly Job[]) => Promise<Answer>,
    idsOf: (answer: Answer) => readonly (Id | undefined)[],
  ): Promise<Answer> {
    if (all.length === 0 || jobs.length === 0) return send(jobs);
    const changed = jobs.map((job) => ({ ...job, payload: { ...job.payload } }));
    const sent = Promise.withResolvers<Answer>();
    sent.promise.catch(() => {});
    let missing = jobs.length;
    const passOne = async (job: Job & Submitting, at: number): Promise<void> => {
      let called = false;
      try {
        await throughAll(all, job, async () => {
          called = true;
          missing -= 1;
          if (missing === 0) sent.resolve(send(changed));
          return { id: idsOf(await sent.promise)[at]?.id ?? "" };
        });
      } catch (error) {
        if (!called) sent.reject(error);
        throw error;
      }
    };
    await Promise.all(changed.map(passOne));
    return sent.promise;
  }
  return {
    one: <Job extends JobSubmission, Answer extends Id>(job: Job, send: (job: Job) => Promise<Answer>) =>
      pass(
        [job],
        ([changed = job]) => send(changed),
        (answer) => [answer],
      ),
    many: <Job extends JobSubmission, Answer extends readonly Id[]>(
      jobs: readonly Job[],
      send: (jobs: readonly Job[]) => Promise<Answer>,
    ) => pass(jobs, send, (answer) => answer),
    /** `idsOf`: of its jobs, and of `then` after them. */
    flow: <Flow extends FlowSubmission, Answer>(
      flow: Flow,
      send: (flow: Flow) => Promise<Answer>,
      idsOf: (answer: Answer) => readonly (Id | undefined)[],
    ) => {
      const { jobs, then } = flow;
      const sendAll = (changed: readonly JobSubmission[]) =>
        send({ ...flow, jobs: changed.slice(0, jobs.length), ...(then && { then: changed[jobs.length] }) });
      return pass([...jobs, ...(then ? [then] : [])], sendAll, idsOf);
    },
  };
}

type Submits = {
  submit(job: JobSubmission): Promise<Id>;
  submitMany(jobs: readonly JobSubmission[]): Promise<readonly Id[]>;
  submitFlow(flow: FlowSubmission): Promise<{ jobs: readonly Id[]; then?: Id | undefined }>;
  submitIn(tx: never, job: JobSubmission): Promise<Id>;
  submitFlowIn(tx: never, flow: FlowSubmission): Promise<readonly Id[]>;
};

/**
 * The queue with its submissions inside the middleware.
 *
 * @example
 * return queueInside<Queue>(options.middleware, { submit, … });
 */
export function queueInside<Queue extends Submits>(all: readonly SubmitMiddleware[] | undefined, queue: Queue): Queue {
  if (!all || all.length === 0) return queue;
  const through = submitThrough(all);
  const inside: Submits = {
    submit: (job) => through.one(job, (changed) => queue.submit(changed)),
    submitMany: (jobs) => through.many(jobs, (changed) => queue.submitMany(changed)),
    submitFlow: (flow) =>
      through.flow(
        flow,
        (changed) => queue.submitFlow(changed),
        ({ jobs, then }) => [...jobs, then],
      ),
    submitIn: (tx, job) => through.one(job, (changed) => queue.submitIn(tx, changed)),
    submitFlowIn: (tx, flow) =>
      through.flow(
        flow,
        (changed) => queue.submitFlowIn(tx, changed),
        (jobs) => jobs,
      ),
  };
  return { ...queue, ...inside };
}
