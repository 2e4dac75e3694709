import type { Command } from "@commander-js/extra-typings";
import type { Env } from "../config.ts";

/** Gives the command its options, its own subcommands and what it does. */
export type Define = (command: Command, env: Env) => void;

/** All subcommands, as `--help` lists them. The file of one is loaded when it is asked for. */
export const commands: Record<string, { about: string; load: () => Promise<Define> }> = {
  start: {
    about: "Run the whole system: servers, migrations, API, and a worker in a process of its own.",
    load: async () => (await import("./start.ts")).defineStart,
  },
  api: {
    about: "Run the HTTP API alone, on DATABASE_URL and REDIS_URL.",
    load: async () => (await import("./api.ts")).defineApi,
  },
  worker: {
    about: "Run a worker alone, on DATABASE_URL and REDIS_URL. WORKER_HANDLERS names your handlers' files.",
    load: async () => (await import("./worker.ts")).defineWorker,
  },
  migrate: {
    about: "Bring the database at DATABASE_URL to the newest schema. Safe to run twice, and at the same time.",
    load: async () => (await import("./migrate.ts")).defineMigrate,
  },
  submit: {
    about: "Submit one job, or one for every line of a file, to a running API.",
    load: async () => (await import("./submit.ts")).defineSubmit,
  },
  jobs: {
    about: "Look at jobs, cancel them, run them again.",
    load: async () => (await import("./jobs.ts")).defineJobs,
  },
  queues: {
    about: "Look at queues, pause and resume them.",
    load: async () => (await import("./queues.ts")).defineQueues,
  },
  dlq: {
    about: "The dead letters: jobs whose last attempt failed.",
    load: async () => (await import("./dlq.ts")).defineDlq,
  },
  workers: {
    about: "List the workers that live, and what they do. Those that lease over HTTP announce nothing.",
    load: async () => (await import("./workers.ts")).defineWorkers,
  },
  top: {
    about: "Watch the queues: jobs by status, how many a second, how long the oldest waits. Ctrl-C ends it.",
    load: async () => (await import("./top.ts")).defineTop,
  },
  schedules: {
    about: "Jobs that come back by cron, at a running API.",
    load: async () => (await import("./schedules.ts")).defineSchedules,
  },
  tokens: {
    about: "The tokens of AUTH=required, straight in DATABASE_URL: this is how the first one is made.",
    load: async () => (await import("./tokens.ts")).defineTokens,
  },
  doctor: {
    about: "Look whether the servers answer and agree: settings, schema, clocks, leases, counts, signals.",
    load: async () => (await import("./doctor.ts")).defineDoctor,
  },
};
