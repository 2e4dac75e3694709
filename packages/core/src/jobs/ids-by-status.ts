import type { JobStatus } from "@atlasqueue/contract";

/**
 * How many jobs in such a status a statement may read, as they are not all the caller's: 40 ms. Beyond that, one
 * tenant's list would wait for another's backlog.
 */
export const held_apart_max = 100_000;

/**
 * Queries for the ids of jobs in the statuses that an index, or the leases, separate from the history. `tenant` and
 * `queue` are the positions of these parameters; an empty queue means any. The results may belong to other tenants or
 * have another status: the job's row decides.
 */
export const idsByStatus = (tenant: string, queue: string): Partial<Record<JobStatus, string>> => {
  // A range rather than `'' OR queue =`: a prepared statement's plan must seek the queue, whichever calls came before.
  const ours = `tenant = ${tenant} AND queue BETWEEN ${queue} AND coalesce(nullif(${queue}, ''), '~')`;
  return {
    scheduled: `SELECT id FROM atlasqueue.jobs WHERE due_at IS NOT NULL AND ${ours}`,
    failed: `SELECT id FROM atlasqueue.jobs WHERE due_at IS NOT NULL AND ${ours}`,
    blocked: `SELECT id FROM atlasqueue.jobs WHERE group_seq IS NOT NULL AND ${ours}`,
    queued: `SELECT id FROM atlasqueue.jobs WHERE ready_at IS NOT NULL AND ${ours}`,
    dead: "SELECT id FROM atlasqueue.jobs WHERE dead_at IS NOT NULL",
    running: "SELECT unnest(job_ids) AS id FROM atlasqueue.claims WHERE true",
  };
};

/**
 * A part of a WITH: `few` has the ids, more than `held_apart_max` of them when there are too many to use. Each query
 * has its own bound, as a UNION would read all of them first.
 */
export const few = (queries: readonly string[], union: "UNION" | "UNION ALL" = "UNION") =>
  `few AS MATERIALIZED (${queries.map((query) => `(${query} LIMIT ${held_apart_max + 1})`).join(` ${union} `)})`;
