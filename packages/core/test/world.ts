import { queueLimits, submitJob, type SubmitJobInput } from "@atlasqueue/contract";
import { recordEvents } from "@atlasqueue/testing";
import type { Database } from "../src/database/connect.ts";
import type { Deps } from "../src/deps.ts";
import { claim } from "../src/lease/claim.ts";
import type { Claimer, Lease } from "../src/lease/lease.ts";
import { enqueue } from "../src/submit/enqueue.ts";
import { fail } from "../src/settle/fail.ts";
import { setLimits } from "../src/limits/set.ts";
import { keepTables } from "./kept-tables.ts";

/** A job in each state a move may meet, and the leases held on them. */
export type World = Awaited<ReturnType<typeof makeWorld>>;

export const limit = 2;

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
  await setLimits(deps, { tenant, queue: "limited" }, queueLimits.parse({ concurrency: limit }));
  const plain = await add({}, {}, {});
  const [held, expired, dead] = await add({}, {}, { max_attempts: 1 });
  const group = await add({ group: "g" }, { group: "g" }, { group: "g" });
  const limited = await add({ queue: "limited" }, { queue: "limited" }, { queue: "limited" }, { queue: "limited" });
  await add({ delay_seconds: 3_600, unique: { key: "u", on_conflict: "replace" } });
  const leases = await claim(deps, [held, group[0], limited[0]].map(String), claimer);
  const lost = await claim(deps, [String(expired)], claimer);
  const fatal = await claim(deps, [String(dead)], claimer);
  const verdict = { kind: "dead", reason: "not_retryable" } as const;
  await fail(
    deps,
    fatal.map((lease) => ({ lease, error: "x", verdict })),
  );
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
    group,
    limited,
    /** Of one plain job, of the first of the group, and of one of the limited queue. */
    leases,
    /** What the moves leased. */
    taken: [] as Lease[],
  };
}
