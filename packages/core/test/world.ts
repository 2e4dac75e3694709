import { jobTemplate, queueLimits, submitJob, type Actor, type SubmitJobInput } from "@atlasqueue/contract";
import { recordEvents } from "@atlasqueue/testing";
import type { Database } from "../src/database/connect.ts";
import type { Deps } from "../src/deps.ts";
import { claim } from "../src/lease/claim.ts";
import type { Claimer, Lease } from "../src/lease/lease.ts";
import { enqueue } from "../src/submit/enqueue.ts";
import { fail } from "../src/settle/fail.ts";
import { setLimits } from "../src/limits/set.ts";
import { advanceGroups } from "../src/groups/advance.ts";
import { executeIn } from "../src/database/caller-transaction.ts";
import { complete } from "../src/settle/complete.ts";
import { createReplay } from "../src/dead-letters/replays/create.ts";
import { createSchedule } from "../src/schedules/store.ts";
import { park } from "../src/steps/park.ts";
import { submitInside } from "../src/submit/arrivals/submit-inside.ts";
import { addFlow } from "./add-flow.ts";
import { closeEdges } from "../src/flows/close-edges.ts";
import { releaseChildren } from "../src/flows/release-children.ts";
import { keepTables } from "./kept-tables.ts";

/** A job in each state a move may meet, and the leases held on them. */
export type World = Awaited<ReturnType<typeof makeWorld>>;

export const limit = 2;
const anybody: Actor = { kind: "anybody", token_id: null, name: null };

/** A function that makes the same world each time it is called, with nothing else in the database. */
export async function worldMaker(database: Database): Promise<() => Promise<World>> {
  const first = await makeWorld(database);
  const putBack = await keepTables(database.sql);
  return async () => {
    await putBack();
    const recorded = recordEvents();
    recorded.events.push(...first.recorded.events);
    return { ...first, recorded, deps: { database, observe: recorded.observe }, taken: [] };
  };
}

async function makeWorld(database: Database) {
  const tenant = "world";
  const recorded = recordEvents();
  const deps: Deps = { database, observe: recorded.observe };
  const claimer: Claimer = { tenant, queues: ["q", "limited"], worker_id: "w", lease_seconds: 30 };
  const addWith = async (using: Deps, ...requests: Partial<SubmitJobInput>[]): Promise<string[]> => {
    const submissions = requests.map((request) => ({
      tenant,
      request: submitJob.parse({ type: "noop", queue: "q", ...request }),
      idempotency_key: undefined,
    }));
    const outcomes = await enqueue(using, submissions, { idempotency_ttl_seconds: 60 });
    return outcomes.map((one) => ("job" in one ? one.job.id : ""));
  };
  const add = (...requests: Partial<SubmitJobInput>[]) => addWith(deps, ...requests);
  const die = async (...ids: string[]): Promise<void> => {
    const fatal = await claim(deps, ids, claimer);
    await fail(
      deps,
      fatal.map((lease) => ({ lease, error: "x", verdict: { kind: "dead", reason: "not_retryable" } })),
    );
  };
  const finish = async (...ids: string[]): Promise<void> => {
    const ended = await claim(deps, ids, claimer);
    await complete(
      deps,
      ended.map((lease) => ({ lease, result: null })),
    );
  };
  await setLimits(deps, { tenant, queue: "limited" }, queueLimits.parse({ concurrency: limit }));
  // Of two groups, one of which nobody will have a job in, and one like the others.
  const dead_letters = await add({ group: "g" }, { group: "nobody's" }, {});
  await die(...dead_letters);
  await advanceGroups(deps, 10);
  const plain = await add({}, {}, {});
  const [held, expired, dead] = await add({}, {}, { max_attempts: 1 });
  const group = await add({ group: "g" }, { group: "g" }, { group: "g" });
  const limited = await add({ queue: "limited" }, { queue: "limited" }, { queue: "limited" }, { queue: "limited" });
  await add({ delay_seconds: 3_600, unique: { key: "u", on_conflict: "replace" } });
  const leases = await claim(deps, [held, group[0], limited[0]].map(String), claimer);
  const lost = await claim(deps, [String(expired)], claimer);
  await die(String(dead));
  const [parked] = await claim(deps, await add({}), claimer);
  if (parked) await park(deps, parked, "go", 3_600);
  const [finished, due] = await add({}, { delay_seconds: 3_600 });
  await finish(String(finished));
  await database.sql`
    UPDATE jobs SET due_at = now() - interval '1 s', run_at = now() - interval '1 s' WHERE id = ${String(due)}`;
  const arriving = { tenant, request: submitJob.parse({ type: "noop", queue: "q", group: "g" }), idempotency_key: "k" };
  const { outcome } = await database.sql.begin((tx) =>
    submitInside(executeIn(tx), arriving, { idempotency_ttl_seconds: 60 }),
  );
  const flow = await makeFlow(deps, tenant, die, finish);
  const schedule = { tenant, name: "yearly" };
  const job = jobTemplate.parse({ type: "noop", queue: "q" });
  await createSchedule(deps, tenant, { ...schedule, cron: "0 0 1 1 *", timezone: "UTC", catch_up: "one", job });
  await database.sql`UPDATE schedules SET next_at = now() - interval '2 years'`;
  await createReplay(deps, { tenant, filter: { ids: dead_letters }, patch: { replayed: true } }, anybody);
  await database.sql`
    UPDATE jobs SET locked_until = now() - interval '1 s' WHERE lease_token = ${lost[0]?.lease_token ?? ""} AND status = 'running'`;
  await database.sql`
    UPDATE lease_batches SET check_at = now() - interval '1 s' WHERE token = ${lost[0]?.lease_token ?? ""}`;
  if (leases.length !== 3) throw new Error("three jobs were to be held");
  return {
    tenant,
    deps,
    claimer,
    recorded,
    addWith,
    plain,
    held: String(held),
    dead: String(dead),
    /** Until the signal "go". */
    parked: String(parked?.id),
    /** The first in the group, the second in a group without a row, the third in none; a replay of them is due. */
    dead_letters,
    finished: String(finished),
    /** Of a caller's transaction, in the group. */
    arrived: "job" in outcome ? outcome.job.id : "",
    schedule,
    flow,
    group,
    limited,
    /** Of one plain job, of the first of the group, and of one of the limited queue. */
    leases,
    /** What the moves leased. */
    taken: [] as Lease[],
  };
}

/**
 * A flow in the middle: `stopped` was cancelled for its `dead` parent, whose other children have not heard of it yet, and
 * `freed` waits for its release, as what it waited for has `succeeded`. `last` waits for all of them.
 */
async function makeFlow(
  deps: Deps,
  tenant: string,
  die: (...ids: string[]) => Promise<void>,
  finish: (...ids: string[]) => Promise<void>,
) {
  const flow = await addFlow(
    deps,
    {
      dead: { queue: "q" },
      succeeded: { queue: "q" },
      under_way: { queue: "q" },
      stopped: { queue: "q", after: ["dead"] },
      freed: { queue: "q", after: ["succeeded"] },
      grouped: { queue: "q", after: ["succeeded"], group: "of the flow" },
      last: { queue: "q", after: ["stopped", "freed", "grouped", "under_way"], on_parent_failure: "run" },
    },
    tenant,
  );
  await die(flow.dead);
  await closeEdges(deps, 10);
  await releaseChildren(deps, 10);
  await finish(flow.succeeded);
  return flow;
}
