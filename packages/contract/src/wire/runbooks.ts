/** What can be wrong, with the section of the documentation about it. */
const sections = {
  postgres_read_only: "failover",
  redis_down: "runbooks#redis-down",
  redis_refusing: "runbooks#redis-down",
  dead_letters_rising: "runbooks#dead-letters",
  queue_without_workers: "troubleshooting#no-worker-takes-it",
  workers_stuck: "runbooks#no-free-slots",
  oldest_job_waits: "runbooks#oldest-ready-job",
  sweep_behind: "runbooks#maintenance-stopped",
  counts_drifting: "counts",
} as const;
export const problemsNow = Object.keys(sections) as (keyof typeof sections)[];

/** Where the documentation says what to do about a problem of the overview; a newer server's code has no section. */
export const runbookLink = (code: string): string =>
  `/guide/operate/${Object.hasOwn(sections, code) ? sections[code as keyof typeof sections] : "runbooks"}`;
