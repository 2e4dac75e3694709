import type { Command } from "@commander-js/extra-typings";
import type { Env } from "../config.ts";

/** Gives the command its options, its own subcommands and its action. */
export type Define = (command: Command, env: Env) => void;

/** All subcommands, as `--help` lists them. Each one's file is loaded on demand. */
export const commands: Record<string, { about: string; load: () => Promise<Define> }> = {
  start: {
    about: "Run the whole system: servers, migrations, API, and a worker in its own process.",
    load: async () => (await import("./start.ts")).defineStart,
  },
  api: {
    about: "Run just the HTTP API, on DATABASE_URL and REDIS_URL.",
    load: async () => (await import("./api.ts")).defineApi,
  },
  worker: {
    about: "Run just a worker, on DATABASE_URL and REDIS_URL. WORKER_HANDLERS names your handlers' files.",
    load: async () => (await import("./worker.ts")).defineWorker,
  },
  migrate: {
    about: "Bring the database at DATABASE_URL to the newest schema. Safe to run twice, even concurrently.",
    load: async () => (await import("./migrate.ts")).defineMigrate,
  },
  submit: {
    about: "Submit one job, or one for every line of a file, to a running API.",
    load: async () => (await import("./submit.ts")).defineSubmit,
  },
  jobs: {
    about: "Import, list, show, edit, cancel, retry, signal and delete jobs, one or many.",
    load: async () => (await import("./jobs/jobs.ts")).defineJobs,
  },
  flows: {
    about: "Jobs that wait for one another: see how far they are, cancel them, run again what failed.",
    load: async () => (await import("./jobs/flows.ts")).defineFlows,
  },
  queues: {
    about: "List queues, pause and resume them, set their limits; their groups, and figures for autoscalers.",
    load: async () => (await import("./queues.ts")).defineQueues,
  },
  dlq: {
    about: "The dead letters: jobs that failed for good. List, group, replay and purge them.",
    load: async () => (await import("./dlq.ts")).defineDlq,
  },
  replays: {
    about: "Replays of dead letters in the background: start, watch, pause, end.",
    load: async () => (await import("./replays.ts")).defineReplays,
  },
  operations: {
    about: "Bulk operations and replays in the background: how far they have come, and stop them.",
    load: async () => (await import("./operations.ts")).defineOperations,
  },
  workers: {
    about: "List the live workers, and what they do. Those that lease over HTTP announce nothing.",
    load: async () => (await import("./workers.ts")).defineWorkers,
  },
  overview: {
    about: "How things are, and what is wrong now.",
    load: async () => (await import("./figures/overview.ts")).defineOverview,
  },
  stats: {
    about:
      "What happened to jobs over the last 15 minutes, hour, day or month: how many, how long they waited and ran.",
    load: async () => (await import("./figures/stats.ts")).defineStats,
  },
  events: {
    about: "Follow what happens: counts of queues, and jobs as they finish. Ctrl-C ends it.",
    load: async () => (await import("./figures/events.ts")).defineEvents,
  },
  top: {
    about: "Watch the queues: jobs by status, jobs a second, how long the oldest has waited. Ctrl-C ends it.",
    load: async () => (await import("./top.ts")).defineTop,
  },
  schedules: {
    about: "Jobs that recur by cron, at a running API.",
    load: async () => (await import("./schedules.ts")).defineSchedules,
  },
  tokens: {
    about: "The tokens for AUTH=required, directly in DATABASE_URL: this is how the first one is made.",
    load: async () => (await import("./tokens.ts")).defineTokens,
  },
  audit: {
    about: "Who did what: pauses, limits, replays, purges, cancels, tokens, sign-ins.",
    load: async () => (await import("./audit.ts")).defineAudit,
  },
  whoami: {
    about: "Whose token the API sees, what it allows, and when it ends.",
    load: async () => (await import("./whoami.ts")).defineWhoami,
  },
  seed: {
    about: "Fill a database with a made-up day, to try things out.",
    load: async () => (await import("./seed.ts")).defineSeed,
  },
  mcp: {
    about: "An MCP server on stdin and stdout, for assistants and editors: the queue of a running API as their tools.",
    load: async () => (await import("./mcp.ts")).defineMcp,
  },
  doctor: {
    about: "Check that the servers answer and agree: settings, schema, clocks, leases, counts, signals.",
    load: async () => (await import("./doctor.ts")).defineDoctor,
  },
};
