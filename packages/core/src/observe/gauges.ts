import type { JobStatus } from "@atlasqueue/contract";
import { Gauge, type GaugeConfiguration, type Registry } from "prom-client";
import type { Connections, Database } from "../database/connect.ts";
import { countJobs } from "../counts/total.ts";
import { oldestReady } from "../queues/all-tenants.ts";
import type { Signal, SignalState } from "../signal/signal.ts";

const states: SignalState[] = ["up", "refusing", "down"];

/** The servers of a cell; its name is a label, and left out where there is one cell. */
export type CellServers = { cell?: string | undefined; database: Database; signal: Signal };

const labelsOf = ({ cell }: { cell?: string | undefined }) => (cell === undefined ? {} : { cell });

/**
 * How this process sees its servers, without asking them.
 *
 * @example
 * addServerGauges(metrics.registry, { database, signal });
 */
export function addServerGauges(registry: Registry, ...cells: readonly CellServers[]): void {
  const add = adderTo(registry);
  add({
    name: "atlasqueue_redis_state",
    help: "1 for the state that Redis is in for this process: up, refusing (it takes no writes) or down",
    labelNames: ["cell", "state"] as const,
    collect() {
      for (const cell of cells)
        for (const state of states) this.set({ ...labelsOf(cell), state }, state === cell.signal.state() ? 1 : 0);
    },
  });
  const pool: [string, string, keyof Connections][] = [
    ["connections", "Connections of this process to PostgreSQL, busy or idle", "open"],
    [
      "connections_busy",
      "Connections to PostgreSQL with a statement or a transaction of this process under way",
      "busy",
    ],
    ["connections_limit", "Connections to PostgreSQL that this process may open", "max"],
    ["statements_waiting", "Statements of this process that wait as all its connections are busy", "waiting"],
  ];
  for (const [name, help, what] of pool)
    add({
      name: `atlasqueue_database_${name}`,
      help,
      labelNames: ["cell"] as const,
      collect() {
        for (const cell of cells) this.set(labelsOf(cell), cell.database.connections()[what]);
      },
    });
}

/** However often these are read, Postgres is asked once per this time. */
const kept_ms = 15_000;
const asked_ms_max = 1_000;
/** Of more queues with ready jobs, some are left out. */
const queues_max = 2_000;

/**
 * What all tenants' queues hold, asked of Postgres at most once in fifteen seconds, and left out while it does not
 * answer. By status only: a label per queue would let one tenant fill the page and others read it.
 *
 * @example
 * addFleetGauges(metrics.registry, { database });
 */
export function addFleetGauges(
  registry: Registry,
  cells: Pick<CellServers, "cell" | "database"> | readonly Pick<CellServers, "cell" | "database">[],
  now: () => number = () => performance.now(),
): void {
  const asked = [cells].flat().map((cell) => {
    const database = { ...cell.database, timeout_ms: Math.min(cell.database.timeout_ms, asked_ms_max) };
    const longestWait = async () =>
      Math.max(0, ...(await oldestReady({ database }, queues_max)).map((one) => one.ready_ms));
    return {
      labels: labelsOf(cell),
      counts: kept<Record<JobStatus, number>>(() => countJobs({ database }, undefined), kept_ms, now),
      wait_ms: kept(longestWait, kept_ms, now),
    };
  });
  const add = adderTo(registry);
  add({
    name: "atlasqueue_jobs",
    help: "Jobs by status, of all tenants",
    labelNames: ["cell", "status"] as const,
    async collect() {
      const known = await Promise.all(asked.map(({ counts }) => counts()));
      this.reset();
      for (const [at, { labels }] of asked.entries())
        for (const [status, count] of Object.entries(known[at] ?? {})) this.set({ ...labels, status }, count);
    },
  });
  add({
    name: "atlasqueue_oldest_ready_job_seconds",
    help: "How long the job has been ready that waits longest, of up to 2,000 queues that are not paused",
    labelNames: ["cell"] as const,
    async collect() {
      const known = await Promise.all(asked.map(({ wait_ms }) => wait_ms()));
      this.reset();
      for (const [at, { labels }] of asked.entries()) {
        const ms = known[at];
        if (ms !== undefined) this.set(labels, ms / 1_000);
      }
    },
  });
}

function adderTo(registry: Registry) {
  return <Label extends string>(gauge: Omit<GaugeConfiguration<Label>, "registers">): void =>
    registry.registerMetric(new Gauge({ ...gauge, registers: [] }));
}

/**
 * The last answer while it is younger than `for_ms`, undefined when there was none; concurrent readers wait for the same
 * one, so that no more than one is under way.
 */
function kept<T>(ask: () => Promise<T>, for_ms: number, now: () => number): () => Promise<T | undefined> {
  let answer: Promise<T | undefined> | undefined;
  let asked_at = -Infinity;
  let under_way = false;
  return () => {
    if (answer && (under_way || now() - asked_at < for_ms)) return answer;
    asked_at = now();
    under_way = true;
    return (answer = ask()
      .catch(() => undefined)
      .finally(() => (under_way = false)));
  };
}
