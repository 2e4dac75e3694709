import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import { unsynced } from "../database/unsynced.ts";
import type { Deps } from "../deps.ts";
import { allTenants } from "../signal/presence.ts";
import type { ReadyJob } from "../signal/signal.ts";
import { aboutLease } from "./lease.ts";
import { countMoves } from "../counts/changes.ts";
import { asQueued } from "./release.ts";
import { impatient, isFree, lockFree } from "../database/skip-locked.ts";

/**
 * `ready` went back, `given` of them now and the others by an earlier call: signal them again. `locked` are still held, as another transaction has
 * their rows locked: repeat it.
 */
export type TakenBack = { ready: ReadyJob[]; given: number; locked: number };

/** What is known of who asks. */
type Asker = {
  /** Only jobs of this tenant go back. Default: whosesoever they are, as the token is our own. */
  tenant?: string | undefined;
  /** For so long no claim under this token is taken any more: longer than one can be on its way. Default an hour. */
  refused_seconds?: number;
};

/**
 * running → queued, with the attempt given back, for all jobs of a claim whose answer was lost. The claim may not even
 * have arrived yet: its token is taken first, and a claim under a taken token is refused as a whole. Two statements, as
 * the second must see a claim committed while the first waited for it.
 *
 * @example
 * const { ready, locked } = await takeBack(deps, lease_token);
 */
export async function takeBack(
  deps: Deps,
  lease_token: string,
  { tenant = allTenants, refused_seconds = 3_600 }: Asker = {},
): Promise<TakenBack> {
  const execute = executeOn(deps.database);
  await execute({ text: takeToken, params: [lease_token, refused_seconds] });
  const rows = await execute<Held>({ text: giveBack, params: [lease_token, tenant] });
  for (const job of rows) if (job.state === "given") deps.observe({ event: "job_released", ...aboutLease(job) });
  const ready = rows.filter(({ state }) => state !== "locked");
  const given = rows.filter(({ state }) => state === "given").length;
  return { ready, given, locked: rows.length - ready.length };
}

type Held = ReadyJob & { type: string; attempts: number; worker_id: string; state: "given" | "locked" | "waiting" };

// The sweep forgets it with the other claims that have no jobs left.
const takeToken = composed(
  "lease/take-back-token",
  ["lease_token", "refused_seconds"],
  `
  INSERT INTO lease_batches (token, worker_id, check_at, job_ids)
  SELECT $1::uuid, '', now() + make_interval(secs => $2::float8), '{}' WHERE ${unsynced} AND ${impatient}
  ON CONFLICT (token) DO NOTHING`,
);

// Waiting ones may have gone back in an earlier call whose answer was lost: they have not been signalled.
const holds = "jobs.lease_token = $1::uuid AND jobs.status = 'running'";
const itsOwn = `($2 = '${allTenants}' OR tenant = $2)`;
const giveBack = composed(
  "lease/take-back",
  ["lease_token", "tenant"],
  `
  WITH held AS MATERIALIZED (
    SELECT id, tenant, queue, type, priority, attempts, worker_id FROM jobs
    WHERE id = ANY(ARRAY(SELECT unnest(job_ids) FROM lease_batches WHERE token = $1::uuid)) AND ${holds} AND ${itsOwn}
  ), ${lockFree("held")}, given AS (
    UPDATE jobs SET ${asQueued} WHERE ${isFree} AND ${holds}
    RETURNING jobs.id, tenant, queue
  ), ${countMoves("given", "running", "queued")}
  SELECT held.*, CASE WHEN given.id IS NULL THEN 'locked' ELSE 'given' END AS state
  FROM held LEFT JOIN given ON given.id = held.id
  UNION ALL
  SELECT id, tenant, queue, type, priority, attempts, '', 'waiting' FROM jobs
  WHERE id = ANY(ARRAY(SELECT unnest(job_ids) FROM lease_batches WHERE token = $1::uuid)) AND status = 'queued' AND ${itsOwn}`,
);
