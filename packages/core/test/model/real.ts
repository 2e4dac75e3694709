import { submitJob } from "@atlasqueue/contract";
import { recordEvents, simulateClock, type SimulatedClock } from "@atlasqueue/harness";
import { connectDatabase, type Database, type Sql } from "../../src/database/connect.ts";
import type { Deps } from "../../src/deps.ts";
import type { Lease } from "../../src/lease/lease.ts";
import type { Submission } from "../../src/submit/outcome.ts";
import type { Asked } from "./submitting.ts";

/** The real thing beside the model: a database whose clock stands still, and what the model's numbers are there. */
export type Real = {
  deps: Deps;
  sql: Sql;
  clock: SimulatedClock;
  /** The ids of jobs, the tokens of claims and the flows, by their numbers. */
  ids: string[];
  tokens: Map<number, string>;
  leases: Map<string, Lease>;
};

export const tenant = "model";
export const options = { idempotency_ttl_seconds: 60 };

/** A connection to a test database under a clock of its own; what is asked of the driver otherwise stays as it is. */
export async function connectUnderClock(
  url: string,
  start: Date,
): Promise<{ database: Database; clock: SimulatedClock }> {
  const clock = await simulateClock(url, start);
  const admin = connectDatabase({ url, connectionsMax: 1, timeoutMs: 15_000 });
  // A default is bound to the server's own clock.
  await admin.sql.unsafe("ALTER TABLE atlasqueue.job_groups ALTER last_started_at SET DEFAULT simulated.now()");
  await admin.close();
  return { clock, database: connectDatabase({ url, connectionsMax: 2, timeoutMs: 15_000 }) };
}

export function newReal(database: Database, clock: SimulatedClock): Real {
  const deps = { database, observe: recordEvents().observe };
  return { deps, sql: database.sql, clock, ids: [], tokens: new Map(), leases: new Map() };
}

/** Nothing is left of an earlier run. */
export const emptyTables = (sql: Sql) => sql`
  TRUNCATE atlasqueue.jobs, atlasqueue.claims, atlasqueue.job_attempts, atlasqueue.idempotency_keys, atlasqueue.flow_jobs, atlasqueue.flow_edges,
           atlasqueue.outbox, atlasqueue.job_groups, atlasqueue.queues, atlasqueue.queue_starts, atlasqueue.queue_counts, atlasqueue.queue_changes, atlasqueue.job_state`;

/** A submission as the model has it. */
export function submissionOf({ key, group, delay_seconds, unique, ...rest }: Asked): Submission {
  const { window_seconds = null, ...named } = unique ?? {};
  const window = window_seconds === null ? {} : { scope: "window", window_seconds };
  const request = submitJob.parse({
    type: "noop",
    ...rest,
    ...(group !== null && { group }),
    ...(delay_seconds !== null && { delay_seconds }),
    ...(unique !== null && { unique: { ...named, ...window } }),
  });
  return { tenant, request, idempotency_key: key ?? undefined };
}

/** The ids of jobs by their numbers. */
export const idsOf = (real: Real, jobs: readonly number[]) => jobs.map((n) => real.ids[n] ?? "");

/** What was given for leases of the model. */
export const leasesOf = (real: Real, leases: readonly { job: number; token: number }[]): Lease[] =>
  leases.map(({ job, token }) => real.leases.get(`${job} ${token}`) as Lease);
