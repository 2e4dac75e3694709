import type { Command } from "@commander-js/extra-typings";
import type { Env } from "../config.ts";

/** Gives the command its options, its own subcommands and its action. */
export type Define = (command: Command, env: Env) => void;

type Group = "Run" | "Submit" | "Inspect" | "Operate" | "Admin";

/** All subcommands, as `--help` lists them by group. Each one's file is loaded on demand. */
export const commands: Record<string, { group: Group; about: string; load: () => Promise<Define> }> = {
  start: {
    group: "Run",
    about: "Run the whole system: servers, migrations, API, and a worker in its own process.",
    load: async () => (await import("./start.ts")).defineStart,
  },
  api: {
    group: "Run",
    about: "Run just the HTTP API, on DATABASE_URL and REDIS_URL.",
    load: async () => (await import("./api.ts")).defineApi,
  },
  worker: {
    group: "Run",
    about: "Run just a worker, on DATABASE_URL and REDIS_URL. WORKER_HANDLERS names your handlers' files.",
    load: async () => (await import("./worker.ts")).defineWorker,
  },
  migrate: {
    group: "Run",
    about: "Bring the database at DATABASE_URL to the newest schema. Safe to run twice, even concurrently.",
    load: async () => (await import("./migrate.ts")).defineMigrate,
  },
  submit: {
    group: "Submit",
    about: "Submit one job, or one for every line of a file, to a running API.",
    load: async () => (await import("./submit.ts")).defineSubmit,
  },
  import: {
    group: "Submit",
    about: "Import the jobs and schedules of BullMQ or pg-boss.",
    load: async () => (await import("../import/command.ts")).defineImport,
  },
  jobs: {
    group: "Inspect",
    about: "List, show, import, edit, cancel, retry, signal and delete jobs.",
    load: async () => (await import("./jobs/jobs.ts")).defineJobs,
  },
  flows: {
    group: "Inspect",
    about: "List, show, cancel and retry flows: jobs that depend on one another.",
    load: async () => (await import("./jobs/flows.ts")).defineFlows,
  },
  queues: {
    group: "Operate",
    about: "List, pause and resume queues, set their limits, and show groups and scaling.",
    load: async () => (await import("./queues.ts")).defineQueues,
  },
  dlq: {
    group: "Operate",
    about: "List, group, replay and purge dead letters: jobs that failed for good.",
    load: async () => (await import("./dlq.ts")).defineDlq,
  },
  replays: {
    group: "Operate",
    about: "Start, list, pause and cancel replays of dead letters in the background.",
    load: async () => (await import("./replays.ts")).defineReplays,
  },
  operations: {
    group: "Operate",
    about: "List and cancel bulk operations and replays in the background.",
    load: async () => (await import("./operations.ts")).defineOperations,
  },
  workers: {
    group: "Inspect",
    about: "List workers (HTTP workers aren't listed).",
    load: async () => (await import("./workers.ts")).defineWorkers,
  },
  overview: {
    group: "Inspect",
    about: "Show system health and current problems.",
    load: async () => (await import("./figures/overview.ts")).defineOverview,
  },
  stats: {
    group: "Inspect",
    about: "Show job statistics of the last 15 minutes, hour, day or month.",
    load: async () => (await import("./figures/stats.ts")).defineStats,
  },
  events: {
    group: "Inspect",
    about: "Follow counts of queues, and jobs as they finish. Ctrl-C stops.",
    load: async () => (await import("./figures/events.ts")).defineEvents,
  },
  top: {
    group: "Inspect",
    about: "Watch the queues: jobs by status, throughput and oldest job. Ctrl-C stops.",
    load: async () => (await import("./top.ts")).defineTop,
  },
  schedules: {
    group: "Operate",
    about: "List, create, change, pause, run and delete schedules.",
    load: async () => (await import("./schedules.ts")).defineSchedules,
  },
  tokens: {
    group: "Admin",
    about: "Create, list, rotate and revoke tokens, directly in DATABASE_URL.",
    load: async () => (await import("./tokens.ts")).defineTokens,
  },
  cells: {
    group: "Admin",
    about: "List cells, and place and move tenants between them (CELLS_FILE).",
    load: async () => (await import("../cells/command.ts")).defineCells,
  },
  audit: {
    group: "Admin",
    about: "Show the audit log.",
    load: async () => (await import("./audit.ts")).defineAudit,
  },
  whoami: {
    group: "Admin",
    about: "Show your token, its scopes and when it expires.",
    load: async () => (await import("./whoami.ts")).defineWhoami,
  },
  seed: {
    group: "Run",
    about: "Fill a database with a made-up day of jobs.",
    load: async () => (await import("./seed.ts")).defineSeed,
  },
  mcp: {
    group: "Run",
    about: "Run an MCP server on stdin and stdout, for assistants and editors.",
    load: async () => (await import("./mcp.ts")).defineMcp,
  },
  doctor: {
    group: "Admin",
    about: "Check servers, settings, schema, clocks, leases, counts and wake-ups.",
    load: async () => (await import("./doctor.ts")).defineDoctor,
  },
};
