import type { Job } from "@atlasqueue/contract";
import { expect } from "vitest";
import { eventually } from "@atlasqueue/harness";
import { inParallel } from "../../system/system.ts";
import { ask } from "./ask.ts";
import { lanes, startLoad, type Accepted } from "./load.ts";
import { longestSilence, mostAtOnce, orderOf, repeated } from "./runs.ts";
import type { Topology } from "./topology.ts";

/** Something that goes wrong while jobs come in. */
export type Outage<T extends Topology> = {
  name: string;
  /** What has to be there before; no jobs come in yet. */
  prepare?(topology: T): Promise<void>;
  /** Makes it happen; returns when nothing more will. `killed` names workers' processes that did not write their end. */
  fault(topology: T): Promise<void | { killed: readonly number[] }>;
  /** A client's connection may break instead of answering 503; it then asks again just the same. */
  breaks_connections?: boolean;
  /** Why a job that is in no group and no limited queue may run twice at once; without it none may. */
  reruns?: string;
  /** What this topology gives up; without it nothing may be lost or out of order. */
  gives_up?: string;
};

/** What an outage did, in milliseconds and jobs. */
export type Measures = {
  outage: string;
  submits_silent_ms: number;
  submit_wait_ms_max: number;
  jobs_silent_ms: number;
  /** From a job's acceptance to its end. */
  job_wait_ms_max: number;
  refused: number;
  accepted: number;
  lost: number;
  run_again: number;
  run_beside: number;
  out_of_order: number;
};

/** How many jobs before the fault, and after it. */
const enough = 50;
const recovery_ms_max = 120_000;
export const limit = 2;

/**
 * Breaks something under load, waits until jobs that are accepted afterwards have run and all that were ever accepted
 * have ended, and holds the topology to its promises. Times are of this machine's clock, which the servers share.
 */
export async function suffer<T extends Topology>(topology: T, outage: Outage<T>): Promise<Measures> {
  await outage.prepare?.(topology);
  const load = startLoad(topology, outage.breaks_connections);
  const url = topology.apis[0]?.url ?? "";
  try {
    await eventually(() => load.accepted.length >= enough, { message: "the load begins" });
    const fault_at_ms = Date.now();
    const killed = new Set((await outage.fault(topology))?.killed);
    const over_at = load.accepted.length;
    const after = () => load.accepted.slice(over_at, over_at + enough);
    await eventually(() => after().length === enough, { timeout_ms: recovery_ms_max, message: "jobs are accepted" });
    await ended(url, after(), "jobs accepted after the fault succeed");
    await load.stop();
    return await account(topology, outage, { accepted: load.accepted, refused: load.refused(), fault_at_ms, killed });
  } finally {
    await load.stop();
  }
}

type Facts = { accepted: readonly Accepted[]; refused: number; fault_at_ms: number; killed: ReadonlySet<number> };

async function account<T extends Topology>(topology: T, outage: Outage<T>, facts: Facts): Promise<Measures> {
  const { accepted, fault_at_ms, killed } = facts;
  const url = topology.apis[0]?.url ?? "";
  await ended(url, accepted, "all accepted jobs succeed");
  const found = await read(url, accepted);
  const jobs = found.filter((job) => job !== undefined);
  const runs = topology.runs();
  const of = (lane: string) => accepted.filter((one) => one.lane === lane).map(({ id }) => id);
  const groups = Object.keys(lanes).filter((name) => lanes[name]?.group !== undefined);
  const atOnce = (ids: string[]) => mostAtOnce(runs, new Set(ids), killed);
  const byJob = Map.groupBy(runs, ({ job_id }) => job_id);
  const measures: Measures = {
    outage: outage.name,
    submits_silent_ms: longestSilence(
      accepted.map(({ at_ms }) => at_ms),
      fault_at_ms,
    ),
    submit_wait_ms_max: Math.round(Math.max(...accepted.map(({ wait_ms }) => wait_ms))),
    jobs_silent_ms: longestSilence(
      jobs.map((job) => Date.parse(job.finished_at ?? "")),
      fault_at_ms,
    ),
    job_wait_ms_max: Math.max(...jobs.map((job) => Date.parse(job.finished_at ?? "") - Date.parse(job.created_at))),
    refused: facts.refused,
    accepted: accepted.length,
    lost: found.length - jobs.length,
    run_again: repeated(runs, new Set(accepted.map(({ id }) => id))).length,
    run_beside: accepted.filter(({ id }) => mostAtOnce(byJob.get(id) ?? [], new Set([id]), killed) > 1).length,
    out_of_order: groups.filter((name) => orderOf(runs, new Set(of(name))).join() !== of(name).join()).length,
  };
  if (outage.gives_up === undefined) {
    expect(measures).toMatchObject({ lost: 0, out_of_order: 0, ...(!outage.reruns && { run_beside: 0 }) });
    for (const name of groups) expect(atOnce(of(name)), `at once in the group ${name}`).toBe(1);
    expect(atOnce(of("limited")), "at once in the limited queue").toBeLessThanOrEqual(limit);
  }
  return measures;
}

/** Each job; undefined is one that is not known any more. */
async function read(url: string, jobs: readonly Accepted[]): Promise<(Job | undefined)[]> {
  return inParallel(jobs.length, 10, async (at) => {
    const { status, body } = await ask(url, "GET", `/v1/jobs/${jobs[at]?.id}`);
    if (status === 404) return undefined;
    expect(status).toBe(200);
    return body as Job;
  });
}

/** Until none of them is left that has not succeeded. One that is gone is nothing to wait for. */
async function ended(url: string, jobs: readonly Accepted[], message: string): Promise<void> {
  let open = jobs;
  await eventually(
    async () => {
      const found = await read(url, open);
      open = open.filter((_, at) => found[at] && found[at].status !== "succeeded");
      expect(open.map(({ id }) => id)).toEqual([]);
    },
    { timeout_ms: recovery_ms_max, interval_ms: 200, message },
  );
}
