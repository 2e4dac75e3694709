import { cpuOf } from "../costs/costs.ts";
import type { Row, TargetResult } from "./result.ts";

type Target = Pick<TargetResult, "name" | "target" | "bound"> & {
  /** Undefined when one of its rows was not measured. */
  ratio(figures: Figures): number | undefined;
};

type Figures = {
  /** Ours by one other variant's. */
  over(scenario: string, variant: string): number | undefined;
  /** Ours, as measured. */
  ours(scenario: string): number | undefined;
  /** One of ours by another one of ours. */
  oursOver(scenario: string, other: string): number | undefined;
  /** Ours by the best of these that were measured. */
  overBest(scenario: string, variants: readonly string[]): number | undefined;
  /** Our processor time of a job by the least of these. Steadier than a rate on a machine with other work. */
  cpuOverLeast(scenario: string, variants: readonly string[]): number | undefined;
};

const onPostgres = ["bullmq-postgres", "pg-boss", "graphile-worker"];
const peers = ["bullmq-memory", "bullmq-durable", ...onPostgres];
const single = "add, 50 callers";
const bulk = "bulk add by 1,000";

/** Every target of the project's performance page that these scenarios can check. */
const targets: readonly Target[] = [
  atLeast(1, "single add, 50 callers ÷ BullMQ in memory", ({ over }) => over(single, "bullmq-memory")),
  atLeast(1.4, "single add, 50 callers ÷ BullMQ, fsync always", ({ over }) => over(single, "bullmq-durable")),
  atLeast(12, "single add, 50 callers ÷ BullMQ on PostgreSQL", ({ over }) => over(single, "bullmq-postgres")),
  atLeast(12, "single add, 50 callers ÷ pg-boss", ({ over }) => over(single, "pg-boss")),
  atLeast(12, "single add, 50 callers ÷ graphile-worker", ({ over }) => over(single, "graphile-worker")),
  atLeast(1.1, "single add, 500 callers ÷ BullMQ in memory", ({ over }) => over("add, 500 callers", "bullmq-memory")),
  atLeast(1.7, "bulk add ÷ the best peer", ({ overBest }) => overBest(bulk, peers)),
  atLeast(1.3, "process ÷ the best peer", ({ overBest }) => overBest("process", peers)),
  atLeast(3, "process ÷ BullMQ in memory", ({ over }) => over("process", "bullmq-memory")),
  atLeast(20, "process ÷ BullMQ on PostgreSQL", ({ over }) => over("process", "bullmq-postgres")),
  atMost(0.7, "latency p50 ÷ the best peer on PostgreSQL", ({ overBest }) => overBest("latency p50", onPostgres)),
  atMost(1, "latency p99 ÷ the best peer on PostgreSQL", ({ overBest }) => overBest("latency p99", onPostgres)),
  atLeast(0.8, "single add, 50 callers ÷ bare SQL", ({ over }) => over(single, "bare-sql")),
  atLeast(0.7, "bulk add ÷ bare SQL", ({ over }) => over(bulk, "bare-sql")),
  atLeast(0.7, "process ÷ bare SQL", ({ over }) => over("process", "bare-sql")),
  // Where the processors are what is short, half the CPU is twice the rate: each bound is one of the above, inverted.
  atMost(1, "CPU of a job, single add, 50 callers ÷ the thriftiest peer", ({ cpuOverLeast }) =>
    cpuOverLeast(single, peers),
  ),
  atMost(0.59, "CPU of a job, bulk add ÷ the thriftiest peer", ({ cpuOverLeast }) => cpuOverLeast(bulk, peers)),
  atMost(0.77, "CPU of a job, process ÷ the thriftiest peer", ({ cpuOverLeast }) => cpuOverLeast("process", peers)),
  atMost(1.25, "CPU of a job, single add, 50 callers ÷ bare SQL", ({ cpuOverLeast }) =>
    cpuOverLeast(single, ["bare-sql"]),
  ),
  ...[bulk, "process"].map((scenario) =>
    atMost(1.43, `CPU of a job, ${scenario} ÷ bare SQL`, ({ cpuOverLeast }) => cpuOverLeast(scenario, ["bare-sql"])),
  ),
  atLeast(0.4, "HTTP submit, 200 connections ÷ bare Hono", ({ over }) =>
    over("HTTP submit, 200 connections", "bare-hono"),
  ),
  atLeast(50_000, "HTTP batches of 1,000, 4 connections, jobs a second", ({ ours }) =>
    ours("HTTP batches of 1,000, 4 connections"),
  ),
  atLeast(5_000, "remote: lease + settle in batches of 100, jobs a second", ({ ours }) =>
    ours("remote: lease + settle in batches of 100"),
  ),
  atLeast(1_400, "process in one group, jobs a second", ({ ours }) => ours("process, one group")),
  atLeast(0.65, "process in 1,000 groups ÷ ungrouped", ({ oursOver }) =>
    oursOver("process, 1,000 groups", "process, ungrouped"),
  ),
  atLeast(0.9, "process one hot queue, 16 workers ÷ one", ({ oursOver }) =>
    oursOver("process, 16 worker processes", "process, 1 worker process"),
  ),
  atLeast(0.8, "process 10,000 queues ÷ one", ({ oursOver }) => oursOver("process, 10,000 queues", "process, 1 queue")),
  atMost(4.5, "end to end at half of the sustained load p50, ms", ({ ours }) => ours("end to end at half p50")),
  atMost(30, "end to end at half of the sustained load p99, ms", ({ ours }) => ours("end to end at half p99")),
  ...[50, 99].map((p) =>
    atMost(1, `p${p} at the same load ÷ the best peer on PostgreSQL`, ({ overBest }) =>
      overBest(`same load p${p}`, onPostgres),
    ),
  ),
  atLeast(0.92, "throughput while a snapshot is open ÷ none", ({ ours }) =>
    ours("add and process: snapshot open ÷ none"),
  ),
  atLeast(0.97, "throughput while jobs are uncommitted ÷ a foreign row is", ({ ours }) =>
    ours("jobs uncommitted ÷ a foreign row"),
  ),
  atLeast(0.5, "throughput of a limited queue while a snapshot is open ÷ none", ({ ours }) =>
    ours("add and process, limited: snapshot open ÷ none"),
  ),
  atMost(100, "lateness p50, ms", ({ ours }) => ours("lateness p50")),
  atMost(500, "lateness p99, ms", ({ ours }) => ours("lateness p99")),
  atMost(1, "idle API and worker, % of a core", ({ ours }) => ours("idle, CPU")),
  atMost(1, "idle API and worker, transactions a second", ({ ours }) => ours("idle, transactions")),
  ...["worker", "api"].map((process) =>
    atMost(1.1, `${process} memory, at 100 % ÷ at 10 % of the jobs`, ({ oursOver }) =>
      oursOver(`${process} memory at 100 %`, `${process} memory at 10 %`),
    ),
  ),
  ...["add, 50 callers", "bulk add by 1,000", "process"].map((rate) =>
    atLeast(0.95, `${rate}: history and backlog ÷ empty table`, ({ oursOver }) =>
      oursOver(`${rate}, full`, `${rate}, empty`),
    ),
  ),
  atMost(20, "queue counts with history and backlog, ms", ({ ours }) => ours("queue counts, full")),
  atLeast(0.95, "process the backlog ÷ process on an empty table", ({ oursOver }) =>
    oursOver("process the backlog, full", "process, empty"),
  ),
];

/** The targets whose figures are there. */
export function checkTargets(rows: readonly Row[]): TargetResult[] {
  const find = (scenario: string, variant: string) =>
    rows.find((row) => row.scenario === scenario && row.variant === variant);
  const over = (scenario: string, variant: string): number | undefined => {
    const [ours, other] = [find(scenario, "atlasqueue"), find(scenario, variant)];
    return ours && other ? ours.median / other.median : undefined;
  };
  const overBest = (scenario: string, variants: readonly string[]): number | undefined => {
    const ratios = variants.map((variant) => over(scenario, variant)).filter((ratio) => ratio !== undefined);
    if (ratios.length === 0) return undefined;
    // The best peer is the one we are least ahead of: the highest rate, the lowest time.
    return find(scenario, "atlasqueue")?.unit === "ms" ? Math.max(...ratios) : Math.min(...ratios);
  };
  const cpu = (scenario: string, variant: string) => {
    const costs = find(scenario, variant)?.costs?.median;
    return costs && cpuOf(costs);
  };
  const cpuOverLeast = (scenario: string, variants: readonly string[]): number | undefined => {
    const ofOurs = cpu(scenario, "atlasqueue");
    const ofOthers = variants.map((variant) => cpu(scenario, variant)).filter((us) => us !== undefined);
    return ofOurs === undefined || ofOthers.length === 0 ? undefined : ofOurs / Math.min(...ofOthers);
  };
  const ours = (scenario: string) => find(scenario, "atlasqueue")?.median;
  const oursOver = (scenario: string, other: string): number | undefined => {
    const [one, by] = [ours(scenario), ours(other)];
    return one === undefined || by === undefined ? undefined : one / by;
  };
  return targets.flatMap(({ name, target, bound, ratio: ratioOf }) => {
    const ratio = ratioOf({ over, overBest, ours, oursOver, cpuOverLeast });
    if (ratio === undefined) return [];
    return [{ name, ratio, target, bound, met: bound === "at least" ? ratio >= target : ratio <= target }];
  });
}

function atLeast(target: number, name: string, ratio: Target["ratio"]): Target {
  return { name, target, bound: "at least", ratio };
}

function atMost(target: number, name: string, ratio: Target["ratio"]): Target {
  return { name, target, bound: "at most", ratio };
}
