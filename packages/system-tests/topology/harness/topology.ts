import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { SpawnedProcess } from "@atlasqueue/harness";
import type { Api, System } from "../../system/system.ts";
import { readRuns, type Run } from "./runs.ts";

/** What can be told to end, and ends. */
type Running = Pick<SpawnedProcess, "kill" | "waitForExit">;

/** The whole system, started in some topology, as its clients see it. */
export type Topology = {
  /** Where jobs are submitted, each API in its turn. */
  apis: readonly Pick<Api, "url">[];
  /** All that must end with 0 when it is told to by SIGTERM; the API's processes too. */
  programs: readonly Running[];
  /** Of the tenants that the acts are done for; without them it is the default one, which needs none. */
  tokens?: Readonly<Record<string, string>>;
  /** What the handlers have done so far. */
  runs(): Run[];
  stop(): Promise<void>;
};

/** The queues of the suite; `queues.limited` gets a limit, `queues.ticks` the jobs of a schedule. */
export const queues = { plain: "default", limited: "limited", ticks: "ticks" } as const;

type RunRecord = {
  /** For each worker. */
  env: Readonly<Record<string, string>>;
  read(): Run[];
  remove(): void;
};

/** Where the handlers of the suite write down what they do, and the environment that makes a worker run them. */
function recordRuns(): RunRecord {
  const folder = mkdtempSync(join(tmpdir(), "atlasqueue-topology-"));
  const file = join(folder, "runs");
  writeFileSync(file, "");
  return {
    env: {
      TOPOLOGY_RUNS: file,
      WORKER_HANDLERS: fileURLToPath(new URL("../../test/topology-handlers.ts", import.meta.url)),
      WORKER_QUEUES: Object.values(queues).join(","),
    },
    read: () => readRuns(readFileSync(file, "utf8")),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** How many of each, the environment of all, of the APIs and of the workers, and what is to be stopped with them. */
type Processes = {
  apis?: number;
  workers?: number;
  env?: Record<string, string>;
  apiEnv?: Record<string, string>;
  workerEnv?: Record<string, string>;
  beside?: readonly { stop?(): unknown }[];
};

/**
 * The programs as processes, on the system's servers or on what `env` names instead. Stopping the system is part of
 * stopping the topology.
 *
 * @example
 * const start = async () => startProcesses(await startSystem(), { env: { REDIS_URL: sentinels.url } });
 */
export async function startProcesses(
  system: System,
  { env = {}, apiEnv = {}, workerEnv = {}, apis = 1, workers = 2, beside = [] }: Processes = {},
) {
  const record = recordRuns();
  const starting = {
    apis: Promise.all(Array.from({ length: apis }, () => system.startApi({ ...env, ...apiEnv }))),
    workers: Promise.all(
      Array.from({ length: workers }, () => system.startWorker({ ...record.env, ...env, ...workerEnv })),
    ),
  };
  const started = { apis: await starting.apis, workers: await starting.workers };
  return {
    system,
    ...started,
    programs: [...started.apis.map((api) => api.process), ...started.workers],
    runs: () => record.read(),
    async stop() {
      await system.stop();
      record.remove();
      for (const one of beside) await one.stop?.();
    },
  } satisfies Topology & Record<string, unknown>;
}
