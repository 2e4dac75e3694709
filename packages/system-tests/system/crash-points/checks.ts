import { isFinal, jobStatuses } from "@atlasqueue/contract";
import { findJob } from "@atlasqueue/core/internal/http";
import { countDrift } from "@atlasqueue/core/internal/tools";
import { expect } from "vitest";
import { until, wishes, type Wish } from "./story.ts";
import type { World } from "./world.ts";

const tenant = "default";
/** The list is gone over every 30 s, by the sweep after that: twice as long, and no machine is too slow for it. */
const list_repair_ms = 60_000;
const open = jobStatuses.filter((status) => !isFinal(status));

/** Resolves when nothing is left to do: every job is final, and every note of what must follow was followed. */
export async function whenQuiet({ sql, bare }: World): Promise<void> {
  await until("everything to be done", async () => {
    const [left] = await sql`
      SELECT FROM atlasqueue.jobs WHERE status = ANY(${open})
      UNION ALL SELECT FROM atlasqueue.outbox UNION ALL SELECT FROM atlasqueue.flow_edges
      UNION ALL SELECT FROM atlasqueue.job_groups UNION ALL SELECT FROM atlasqueue.operations WHERE status = 'running' LIMIT 1`;
    return !left;
  });
  const isTheirs = async () => {
    const dead = await sql<{ id: string }[]>`SELECT id FROM atlasqueue.jobs WHERE status = 'dead'`;
    const listed = await bare.signal.deadLetters.page(0, 100);
    return (
      listed.toSorted().join() ===
      dead
        .map(({ id }) => id)
        .toSorted()
        .join()
    );
  };
  await until("the list of dead letters to be theirs", isTheirs, list_repair_ms);
  await until("the counts to be those of the jobs", async () => (await countDrift(bare, 1_000)).drifted.length === 0);
}

/** What clients were told: the ids under which their keys were accepted, in each telling of the story. */
export type Tellings = readonly ReadonlyMap<string, string>[];

/** Whose attempts may have been spent unseen: those of a process that died. */
export type Deaths = { of(worker_id: string): boolean };
export const nobody: Deaths = { of: () => false };

/** Throws unless the promises hold, now that all is quiet. */
export async function checkPromises(world: World, tellings: Tellings, deaths: Deaths): Promise<void> {
  await checkWishes(world, tellings);
  await checkAttempts(world, tellings, deaths);
  await checkTurns(world, tellings);
}

/** Each accepted job has become what was wished, under the id that its key was answered with each time, and once. */
async function checkWishes({ sql, bare }: World, tellings: Tellings): Promise<void> {
  const last = tellings.at(-1) ?? new Map<string, string>();
  const kept = [...last].filter(([key]) => wishes[key]?.becomes !== "gone");
  for (const [key, id] of kept) {
    for (const told of tellings) expect([key, told.get(key) ?? id]).toEqual([key, id]);
    const status = (await findJob(bare, tenant, id))?.status;
    expect([key, status]).toEqual([key, wishes[key]?.becomes ?? "succeeded"]);
  }
  for (const told of tellings)
    for (const [key, id] of told)
      if (wishes[key]?.becomes === "gone") expect([key, await findJob(bare, tenant, id)]).toEqual([key, undefined]);
  // Besides what was submitted: what a schedule's one slot made, and what two jobs added.
  const others =
    await sql`SELECT type, payload FROM atlasqueue.jobs WHERE id <> ALL(${kept.map(([, id]) => id)}) ORDER BY id`;
  expect(others.map(({ payload }) => "slot" in (payload as object)).toSorted()).toEqual([false, false, true]);
}

/** No attempt was spent that no handler has seen, unless its process died; none was spent beyond those that were lost. */
async function checkAttempts({ sql }: World, tellings: Tellings, deaths: Deaths): Promise<void> {
  const told = tellings.at(-1) ?? new Map<string, string>();
  const lost = await sql<{ job_id: string; attempt: number; worker_id: string; runs: number }[]>`
    SELECT job_id, attempt, worker_id,
           (SELECT count(*)::int FROM runs WHERE runs.job_id = job_attempts.job_id AND runs.attempt = job_attempts.attempt) AS runs
    FROM atlasqueue.job_attempts WHERE outcome = 'lost'`;
  // One is abandoned on purpose, in each telling.
  const unseen = lost.filter(({ runs, job_id }) => runs === 0 && job_id !== told.get("lost"));
  expect(unseen.filter(({ worker_id }) => !deaths.of(worker_id))).toEqual([]);
  for (const [key, id] of told) {
    const { attempts, becomes, request } = wishes[key] ?? flowWish;
    const [job] = await sql<{ attempts: number }[]>`SELECT attempts FROM atlasqueue.jobs WHERE id = ${id}`;
    if (becomes === "gone") continue;
    const spare = lost.filter((one) => one.job_id === id).length;
    expect([key, (job?.attempts ?? 0) <= Math.min(attempts + spare, request.max_attempts ?? 20)]).toEqual([key, true]);
  }
}
const flowWish: Wish = { request: { type: "ok" }, becomes: "succeeded", attempts: 1 };

/** Jobs of a group ran in their order, and they and those of a limited queue one at a time. */
async function checkTurns({ sql }: World, tellings: Tellings): Promise<void> {
  const told = tellings.at(-1) ?? new Map<string, string>();
  for (const keys of [
    ["g1", "g2", "g3"],
    ["n1", "n2"],
  ]) {
    const ids = keys.map((key) => told.get(key) ?? "");
    const runs = await sql<{ job_id: string; overlaps: boolean | null }[]>`
      SELECT job_id, ended_at > lead(began_at) OVER (ORDER BY began_at, id) AS overlaps
      FROM runs WHERE job_id = ANY(${ids}) ORDER BY began_at, id`;
    expect([keys, runs.filter(({ overlaps }) => overlaps)]).toEqual([keys, []]);
    const order = runs.map(({ job_id }) => ids.indexOf(job_id));
    if (keys.includes("g1")) expect([keys, order]).toEqual([keys, order.toSorted((a, b) => a - b)]);
  }
}
