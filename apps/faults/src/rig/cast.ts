import { fileURLToPath } from "node:url";
import { commandFile } from "@atlasqueue/harness/servers";
import { queueNames } from "../load/kinds.ts";
import { linkName } from "./links.ts";
import type { Role } from "./processes.ts";

/** A program of the rig, before it is known where its servers are. */
export type Part = {
  name: string;
  role: Role;
  /** A file and its arguments. */
  runs: readonly [string, ...string[]];
  /** What it talks to, each over a link of its own. */
  uses: readonly string[];
  env: Readonly<Record<string, string>>;
};

/** Short, so that a run of 90 seconds sees many leases end. */
export const lease_ms = 3_000;
export const sweep_ms = 1_000;
export const backoff_ms_max = 2_000;
export const tenants = ["default", "other"] as const;
export const apiNames = ["api-1", "api-2"] as const;

const load = (file: string) => fileURLToPath(new URL(`../load/${file}`, import.meta.url));
const retries = {
  RETRY_BASE_DELAY_SECONDS: "0.2",
  RETRY_MAX_DELAY_SECONDS: String(backoff_ms_max / 1_000),
  RETRY_JITTER_MAX_SECONDS: "0.2",
  LOG_LEVEL: "warning",
};
const workers = {
  ...retries,
  WORKER_HANDLERS: load("handlers.ts"),
  WORKER_QUEUES: queueNames.join(","),
  WORKER_TENANTS: tenants.join(","),
  WORKER_CONCURRENCY: "20",
  WORKER_LEASE_SECONDS: String(lease_ms / 1_000),
  WORKER_POLL_TIMEOUT: String(sweep_ms / 1_000),
  WORKER_SHUTDOWN_SECONDS: "5",
  WORKER_METRICS_PORT: "0",
};

/**
 * Who is in it: two APIs, three workers of which one runs its handlers in processes, two remote workers, two submitters.
 * Ports and names stay the same through every restart.
 */
export function parts(rate: number, ports: readonly number[]): Part[] {
  const worker = (at: number, env: Readonly<Record<string, string>> = {}): Part => ({
    name: `worker-${at}`,
    role: "worker",
    runs: [commandFile, "worker"],
    uses: ["postgres", "redis"],
    env: { ...workers, ...env },
  });
  const remote = (at: number): Part => ({
    name: `remote-${at}`,
    role: "remote",
    runs: [load("remote-main.ts")],
    uses: [...apiNames],
    env: {},
  });
  const submitter = (at: number): Part => ({
    name: `submitter-${at}`,
    role: "submitter",
    runs: [load("submit-main.ts")],
    uses: [...apiNames, "postgres", "redis"],
    env: { FAULTS_RATE: String(rate / 2), FAULTS_KEEPS: tenants[at - 1] ?? "" },
  });
  const api = (name: string, at: number): Part => ({
    name,
    role: "api",
    runs: [commandFile, "api"],
    uses: ["postgres", "redis"],
    env: { ...retries, AUTH: "required", DASHBOARD: "false", API_PORT: String(ports[at]), SHUTDOWN_SECONDS: "3" },
  });
  return [
    ...apiNames.map(api),
    worker(1),
    worker(2, { WORKER_PROCESSES: "2", WORKER_CONCURRENCY: "10" }),
    worker(3, { FAULTS_ISOLATE: "true", WORKER_CONCURRENCY: "4" }),
    ...[1, 2].map(remote),
    ...[1, 2].map(submitter),
  ];
}

/** The links there are, by name, known before anything is started. */
export const linksOf = (all: readonly Part[]): string[] =>
  all.flatMap(({ name, uses }) => uses.map((to) => linkName(name, to)));
