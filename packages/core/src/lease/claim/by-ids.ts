import { hidden, isUuid, uuidArray } from "../../database/literals.ts";
import { impatient, passingOverLocked, type Form } from "../../database/skip-locked.ts";
import type { Deps } from "../../deps.ts";
import type { ReadyJob } from "../../signal/signal.ts";
import { claimLimited, markedQueues } from "./limited.ts";
import { addTo, claimWith, claimTexts, served } from "./statement.ts";
import type { Claimer, Lease } from "../lease.ts";
import { claim_bytes_max, never_too_heavy, payloadBytes } from "../payload-bytes.ts";
import type { Width } from "../take-leases.ts";

/**
 * The leases are in the order of the ids. An id of a queue with limits or turns stands for all its jobs: those that come first
 * in it go, as many as there is room for, and are last in the answer.
 */
export async function claimByIds<L extends Lease>(
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
    await addTo(deps, claimer, leases, async () => {
      const queues = await markedQueues(deps, claimer, left);
      const more = queues.length > 0 ? (claimer.more_room?.() ?? 0) : 0;
      return claimLimited<L>(deps, claimer, queues, left.length + more, width);
    });
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
    leaseOf.delete(id);
  }
  return [...ordered, ...leaseOf.values()];
}

/** All of them or, when they are too heavy together or one is locked, those the careful form chooses. */
async function claimById<L extends Lease>(
  deps: Deps,
  claimer: Claimer,
  ids: readonly string[],
  width: Width,
): Promise<L[]> {
  const light = ids.length <= never_too_heavy;
  const send = async (form: Form) => {
    if (form === "careful") return passOver(claimer, ids, await choose<L>(deps, claimer, ids, width));
    const leases = await claimWith<L>(deps, claimer, (light ? byId : byIdWithin)[width], uuidArray(ids));
    return light || leases.length > 0 ? leases : choose<L>(deps, claimer, ids, width);
  };
  return passingOverLocked(send, claimer.locks?.jobsOf(claimer.tenant));
}

function passOver<L extends Lease>(claimer: Claimer, ids: readonly string[], leases: L[]): L[] {
  const taken = new Set(leases.map(({ id }) => id));
  const left = ids.filter((id) => !taken.has(id));
  if (left.length > 0) claimer.passed_over?.(claimer.tenant, left);
  return leases;
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
  if (cut_off.length > 0) claimer.put_back?.(cut_off.map((job) => ({ ...job, tenant: claimer.tenant })));
  return leases;
}

const given = `id = ANY(${hidden("$6::uuid[]")})`;
const byServedId = `${given} AND tenant = $4 AND queue = ANY(${served}) AND ${impatient}`;
const byId = claimTexts("claim", "ids", byServedId);

// Nothing at all when they are too heavy together. Weighed rows are found again by where they lie: by id would cost the
// look-up in the index twice.
const byIdWithin = claimTexts(
  "claim-if-light",
  "ids",
  `ctid = ANY(ARRAY(SELECT lies_at FROM wanted WHERE (SELECT sum(bytes) FROM wanted) <= ${claim_bytes_max})) AND tenant = $4 AND ${impatient}`,
  `wanted AS MATERIALIZED (
    SELECT ctid AS lies_at, ${payloadBytes} AS bytes FROM atlasqueue.jobs
    WHERE ${given} AND tenant = $4 AND queue = ANY(${served}) AND status = 'queued'
  ),`,
);

const carefully = claimTexts(
  "claim-carefully",
  "ids",
  `id = ANY(ARRAY(SELECT id FROM weighed WHERE before < ${claim_bytes_max}))`,
  `wanted AS MATERIALIZED (
    SELECT jobs.id, jobs.queue, jobs.priority, place, ${payloadBytes} AS bytes
    FROM unnest($6::uuid[]) WITH ORDINALITY AS asked(id, place) JOIN atlasqueue.jobs ON jobs.id = asked.id
    WHERE jobs.tenant = $4 AND jobs.queue = ANY(${served}) AND jobs.status = 'queued'
    FOR NO KEY UPDATE OF jobs SKIP LOCKED
  ), weighed AS MATERIALIZED (
    SELECT *, sum(bytes) OVER (ORDER BY place) - bytes AS before FROM wanted
  ),`,
  `*, (SELECT json_agg(json_build_object('id', id, 'queue', queue, 'priority', priority) ORDER BY place)
       FROM weighed WHERE before >= ${claim_bytes_max}) AS cut_off`,
);
