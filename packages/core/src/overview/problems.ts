import type { ProblemNow } from "@atlasqueue/contract";
import type { ServerReadiness } from "../database/server/readiness.ts";
import { ready_ms_max, whyLeft } from "../queues/workers.ts";
import type { RecentDeaths } from "../rollups/series.ts";
import type { SeenWorker } from "../signal/presence.ts";
import type { Summary, WaitingQueue } from "./summary.ts";

/** What is known at a moment. `workers` is undefined when Redis, which knows them, is away. */
export type Facts = ServerReadiness & {
  summary: Summary;
  deaths: RecentDeaths;
  workers: readonly SeenWorker[] | undefined;
  /** How late the sweep is with what is due. */
  sweep_late_ms: number;
};

/** A backlog with busy workers is work; one that is older than this deserves a look. */
const oldest_ms_max = 300_000;
/** A sweep comes each second or two; what has waited longer, no one sweeps. */
const sweep_ms_max = 15_000;
/** Fewer dead letters in a quarter of an hour are no trend. */
const deaths_min = 3;
/** Quarters of an hour in the day before. */
const quarters = 96;
/** Queues named in a sentence. */
const names_max = 3;

/**
 * What a person should look at: errors first, at most one of each code.
 *
 * @example
 * const problems = problemsIn(facts);
 */
export function problemsIn(facts: Facts): ProblemNow[] {
  const found = [
    ofPostgres(facts),
    ofRedis(facts),
    ofQueues(facts),
    ofWorkers(facts),
    ofSweep(facts),
    ofDeaths(facts),
    ofBacklog(facts),
    ofCounts(facts),
  ].filter((one) => one !== undefined);
  return [
    ...found.filter(({ severity }) => severity === "error"),
    ...found.filter(({ severity }) => severity !== "error"),
  ];
}

const nothing = { queue: null, count: null, since: null };
const times = (count: number, one: string, many: string) => (count === 1 ? one : `${count} ${many}`);

/** When it does not answer at all, nobody gets this far. */
function ofPostgres({ postgres }: Facts): ProblemNow | undefined {
  if (postgres !== "read_only") return undefined;
  const detail = "PostgreSQL is read-only: no job is accepted, started or finished until it takes writes again.";
  return { ...nothing, code: "postgres_read_only", severity: "error", detail };
}

function ofRedis({ redis }: Facts): ProblemNow | undefined {
  if (redis === "up") return undefined;
  const [code, what] =
    redis === "down" ? (["redis_down", "is unavailable"] as const) : (["redis_refusing", "takes no writes"] as const);
  const detail = `Redis ${what}: jobs are still accepted and run, but start up to a few seconds later.`;
  return { ...nothing, code, severity: "error", detail };
}

/** Waiting for long, and left by the workers there are: none of it is known without Redis. */
function leftIn({ summary, workers = [] }: Facts, why: ReturnType<typeof whyLeft>): WaitingQueue[] {
  return summary.waiting.filter((one) => {
    const serving = workers.filter(({ queues }) => queues.includes(one.queue));
    return summary.at.getTime() - one.since.getTime() > ready_ms_max && whyLeft(one, serving) === why;
  });
}

function ofQueues(facts: Facts): ProblemNow | undefined {
  const left = facts.workers ? leftIn(facts, "no_worker") : [];
  const [first] = left;
  if (!first) return undefined;
  const names = left.slice(0, names_max).map(({ queue }) => queue);
  const more = left.length > names.length ? " …" : "";
  const detail = `Ready jobs wait in ${times(left.length, "a queue", "queues")} that no worker serves: ${names.join(", ")}${more}`;
  return {
    code: "queue_without_workers",
    severity: "error",
    detail,
    queue: first.queue,
    count: left.length,
    since: first.since.toISOString(),
  };
}

function ofWorkers({ workers = [] }: Facts): ProblemNow | undefined {
  const stuck = workers.filter(({ state }) => state === "stuck");
  const [first] = stuck;
  if (!first) return undefined;
  const detail = `${times(stuck.length, "A worker is alive but takes", "workers are alive but take")} no jobs; restart it: ${first.id} on ${first.host}`;
  return { ...nothing, code: "workers_stuck", severity: "error", detail, count: stuck.length };
}

function ofSweep({ sweep_late_ms }: Facts): ProblemNow | undefined {
  if (sweep_late_ms <= sweep_ms_max) return undefined;
  const seconds = Math.round(sweep_late_ms / 1_000);
  const detail = `Due jobs or ended leases have waited for a sweep for ${seconds} s: is a worker or API process running?`;
  return { ...nothing, code: "sweep_behind", severity: "error", detail };
}

function ofDeaths({ deaths: { lately, before, since } }: Facts): ProblemNow | undefined {
  const usual = before / quarters;
  if (lately < deaths_min || lately <= 2 * usual) return undefined;
  const than = usual < 1 ? "more than usual" : `${Math.round(usual)} is usual`;
  const detail = `${lately} jobs died in the last 15 minutes; ${than}.`;
  return {
    ...nothing,
    code: "dead_letters_rising",
    severity: "error",
    detail,
    count: lately,
    since: since?.toISOString() ?? null,
  };
}

function ofBacklog(facts: Facts): ProblemNow | undefined {
  const { summary, workers } = facts;
  const unserved = new Set(workers ? leftIn(facts, "no_worker").map(({ queue }) => queue) : []);
  const served = summary.waiting.filter(({ queue }) => !unserved.has(queue));
  const late = served.filter(({ since }) => summary.at.getTime() - since.getTime() > oldest_ms_max);
  const [first] = late;
  if (!first) return undefined;
  const minutes = Math.round((summary.at.getTime() - first.since.getTime()) / 60_000);
  const helps = first.limited ? "its limits may be holding it" : "more workers, or slots, would help";
  const others = late.length > 1 ? `, and in ${late.length - 1} more` : "";
  const detail = `The oldest ready job of the queue ${first.queue} has waited for ${minutes} minutes${others}: ${helps}.`;
  return {
    code: "oldest_job_waits",
    severity: "warning",
    detail,
    queue: first.queue,
    count: late.length,
    since: first.since.toISOString(),
  };
}

function ofCounts({ summary }: Facts): ProblemNow | undefined {
  if (!summary.below_zero) return undefined;
  const detail =
    "The queue counts don't match the jobs. A statement other than AtlasQueue's may have changed its tables.";
  return { ...nothing, code: "counts_drifting", severity: "warning", detail };
}
