/** What can be wrong, with the section of the runbooks about it. */
const runbooks = {
  postgres_read_only: "figures-missing",
  redis_down: "redis-away",
  redis_refusing: "redis-away",
  dead_letters_rising: "dead-letters",
  queue_without_workers: "oldest-ready-job",
  workers_stuck: "no-free-slots",
  oldest_job_waits: "oldest-ready-job",
  sweep_behind: "sweep-stands-still",
  counts_drifting: "counts-drift",
} as const;
export const problemsNow = Object.keys(runbooks) as (keyof typeof runbooks)[];

/** Where the documentation says what to do about a problem of the overview; a newer server's code has no section. */
export const runbookLink = (code: string): string =>
  `/guide/operate/runbooks${Object.hasOwn(runbooks, code) ? `#${runbooks[code as keyof typeof runbooks]}` : ""}`;
