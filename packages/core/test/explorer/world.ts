import { closeEdges, releaseChildren } from "../advance.ts";
import { jobTemplate, queueLimits, submitJob, type Actor, type SubmitJobInput } from "@atlasqueue/contract";
import { recordEvents } from "@atlasqueue/harness";
import type { Database } from "../../src/database/connect.ts";
import type { Deps } from "../../src/deps.ts";
import { claim } from "../../src/lease/claim.ts";
import type { Claimer, Lease } from "../../src/lease/lease.ts";
import { enqueue } from "../../src/submit/enqueue.ts";
import { complete, fail } from "../../src/settle/settle.ts";
import { setLimits } from "../../src/limits/set.ts";
import { executeIn } from "../../src/database/caller-transaction.ts";
import { randomUUID } from "node:crypto";
import { cancel } from "../../src/jobs/cancel.ts";
import type { Submission } from "../../src/submit/outcome.ts";
import { createReplay } from "../../src/operations/create.ts";
import { putSchedule } from "../../src/schedules/store.ts";
import { park } from "../../src/steps/park.ts";
import { submitInside } from "../../src/submit/pending/submit-inside.ts";
import { addFlow } from "../add-flow.ts";
import { keepTables } from "../kept-tables.ts";

/** A job in each state a move may meet, and the leases held on them. */
export type World = Awaited<ReturnType<typeof makeWorld>>;

export const limit = 2;
export const anybody: Actor = { kind: "anybody", token_id: null, name: null };

/** A job in each state, and with which others it has to do. */
export const statesOf: Readonly<Record<string, { id: (world: World) => string; about: string }>> = {
  queued: { id: ({ plain }) => String(plain[2]), about: "queued" },
  running: { id: ({ held }) => held, about: "running" },
  lost: { id: ({ expired }) => expired, about: "lost" },
  scheduled: { id: ({ scheduled }) => scheduled, about: "scheduled" },
  due: { id: ({ due }) => due, about: "due" },
  failed: { id: ({ failed }) => failed, about: "failed" },
  parked: { id: ({ parked }) => parked, about: "parked" },
  dead: { id: ({ dead }) => dead, about: "dead" },
  finished: { id: ({ finished }) => finished, about: "finished" },
  cancelled: { id: ({ cancelled }) => cancelled, about: "cancelled" },
  limited: { id: ({ limited }) => String(limited[0]), about: "limits" },
  leading: { id: ({ group }) => String(group[0]), about: "group" },
  blocked: { id: ({ group }) => String(group[1]), about: "group" },
  "just arrived": { id: ({ arrived }) => arrived, about: "group" },
  unique: { id: ({ keyed }) => String(keyed[1]), about: "keyed" },
  parent: { id: ({ flow }) => flow.under_way, about: "flow" },
  "dead parent": { id: ({ flow }) => flow.dead, about: "flow" },
  "stopped child": { id: ({ flow }) => flow.stopped, about: "flow" },
  "waiting child": { id: ({ flow }) => flow.last, about: "flow" },
};

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
  // Not random, as a move must have the same steps each time.
  const random = () => 0.5;
  const claimer: Claimer = { tenant, queues: ["q", "limited"], worker_id: "w", lease_seconds: 30, random };
  const asks = (request: Partial<SubmitJobInput>, idempotency_key?: string): Submission => ({
    tenant,
    request: submitJob.parse({ type: "noop", queue: "q", ...request }),
    idempotency_key,
  });
  const arrive = async (request: Partial<SubmitJobInput>, key: string): Promise<string> => {
    const outcome = await database.sql.begin((tx) =>
      submitInside(executeIn(tx), asks(request, key), { idempotency_ttl_seconds: 60 }),
    );
    return "job" in outcome ? outcome.job.id : "";
  };
  const add = async (...requests: Partial<SubmitJobInput>[]): Promise<string[]> => {
    const submissions = requests.map((request) => asks(request));
    const outcomes = await enqueue(deps, submissions, { idempotency_ttl_seconds: 60 });
    return outcomes.map((one) => ("job" in one ? one.job.id : ""));
  };
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
  const plain = await add({}, {}, {});
  const [held, expired, dead] = await add({}, {}, { max_attempts: 1 });
  const group = await add({ group: "g" }, { group: "g" }, { group: "g" });
  const limited = await add({ queue: "limited" }, { queue: "limited" }, { queue: "limited" }, { queue: "limited" });
  const unique = { key: "held", on_conflict: "return" } as const;
  const [scheduled] = await add({ delay_seconds: 3_600, unique: { key: "u", on_conflict: "replace" } });
  const keyed = await add({ group: "keyed" }, { group: "keyed", unique });
  const flow = await makeFlow(deps, tenant, die, finish);
  const leases = await claim(deps, [held, group[0], limited[0], flow.runs, keyed[0]].map(String), claimer);
  const lost = await claim(deps, [String(expired)], claimer);
  await die(String(dead));
  const [parked] = await claim(deps, await add({}), claimer);
  if (parked) await park(deps, parked, "go", 3_600);
  const [finished, due, cancelled, failing] = await add({ unique: { key: "over" } }, { delay_seconds: 3_600 }, {}, {});
  const [settled] = await claim(deps, [String(finished)], claimer);
  await complete(deps, settled ? [{ lease: settled, result: 1 }] : []);
  const failed = await claim(deps, [String(failing)], claimer);
  await fail(
    deps,
    failed.map((lease) => ({ lease, error: "x", verdict: { kind: "retry", delay_ms: 3_600_000 } })),
  );
  await cancel(deps, tenant, String(cancelled));
  await database.sql`
    UPDATE atlasqueue.jobs SET due_at = now() - interval '1 s', run_at = now() - interval '1 s' WHERE id = ${String(due)}`;
  const arrived = await arrive({ group: "g" }, "k");
  await arrive({ group: "keyed", unique: { key: "held", on_conflict: "replace" } }, "arrived");
  await arrive({ group: "keyed" }, "key");
  const schedule = { tenant, name: "yearly" };
  const job = jobTemplate.parse({ type: "noop", queue: "q" });
  await putSchedule(deps, tenant, { ...schedule, cron: "0 0 1 1 *", timezone: "UTC", catch_up: "one", job });
  await database.sql`UPDATE atlasqueue.schedules SET next_at = now() - interval '2 years'`;
  await createReplay(deps, { tenant, filter: { ids: dead_letters }, patch: { replayed: true } }, anybody);
  // Their deaths are moved on with each scene.
  await database.sql`UPDATE atlasqueue.operations SET until_us = 9e15`;
  await database.sql`
    UPDATE atlasqueue.jobs SET locked_until = now() - interval '1 s' WHERE lease_token = ${lost[0]?.lease_token ?? ""} AND status = 'running'`;
  await database.sql`
    UPDATE atlasqueue.claims SET check_at = now() - interval '1 s' WHERE token = ${lost[0]?.lease_token ?? ""}`;
  await enqueue(deps, [asks({}, "spent")], { idempotency_ttl_seconds: 60 });
  await database.sql`UPDATE atlasqueue.idempotency_keys SET expires_at = now() - interval '1 s' WHERE key = 'spent'`;
  // What the cleaner looks for.
  await database.sql`UPDATE atlasqueue.jobs SET error_fingerprint = NULL WHERE id = ${String(dead)}`;
  if (leases.length !== 5 || !settled) throw new Error("five jobs were to be held");
  return {
    tenant,
    deps,
    claimer,
    recorded,
    plain,
    held: String(held),
    expired: String(expired),
    dead: String(dead),
    /** Until the signal "go". */
    parked: String(parked?.id),
    scheduled: String(scheduled),
    due: String(due),
    failed: String(failing),
    cancelled: String(cancelled),
    /** The first in the group, the second in a group without a row, the third in none; a replay of them is due. */
    dead_letters,
    finished: String(finished),
    /** The lease it was finished under. */
    settled,
    /** Of a caller's transaction, in the group. */
    arrived,
    /** One that runs in its group, and one behind it with the unique key "held", which an arrival replaces. */
    keyed,
    asks,
    /** The token of a claim that is perhaps still on its way. */
    unanswered: randomUUID(),
    schedule,
    flow,
    group,
    limited,
    /** Of one plain job, of the first of the group, of one of the limited queue, of a parent, and of the first of the keyed group. */
    leases,
    /** What the moves leased. */
    taken: [] as Lease[],
  };
}

/**
 * A flow in the middle: `stopped` was cancelled for its `dead` parent, whose other children have not heard of it yet, and
 * `freed` waits for its release, as what it waited for has `succeeded`, as does `told`, whose edge is closed. `last` waits for all of them.
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
      over: { queue: "q" },
      under_way: { queue: "q" },
      runs: { queue: "q" },
      after_it: { queue: "q", after: ["runs"] },
      stopped: { queue: "q", after: ["dead"] },
      freed: { queue: "q", after: ["succeeded"] },
      grouped: { queue: "q", after: ["succeeded"], group: "of the flow" },
      told: { queue: "q", after: ["over"] },
      told_grouped: { queue: "q", after: ["over"], group: "of the flow" },
      last: { queue: "q", after: ["stopped", "freed", "grouped", "under_way", "after_it"], on_parent_failure: "run" },
    },
    tenant,
  );
  await die(flow.dead);
  await closeEdges(deps, 10);
  await releaseChildren(deps, 10);
  await finish(flow.over);
  await closeEdges(deps, 10);
  await finish(flow.succeeded);
  return flow;
}
