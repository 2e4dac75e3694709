import { isFinal, queueInside, type JobDefaults, type JobDefinition } from "@atlasqueue/contract";
import { createLogger, InvalidJobError, type BackoffPolicy, type Queue, type QueueOptions } from "@atlasqueue/core";
import { isFlow, newId } from "@atlasqueue/core/internal/http";
import { unknownParent } from "@atlasqueue/core/internal";
import { ownFlow, ownSignal, ownSubmission } from "@atlasqueue/core/internal/tools";
import { createClock, type TestClock } from "./clock.ts";
import { insertFlow, runJob, type TestHandler } from "./run-job.ts";
import { createTestSchedules } from "./schedules.ts";
import { createStore, type Kept, type TestJob } from "./store.ts";

export type TestQueueOptions = {
  /** What `drain` runs. Jobs of other types stay where they are. Default: none. */
  handlers?: readonly TestHandler[];
  /** Where the clock starts. Default: the real time. */
  now?: Date;
  /** When a failed job runs again. Default: 5 s, doubled with each attempt up to an hour, without jitter. */
  backoff?: BackoffPolicy;
  /** The defaults of queues, by their names, as `PUT /v1/queues/{queue}/defaults` sets them. */
  defaults?: Readonly<Record<string, JobDefaults>>;
  /** As `createQueue` takes it. */
  middleware?: QueueOptions["middleware"];
};

export type DrainOptions = {
  /** Move the clock to each next due job and end of a wait, until nothing is left to run. Default false. */
  untilFinished?: boolean;
  /** Reject after this many attempts: a job may submit itself again for ever. Default 10,000. */
  attemptsMax?: number;
};

/** A queue as `createQueue` returns it, and what a test does with it. */
export type TestQueue = Queue & {
  readonly clock: TestClock;
  /** What was submitted, in order, as it is now: all jobs, or those of a type. */
  submitted(type?: string | Pick<JobDefinition, "type">): TestJob[];
  /** Run the jobs that are ready, and those that they add. Resolves with each attempt's job, as the attempt left it. */
  drain(options?: DrainOptions): Promise<TestJob[]>;
  /** Add handlers, which replace those of the same types. */
  handle(...handlers: TestHandler[]): void;
  /** From now on, each submission runs what is ready before it resolves. `false` ends that. */
  runInline(on?: boolean): void;
};

/**
 * A queue in memory, for tests: no PostgreSQL, no Redis, no waiting. Submissions are checked as those of `createQueue` are,
 * and throw the same errors. A transaction given to `submitIn` is ignored: what you roll back stays submitted.
 *
 * @example
 * const queue = createTestQueue({ handlers: [sendEmail] });
 * await signUp(queue, "ada@example.org").then(() => queue.drain());
 */
export function createTestQueue(options: TestQueueOptions = {}): TestQueue {
  const { backoff = { baseSeconds: 5, maxSeconds: 3_600, jitterMaxSeconds: 0 } } = options;
  const logger = createLogger("error", "atlasqueue-test", { write: () => {} });
  const handlers = new Map<string, TestHandler>((options.handlers ?? []).map((one) => [one.type, one]));
  const handle = (...added: TestHandler[]) => added.forEach((handler) => handlers.set(handler.type, handler));
  const clock = createClock(options.now ?? new Date(), () => schedules.fire());
  const store = createStore(clock, options.defaults ?? {});
  const schedules = createTestSchedules(store, clock);
  let inline = false;

  const handlerOf = ({ job }: Kept) => handlers.get(job.type) ?? handlers.get("*");
  const ready = () => store.all().filter((one) => one.job.status === "queued" && handlerOf(one));

  async function drain({ untilFinished = false, attemptsMax = 10_000 }: DrainOptions = {}): Promise<TestJob[]> {
    const ran: TestJob[] = [];
    for (;;) {
      // The sort is stable: of one priority, the oldest is first.
      const [one] = ready().toSorted((a, b) => b.job.priority - a.job.priority);
      const handler = one && handlerOf(one);
      if (one && handler) {
        if (ran.length >= attemptsMax) throw new Error(`drain() ran ${attemptsMax} attempts, and jobs are left`);
        const { size = 1 } = handler.options;
        const of_type = ({ job }: Kept) => job.type === one.job.type;
        const together = size > 1 ? ready().filter(of_type).slice(0, size) : [one];
        await Promise.all(together.map((each) => runJob({ store, clock, backoff, logger }, each, handler)));
        store.all();
        ran.push(...together.map(({ job }) => structuredClone(job)));
        continue;
      }
      const due = store.all().filter((other) => handlerOf(other) && /^(scheduled|failed)$/.test(other.job.status));
      if (!untilFinished || due.length === 0) return ran;
      clock.advanceTo(new Date(Math.min(...due.map(({ job }) => Date.parse(job.run_at)))));
    }
  }

  const runIfInline = async () => void (inline && (await drain()));
  const submitMany: Queue["submitMany"] = async (jobs) => {
    const submitted = jobs.map((job) => ownSubmission("default", job)).map((one) => store.insert(one));
    await runIfInline();
    return submitted;
  };
  const submit: Queue["submit"] = async (job) => (await submitMany([job]))[0] as Awaited<ReturnType<Queue["submit"]>>;
  const submitFlow: Queue["submitFlow"] = async (asked) => {
    const flow = ownFlow("default", asked);
    const refs = new Set(flow.jobs.map(({ ref }) => ref));
    const faults = flow.jobs.flatMap(({ depends_on = [] }, at) =>
      [...depends_on.entries()]
        .filter(([, parent]) => !refs.has(parent) && !store.get(parent))
        .map(([nth, parent]) => ({ pointer: `/jobs/${at}/depends_on/${nth}`, message: unknownParent(parent) })),
    );
    if (faults.length > 0) throw new InvalidJobError(faults);
    const flow_id = isFlow(flow) ? newId() : null;
    const jobs = insertFlow(store, flow.jobs, { flow_id });
    const parents = jobs.map(({ id }, at) => ({ ref: flow.jobs[at]?.ref ?? id, id }));
    const then = flow.then && store.insert({ ...flow.then, parents, on_parent_failure: "run", flow_id });
    await runIfInline();
    return { jobs, flow_id: store.get(jobs[0]?.id ?? "")?.job.flow_id ?? null, ...(then && { then }) };
  };

  return queueInside<TestQueue>(options.middleware, {
    clock,
    drain,
    handle,
    schedules: schedules.book,
    submit,
    submitIn: (_tx, job) => submit(job),
    submitFlow,
    async submitFlowIn(_tx, flow) {
      const { jobs, then } = await submitFlow(flow);
      return [...jobs, ...(then ? [then] : [])].map(({ id }) => ({ id }));
    },
    submitMany,
    announce: async () => {},
    async signal(id, name, payload) {
      const value = ownSignal(name, payload);
      const one = store.get(id);
      if (!one) return "unknown";
      if (isFinal(one.job.status)) return "finished";
      if (one.signals.has(name)) return "sent_before";
      if ((one.waits.get(name) ?? Infinity) <= clock.now().getTime()) return "too_late";
      one.signals.set(name, value);
      if (one.job.waits_for === name) Object.assign(one.job, { waits_for: null, run_at: clock.now().toISOString() });
      await runIfInline();
      return "sent";
    },
    submitted(type) {
      const wanted = typeof type === "object" ? type.type : type;
      const jobs = store.all().map(({ job }) => job);
      return structuredClone(jobs.filter((job) => wanted === undefined || job.type === wanted));
    },
    runInline: (on = true) => void (inline = on),
    close: async () => {},
  });
}
