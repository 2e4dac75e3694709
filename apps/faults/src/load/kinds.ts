/** The kinds of jobs, which are also their types. */
export const kinds = [
  "plain",
  "delayed",
  "retried",
  "dying",
  "grouped",
  "limited",
  "unique",
  "scheduled",
  "batch",
  "flow",
  "cancelled",
  "inside",
  "parked",
] as const;
export type JobKind = (typeof kinds)[number];

/** Every queue of a tenant, served by the workers with a database and by the remote ones alike. */
export const queues = {
  plain: "plain",
  grouped: "grouped",
  limited: "limited",
  rated: "rated",
  slow: "slow",
} as const;
export const queueNames: readonly string[] = Object.values(queues);
