import { composed } from "../database/composed.ts";
import { randomUUID } from "node:crypto";
import { outcomeUnknown } from "../database/errors.ts";
import { hidden, isUuid, textArray, uuidArray } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { isLimited } from "../limits/room.ts";
import { claimableInTurns } from "../turns/claimable.ts";
import { claimLimited } from "./claim-limited.ts";
import type { ReadyJob } from "../signal/signal.ts";
import { leaseEvent, type Claimer, type Lease, type LeasedJob } from "./lease.ts";
import { queueKinds } from "../queues/kinds.ts";
import { claim_bytes_max, never_too_heavy, payloadBytes } from "./payload-bytes.ts";
import { impatient, passingOverLocked } from "../database/skip-locked.ts";
import { leaseTerms, syncedForGroups, takeLeases, type Width } from "./take-leases.ts";

/**
 * queued → running, for ids handed out by the signal. One statement by primary key; ids that are junk, taken, finished
 * or from a queue not served are left out of the answer, as is what exceeds `claim_bytes_max`. Leases are in the order
 * of the ids.
 *
 * @example
 * const leases = await claim(deps, ["0192…"], { tenant: "default", queues: ["default"], worker_id, lease_seconds: 30 });
 */
export async function claim(deps: Deps, ids: readonly string[], claimer: Claimer): Promise<Lease[]> {
  return claimIds<Lease>(deps, ids, claimer, widthFor(deps));
}

/**
 * queued → running, without a signal: the oldest of the highest priority. Scans the index of ready jobs, so it is for
 * times when Redis is away. Concurrent claims skip each other's rows.
 */
export async function claimReady(deps: Deps, jobs_max: number, claimer: Claimer): Promise<Lease[]> {
  return claimOldest<Lease>(deps, jobs_max, claimer, widthFor(deps));
}

/** Where nothing is traced, no one pays for it. */
const widthFor = ({ tracing }: Deps): Width => (tracing?.on() ? "traced" : "lease");

/** `claim`, or `claimReady` when given a number, returning the whole jobs from the same statement. */
export function claimJobs(deps: Deps, which: readonly string[] | number, claimer: Claimer): Promise<LeasedJob[]> {
  return typeof which === "number"
    ? claimOldest<LeasedJob>(deps, which, claimer, "whole")
    : claimIds<LeasedJob>(deps, which, claimer, "whole");
}

async function claimIds<L extends Lease>(
  deps: Deps,
  ids: readonly string[],
  claimer: Claimer,
  width: Width,
): Promise<L[]> {
  const wanted = [...new Set(ids.filter(isUuid).map((id) => id.toLowerCase()))];
  if (wanted.length === 0) return [];
  const leases = await claimById<L>(deps, claimer, wanted, width);
  if (leases.length < wanted.length) {
    const taken = new Set(leases.map(({ id }) => id));
    const left = wanted.filter((id) => !taken.has(id));
    await addTo(deps, leases, () => limited<L>(deps, claimer, left, width));
  }
  const missed = ids.length - leases.length;
  if (missed > 0) deps.observe({ event: "lease_not_acquired", count: missed, worker_id: claimer.worker_id });
  return inOrder(leases, wanted);
}

function inOrder<L extends Lease>(leases: readonly L[], ids: readonly string[]): L[] {
  const leaseOf = new Map<string, L>();
  for (const lease of leases) leaseOf.set(lease.id, lease);
  const ordered: L[] = [];
  for (const id of ids) {
    const lease = leaseOf.get(id);
    if (lease) ordered.push(lease);
  }
  return ordered;
}

/** All of them or, when they are too heavy together or one is locked, those the careful form chooses. */
async function claimById<L extends Lease>(
  deps: Deps,
  claimer: Claimer,
  ids: readonly string[],
  width: Width,
): Promise<L[]> {
  const light = ids.length <= never_too_heavy;
  return passingOverLocked(async (form) => {
    if (form === "careful") return choose<L>(deps, claimer, ids, width);
    const leases = await claimWith<L>(deps, claimer, (light ? byId : byIdWithin)[width], uuidArray(ids));
    return light || leases.length > 0 ? leases : choose<L>(deps, claimer, ids, width);
  });
}

async function choose<L extends Lease>(
  deps: Deps,
  claimer: Claimer,
  ids: readonly string[],
  width: Width,
): Promise<L[]> {
  type Choice = L & { cut_off?: Omit<ReadyJob, "tenant">[] | null };
  const leases = await claimWith<Choice>(deps, claimer, carefully[width], uuidArray(ids));
  const cut_off = leases[0]?.cut_off ?? [];
  for (const lease of leases) delete lease.cut_off;
  if (cut_off.length > 0) claimer.cut_off?.(cut_off.map((job) => ({ ...job, tenant: claimer.tenant })));
  return leases;
}

async function claimOldest<L extends Lease>(
  deps: Deps,
  jobs_max: number,
  claimer: Claimer,
  width: Width,
): Promise<L[]> {
  const { random = Math.random } = claimer;
  const { plain, in_turns, limited: within } = await queueKinds(deps, claimer);
  type Claiming = (jobs_max: number) => Promise<L[]>;
  const kinds = [
    [plain, (room) => claimWith<L>(deps, { ...claimer, queues: plain }, oldest[width], room)],
    [in_turns, (room) => claimInTurns<L>(deps, { ...claimer, queues: in_turns }, room, width)],
    [within, (room) => limited<L>(deps, { ...claimer, queues: within }, room, width)],
  ] satisfies [string[], Claiming][];
  const ways = kinds.flatMap(([queues, claiming]) => (queues.length > 0 ? [claiming] : []));
  // So that no kind is always the first.
  const first = Math.floor(random() * ways.length);
  let left = [...ways.slice(first), ...ways.slice(0, first)];
  const leases: L[] = [];
  // Parts first, and what is not used of them afterwards: queues of one kind that never run empty would otherwise keep
  // those of another waiting. Rounded at random, as there may be room for fewer jobs than there are kinds.
  for (const part of [Math.floor(jobs_max / left.length + random()), jobs_max]) {
    const open: Claiming[] = [];
    for (const claiming of left) {
      const room = Math.min(part, jobs_max - leases.length);
      const before = leases.length;
      if (room > 0) await addTo(deps, leases, () => claiming(room));
      // Fewer than there was room for are all there are.
      if (leases.length - before === room) open.push(claiming);
    }
    left = open;
  }
  return leases.sort((a, b) => b.priority - a.priority || (a.id < b.id ? -1 : 1));
}

const claimInTurns = async <L extends Lease>(deps: Deps, claimer: Claimer, room: number, width: Width): Promise<L[]> =>
  claimIds<L>(deps, await claimableInTurns(deps, claimer, room), claimer, width);

/** What queues with limits have room for. */
const limited = async <L extends Lease>(
  deps: Deps,
  claimer: Claimer,
  which: readonly string[] | number,
  width: Width,
): Promise<L[]> => reportTaken(deps, await claimLimited<L>(deps, claimer, which, width));

async function addTo<L extends Lease>(deps: Deps, leases: L[], claiming: () => Promise<L[]>): Promise<void> {
  try {
    leases.push(...(await claiming()));
  } catch (error) {
    // Those already leased must not be lost with it.
    if (leases.length === 0) throw error;
    deps.observe({ event: "database_unavailable", during: "claim", error: String(error) });
  }
}

async function claimWith<L extends Lease>(
  deps: Deps,
  claimer: Claimer,
  text: string,
  which: string | number,
): Promise<L[]> {
  const { tenant, worker_id, lease_seconds } = claimer;
  const lease_token = randomUUID();
  const params = [lease_token, worker_id, lease_seconds, tenant, textArray(claimer.queues), which];
  try {
    const leases = [...(await executeOn(deps.database)<L>({ text, params }))];
    for (const lease of leases as Lease[]) {
      lease.tenant = tenant;
      lease.lease_token = lease_token;
      lease.worker_id = worker_id;
    }
    return reportTaken(deps, leases);
  } catch (error) {
    if (outcomeUnknown(error)) claimer.unanswered?.(lease_token);
    throw error;
  }
}

function reportTaken<L extends Lease>(deps: Deps, leases: L[]): L[] {
  for (const one of leases) deps.observe(leaseEvent("lease_acquired", one));
  return leases;
}

/**
 * The queues of $5 that are neither paused nor limited. Depends on no row, so PostgreSQL evaluates it once per
 * statement.
 */
const servedBut = (others: string) => `ARRAY(
  SELECT queue FROM unnest($5::text[]) AS wanted(queue)
  WHERE NOT EXISTS (
    SELECT FROM queues WHERE tenant = $4 AND queues.queue = wanted.queue AND (paused_at IS NOT NULL OR ${others})))`;
const served = servedBut(isLimited);

const claiming = (name: string, last: "ids" | "jobs_max", which: string, before = "", columns = "*") => {
  const text = (width: Width) =>
    composed(
      `lease/${name}-${width}`,
      [...leaseTerms, "queues", last],
      `WITH ${before} ${takeLeases(which, width)} SELECT ${columns} FROM leased WHERE ${syncedForGroups}`,
    );
  return { lease: text("lease"), traced: text("traced"), whole: text("whole") };
};

const given = `id = ANY(${hidden("$6::uuid[]")})`;
const byServedId = `${given} AND tenant = $4 AND queue = ANY(${served}) AND ${impatient}`;
const byId = claiming("claim", "ids", byServedId);

// Nothing at all when they are too heavy together. Weighed rows are found again by where they lie: by id would cost the
// look-up in the index twice.
const byIdWithin = claiming(
  "claim-if-light",
  "ids",
  `ctid = ANY(ARRAY(SELECT lies_at FROM wanted WHERE (SELECT sum(bytes) FROM wanted) <= ${claim_bytes_max})) AND tenant = $4 AND ${impatient}`,
  `wanted AS MATERIALIZED (
    SELECT ctid AS lies_at, ${payloadBytes} AS bytes FROM jobs
    WHERE ${given} AND tenant = $4 AND queue = ANY(${served}) AND status = 'queued'
  ),`,
);

const carefully = claiming(
  "claim-carefully",
  "ids",
  `id = ANY(ARRAY(SELECT id FROM weighed WHERE before < ${claim_bytes_max}))`,
  `wanted AS MATERIALIZED (
    SELECT jobs.id, jobs.queue, jobs.priority, place, ${payloadBytes} AS bytes
    FROM unnest($6::uuid[]) WITH ORDINALITY AS asked(id, place) JOIN jobs ON jobs.id = asked.id
    WHERE jobs.tenant = $4 AND jobs.queue = ANY(${served}) AND jobs.status = 'queued'
    FOR NO KEY UPDATE OF jobs SKIP LOCKED
  ), weighed AS MATERIALIZED (
    SELECT *, sum(bytes) OVER (ORDER BY place) - bytes AS before FROM wanted
  ),`,
  `*, (SELECT json_agg(json_build_object('id', id, 'queue', queue, 'priority', priority) ORDER BY place)
       FROM weighed WHERE before >= ${claim_bytes_max}) AS cut_off`,
);

// Each queue's own order, then the best of those: one index scan per queue, none longer than the answer.
const oldest = claiming(
  "claim-oldest",
  "jobs_max",
  `id = ANY(ARRAY(
      SELECT id FROM (
        SELECT ready.id, sum(bytes) OVER in_order - bytes AS before, row_number() OVER in_order AS number
        FROM unnest(${servedBut(`fair_by IS NOT NULL OR ${isLimited}`)}) AS served(queue),
             LATERAL (SELECT id, priority, ready_at, ${payloadBytes} AS bytes FROM jobs
                      WHERE tenant = $4 AND jobs.queue = served.queue AND ready_at IS NOT NULL
                      ORDER BY priority DESC, ready_at, id LIMIT $6::int
                      FOR UPDATE SKIP LOCKED) AS ready
        WINDOW in_order AS (ORDER BY ready.priority DESC, ready.ready_at, ready.id)) AS weighed
      WHERE before < ${claim_bytes_max} AND number <= $6::int))`,
);
