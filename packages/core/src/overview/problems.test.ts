import { expect, test } from "vitest";
import { jobStatuses } from "@atlasqueue/contract";
import type { SeenWorker } from "../signal/presence.ts";
import { problemsIn, type Facts } from "./problems.ts";
import type { Summary, WaitingQueue } from "./summary.ts";

const at = new Date("2030-01-31T12:00:00.000Z");
const ago = (seconds: number) => new Date(at.getTime() - seconds * 1_000);
const summary: Summary = {
  at,
  counts: Object.fromEntries(jobStatuses.map((status) => [status, 0])) as Summary["counts"],
  queues: 1,
  paused_queues: 0,
  below_zero: false,
  waiting: [],
};
const well: Facts = {
  postgres: "up",
  redis: "up",
  summary,
  deaths: { lately: 0, before: 0, since: null },
  workers: [],
  sweep_late_ms: 0,
};
const waiting = (queue: string, seconds: number, running = 0): WaitingQueue => ({
  queue,
  running,
  limited: false,
  since: ago(seconds),
});
const worker = (state: SeenWorker["state"], queues: string[], active = 10): SeenWorker => ({
  tenant: "default",
  id: "w-1",
  host: "box",
  pid: 1,
  queues,
  handlers: [],
  concurrency: 10,
  active,
  state,
  lease_seconds: 30,
  last_seen: at,
});
const waits = (...queues: WaitingQueue[]) => ({ summary: { ...summary, waiting: queues } });

test("nothing is wrong with an idle system, nor with one that is just busy", () => {
  expect(problemsIn(well)).toEqual([]);
  const busy = { ...well, ...waits(waiting("mails", 200)), workers: [worker("running", ["mails"])] };
  expect(problemsIn(busy)).toEqual([]);
});

test.each<[string, Partial<Facts>, object]>([
  ["postgres_read_only", { postgres: "read_only" }, { severity: "error" }],
  ["redis_down", { redis: "down", workers: undefined }, { severity: "error" }],
  ["redis_refusing", { redis: "refusing" }, { severity: "error" }],
  [
    "queue_without_workers",
    {
      ...waits(waiting("reports", 200), waiting("mails", 100), waiting("new", 5)),
      workers: [worker("running", ["new"])],
    },
    { queue: "reports", count: 2, since: ago(200).toISOString() },
  ],
  ["workers_stuck", { workers: [worker("stuck", ["mails"])] }, { count: 1 }],
  ["sweep_behind", { sweep_late_ms: 60_000 }, { severity: "error" }],
  ["dead_letters_rising", { deaths: { lately: 20, before: 96, since: ago(60) } }, { count: 20 }],
  [
    "oldest_job_waits",
    { ...waits(waiting("mails", 400)), workers: [worker("running", ["mails"])] },
    { severity: "warning", queue: "mails" },
  ],
  ["counts_drifting", { summary: { ...summary, below_zero: true } }, { severity: "warning" }],
])("%s is told", (code, facts, more) => {
  const problems = problemsIn({ ...well, ...facts });
  expect(problems).toMatchObject([{ code, ...more }]);
});

test("dead letters are not rising when as many die as ever, or just one or two", () => {
  expect(problemsIn({ ...well, deaths: { lately: 20, before: 96 * 15, since: ago(1) } })).toEqual([]);
  expect(problemsIn({ ...well, deaths: { lately: 2, before: 0, since: ago(1) } })).toEqual([]);
});

test("a queue that remote workers serve, who announce nothing, is known by what runs", () => {
  expect(problemsIn({ ...well, ...waits(waiting("remote", 200, 1)) })).toEqual([]);
});

test("without Redis nobody is said to be missing, and errors stand before warnings", () => {
  const facts = { ...well, ...waits(waiting("mails", 900)), redis: "down" as const, workers: undefined };
  facts.summary = { ...facts.summary, below_zero: true };
  expect(problemsIn(facts).map(({ code }) => code)).toEqual(["redis_down", "oldest_job_waits", "counts_drifting"]);
});
