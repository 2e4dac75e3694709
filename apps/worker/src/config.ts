import { resolve } from "node:path";
import { SettingError, type BackoffPolicy } from "@atlasqueue/core";
import type { HostRule } from "@atlasqueue/program/hosts";
import {
  keptFor,
  parseSettings,
  retentionSettings,
  retryPolicy,
  retrySettings,
  serverConfig,
  serverSettings,
  setting,
  telemetryConfig,
  telemetrySettings,
  withOwnTelemetry,
  type KeptFor,
  type ServerConfig,
  type TelemetryConfig,
} from "@atlasqueue/program";
import { z } from "zod";
import type { PushOptions } from "./handlers/push.ts";
import { readSecrets, secretsSetting } from "./handlers/signing.ts";
import type { WebhookOptions } from "./handlers/webhook-deliver.ts";

/** Every variable the worker reads, with its default. */
export const workerSettings = z.object({
  ...serverSettings,
  DATABASE_CONNECTIONS_MAX: setting.integer(2, 1_000).default(5),
  DATABASE_TIMEOUT_SECONDS: setting.seconds(0.1, 300).default(5),
  WORKER_HANDLERS: setting.list("paths of files or folders, separated by commas").default([]),
  WORKER_QUEUES: setting.queues().default(["default"]),
  WORKER_TYPES: setting.types().optional(),
  WORKER_TENANTS: setting.list("names of tenants, separated by commas, or * for all").default(["default"]),
  WORKER_CELLS: setting.list("names of cells in CELLS_FILE, separated by commas, or * for all").default(["*"]),
  WORKER_PROCESSES: setting.integer(1, 256).default(1),
  WORKER_CONCURRENCY: setting.integer(1, 10_000).default(10),
  WORKER_LEASE_SECONDS: setting.seconds(0.1, 3_600).default(30),
  WORKER_POLL_TIMEOUT: setting.seconds(0.1, 60).default(5),
  UNKNOWN_TYPE_SECONDS: setting.seconds(0, 86_400).default(300),
  WORKER_SHUTDOWN_SECONDS: setting.seconds(0, 3_600).default(25),
  WORKER_HANG_SECONDS: setting.seconds(0, 86_400).default(60),
  WORKER_DRAIN: setting.flag().default(false),
  WORKER_DRAIN_DUE_SECONDS: setting.seconds(0, 86_400).default(60),
  WORKER_DEMO_HANDLERS: setting.flag().default(false),
  ALLOWED_HOSTS: setting.hosts().default([]),
  WORKER_METRICS_HOST: setting.address().default("127.0.0.1"),
  WORKER_METRICS_PORT: setting.port().default(9_091),
  API_KEEP_ALIVE_SECONDS: setting.seconds(1, 3_600).default(65),
  ...retrySettings,
  ...retentionSettings,
  WEBHOOK_ALLOW_PRIVATE: setting.flag().default(false),
  WEBHOOK_SECRETS: secretsSetting,
  WORKER_PUSH_URL: setting.httpUrl().optional(),
  ...telemetrySettings,
});

export type WorkerAppConfig = ServerConfig &
  KeptFor & {
    handler_paths: string[];
    /** Names, or the slots that each has of its own: then `concurrency` is undefined. */
    queues: string[] | Record<string, number>;
    /** Only jobs of these types; undefined: of all. */
    types: string[] | undefined;
    tenants: string[] | "*";
    processes: number;
    concurrency: number | undefined;
    lease_seconds: number;
    poll_timeout_seconds: number;
    unknown_type_seconds: number;
    shutdown_ms: number;
    /** A child process that blocks its event loop for so long is killed by its parent; undefined: never. */
    hang_ms: number | undefined;
    /** When set, the worker ends when nothing is left to do and no job is due that soon. */
    drain: { dueWithinSeconds: number } | undefined;
    metrics: { host: string; port: number; keep_alive_ms: number };
    /** The host names that requests to the metrics port may use; addresses always may. Undefined: all names. */
    allowed_hosts: HostRule | undefined;
    /** Whether it runs `demo.*` jobs, which sleep and fail on request. */
    demo_handlers: boolean;
    backoff: BackoffPolicy;
    webhooks: WebhookOptions;
    /** Every job that no handler of its type takes goes to this URL. */
    push: PushOptions | undefined;
    telemetry: TelemetryConfig | undefined;
  };

/** Throws `SettingError`, one line, for the first variable that is wrong. */
export function readWorkerConfig(env: Record<string, string | undefined>): WorkerAppConfig {
  const set = parseSettings(workerSettings, withOwnTelemetry(env));
  const secrets = readSecrets(set.WEBHOOK_SECRETS);
  const servers = serverConfig(set);
  return {
    ...servers,
    cells: cellsOf(set.WORKER_CELLS, servers.cells),
    handler_paths: set.WORKER_HANDLERS.map((path) => resolve(env["INIT_CWD"] ?? "", path)),
    ...queuesOf(set.WORKER_QUEUES, set.WORKER_CONCURRENCY),
    types: set.WORKER_TYPES,
    tenants: tenantsOf(set.WORKER_TENANTS),
    processes: set.WORKER_PROCESSES,
    lease_seconds: set.WORKER_LEASE_SECONDS,
    poll_timeout_seconds: set.WORKER_POLL_TIMEOUT,
    unknown_type_seconds: set.UNKNOWN_TYPE_SECONDS,
    shutdown_ms: set.WORKER_SHUTDOWN_SECONDS * 1_000,
    hang_ms: set.WORKER_HANG_SECONDS === 0 ? undefined : set.WORKER_HANG_SECONDS * 1_000,
    drain: set.WORKER_DRAIN ? { dueWithinSeconds: set.WORKER_DRAIN_DUE_SECONDS } : undefined,
    metrics: {
      host: set.WORKER_METRICS_HOST,
      port: set.WORKER_METRICS_PORT,
      keep_alive_ms: set.API_KEEP_ALIVE_SECONDS * 1_000,
    },
    allowed_hosts: set.ALLOWED_HOSTS.includes("*") ? undefined : { names: set.ALLOWED_HOSTS, addresses: true },
    demo_handlers: set.WORKER_DEMO_HANDLERS,
    backoff: retryPolicy(set),
    ...keptFor(set),
    webhooks: { allow_private: set.WEBHOOK_ALLOW_PRIVATE, secrets },
    push: set.WORKER_PUSH_URL === undefined ? undefined : { url: set.WORKER_PUSH_URL, secrets },
    ...telemetryConfig(set),
  };
}

/**
 * `mail:20` is the queue mail with 20 slots of its own. Beside such a queue, those without a number have WORKER_CONCURRENCY
 * slots of their own each.
 */
function queuesOf(given: readonly string[], concurrency: number): Pick<WorkerAppConfig, "queues" | "concurrency"> {
  const names = given.length === 0 ? ["default"] : [...new Set(given)];
  const slots = names.map((name): [string, number] => {
    const [, queue = name, count = concurrency] = /^(.+):(\d+)$/.exec(name) ?? [];
    return [queue, Number(count)];
  });
  if (slots.every(([queue], at) => queue === names[at])) return { queues: names, concurrency };
  const refuse = (rule: string, got: string) =>
    new SettingError(`WORKER_QUEUES must ${rule}; got ${JSON.stringify(got)}`);
  for (const [at, [queue, count]] of slots.entries()) {
    if (count < 1 || count > 10_000) throw refuse("give a queue 1 to 10000 slots, such as mail:20", names[at] ?? "");
    if (slots.findIndex(([other]) => other === queue) < at) throw refuse("name a queue once", queue);
  }
  return { queues: Object.fromEntries(slots), concurrency: undefined };
}

function cellsOf(names: readonly string[], cells: WorkerAppConfig["cells"]): WorkerAppConfig["cells"] {
  const known = cells.map(({ name }) => name);
  const wrong = names.find((name) => !known.includes(name) && (name !== "*" || names.length > 1));
  if (wrong !== undefined)
    throw new SettingError(
      `WORKER_CELLS must be names of cells in CELLS_FILE (${known.join(", ")}), or * for all; got ${JSON.stringify(wrong)}`,
    );
  const [first, ...more] = cells.filter(({ name }) => names.includes(name));
  return first ? [first, ...more] : cells;
}

function tenantsOf(names: readonly string[]): string[] | "*" {
  const wrong = names.find((name) => /\s/.test(name) || (name.includes("*") && names.length > 1));
  if (wrong !== undefined)
    throw new SettingError(
      `WORKER_TENANTS must be names of tenants, separated by commas, or * for all; got ${JSON.stringify(wrong)}`,
    );
  if (names[0] === "*") return "*";
  return names.length === 0 ? ["default"] : [...new Set(names)];
}
