import {
  createSchedule as scheduleSchema,
  submitBatch,
  submitJob,
  type SubmitBatchInput,
  type SubmitJobInput,
} from "@atlasqueue/contract";
import { defaultTenant, flowOf, pauseQueue, putSchedule, setLimits, type Deps } from "@atlasqueue/core/internal";
import { countJobs, enqueue, foldCounts, refreshStatistics, submitFlow } from "@atlasqueue/core/internal/tools";
import { seedHistory } from "./history.ts";
import { seedJobs } from "./jobs.ts";
import { namedQueues } from "./kinds.ts";

/** `dead` of the jobs are dead letters; `days` are those with figures before the last one. */
type SeedSize = { jobs: number; dead: number; queues: number; days?: number };

/** Share of the other jobs that is still to do: one in this many. */
const open_part = 40;
const days_default = 29;

/**
 * Fill the default tenant with a believable day: jobs of every status in several queues, failures of several kinds, dead
 * letters, groups, flows, limits, schedules, attempts by several workers, a month of figures. What is to do in the queue
 * `default` a running worker will do. Jobs that are there already stay.
 *
 * @example
 * await seedDay(deps, { jobs: 20_000, dead: 600, queues: 8 }, console.log);
 */
export async function seedDay(deps: Deps, size: SeedSize, tell: (line: string) => void): Promise<void> {
  const dead = Math.min(size.dead, size.jobs);
  const open = Math.floor((size.jobs - dead) / open_part);
  const queues = Math.max(size.queues, namedQueues.length);
  const shape = { dead, open, finished: size.jobs - dead - open, queues };
  await seedJobs(deps, shape, (jobs) => tell(`${jobs} of ${size.jobs} jobs`));
  while ((await foldCounts(deps, 1_000)) === 1_000);
  tell("groups, flows, limits and schedules");
  await seedDecisions(deps);
  await refreshStatistics(deps.database).catch(() => tell("the statistics are left to autovacuum"));
  tell("figures of a month");
  await seedHistory(deps, shape, size.days ?? days_default);
}

/** Whether a tenant has jobs that a seed would be mixed with. */
export async function hasJobs(deps: Pick<Deps, "database">): Promise<boolean> {
  return Object.values(await countJobs(deps, defaultTenant)).some((count) => count > 0);
}

async function seedDecisions(deps: Deps): Promise<void> {
  const of = (queue: string) => ({ tenant: defaultTenant, queue });
  const none = { concurrency: null, group_concurrency: null, rate: null, group_rate: null, fair_by: null };
  await setLimits(deps, of("webhooks"), { ...none, concurrency: 20, rate: { limit: 600, period_seconds: 60 } });
  await setLimits(deps, of("payments"), { ...none, concurrency: 5 });
  await pauseQueue(deps, of("imports"));
  for (const schedule of schedules) await putSchedule(deps, defaultTenant, scheduleSchema.parse(schedule));
  const submissions = [...grouped, ...running].map((request) => ({
    tenant: defaultTenant,
    request: submitJob.parse(request),
  }));
  await enqueue(deps, submissions, { idempotency_ttl_seconds: 86_400 });
  for (const flow of flows)
    await submitFlow(deps, flowOf(submitBatch.parse(flow), { tenant: defaultTenant }), {
      idempotency_ttl_seconds: 86_400,
    });
}

/** No worker leases them. */
const grouped = Array.from({ length: 24 }, (_, at): SubmitJobInput => ({
  type: "payment.capture",
  queue: "payments",
  group: `customer-${at % 5}`,
  payload: { order_id: 90_000 + at },
}));
/** For the worker of `start`, which has these handlers. */
const running = Array.from({ length: 24 }, (_, at): SubmitJobInput => {
  if (at % 6 === 5) return { type: "demo.flaky", payload: { fail_times: 2 } };
  return { type: "demo.sleep", payload: { ms: 20_000 + 15_000 * at } };
});
/** One fails half way, and no worker leases the parts of the third. */
const flows: SubmitBatchInput[] = [
  {
    jobs: [
      ...["orders", "refunds", "stock"].map((table, at) => {
        return { ref: `load-${table}`, type: "demo.sleep", payload: { ms: 15_000 + 20_000 * at } };
      }),
      { ref: "add-up", type: "demo.echo", depends_on: ["load-orders", "load-refunds", "load-stock"] },
      { ref: "render", type: "demo.sleep", payload: { ms: 30_000 }, depends_on: ["add-up"] },
      { ref: "mail", type: "demo.echo", payload: { to: "board@example.com" }, depends_on: ["render"] },
    ],
  },
  {
    jobs: [
      { ref: "fetch", type: "demo.echo" },
      {
        ref: "convert",
        type: "demo.fail",
        payload: { message: "page 12 is not readable" },
        max_attempts: 1,
        depends_on: ["fetch"],
      },
      { ref: "publish", type: "demo.echo", depends_on: ["convert"] },
    ],
  },
  {
    jobs: ["north", "south"].map((ref) => ({ ref, type: "import.rows", queue: "imports", payload: { region: ref } })),
    then: { type: "report.monthly", queue: "reports" },
  },
];

const schedules = [
  {
    name: "nightly-report",
    cron: "30 2 * * *",
    timezone: "Europe/Berlin",
    job: { type: "report.monthly", queue: "reports" },
  },
  { name: "digest", cron: "0 7 * * 1-5", timezone: "America/New_York", job: { type: "mail.digest", queue: "mails" } },
  { name: "warehouse-export", cron: "15 */4 * * *", job: { type: "export.stock", queue: "reports", max_attempts: 2 } },
];
