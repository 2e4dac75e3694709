import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import type { OnParentFailure, SubmittedBatch } from "@atlasqueue/contract";
import { eventually, type SpawnedProcess } from "@atlasqueue/harness";
import type { Api, System } from "../system.ts";
import { max_attempts, type PlannedFlow } from "./plan.ts";

const worker_count = 3;
const api_count = 2;
const answer_ms_max = 10_000;
/** How long a statement of an API that was killed may still be under way. */
const late_ms = 1_000;

/** A job as it was submitted; `name` says which it is in the plan. */
export type Known = {
  id: string;
  name: string;
  flow_id: string;
  parents: string[];
  on_parent_failure: OnParentFailure;
};

/** What a person asked for, and between which times it was done. One of `job_id` and `flow_id` is given. */
export type Act = {
  verb: "cancel" | "retry";
  job_id?: string | undefined;
  flow_id?: string | undefined;
  from_ms: number;
  to_ms: number;
  status: number;
};

/** The processes of one seed, in a queue of its own, and what was asked of them. */
export type World = {
  system: System;
  queue: string;
  apis: Api[];
  workers: SpawnedProcess[];
  known: Map<string, Known>;
  flow_ids: string[];
  acts: Act[];
};

const quiet = { LOG_LEVEL: "WARNING" };

export async function startWorld(system: System, queue: string): Promise<World> {
  const times = <T>(count: number, start: () => Promise<T>) => Promise.all(Array.from({ length: count }, start));
  const [apis, workers] = await Promise.all([
    times(api_count, () => system.startApi(quiet)),
    times(worker_count, () => startWorker({ system, queue })),
  ]);
  return { system, queue, apis, workers, known: new Map(), flow_ids: [], acts: [] };
}

export const startWorker = ({ system, queue }: Pick<World, "system" | "queue">) =>
  system.startWorker({
    WORKER_HANDLERS: fileURLToPath(new URL("../../test/flow-handlers.ts", import.meta.url)),
    WORKER_QUEUES: queue,
    WORKER_CONCURRENCY: "4",
    WORKER_LEASE_SECONDS: "1",
    ...quiet,
  });

export const startApi = ({ system }: World) => system.startApi(quiet);

/** Kills whatever is left, and waits until it is gone. */
export const stopWorld = ({ apis, workers }: World) =>
  Promise.all([...workers, ...apis.map((api) => api.process)].map((one) => one.stop()));

/** The answer to a request that is sent, under its key, until some API gives one. */
async function ask(
  { apis }: World,
  method: "POST" | "PUT",
  path: string,
  body?: object,
): Promise<{ status: number; text: string; tries: number }> {
  const headers = { ...(body && { "content-type": "application/json" }), ...(method === "POST" && newKey()) };
  let tries = 0;
  return eventually(async () => {
    const api = apis[tries % apis.length];
    tries += 1;
    const signal = AbortSignal.timeout(answer_ms_max);
    const sent = await fetch(`${api?.url}${path}`, {
      method,
      headers,
      signal,
      body: body ? JSON.stringify(body) : null,
    });
    const text = await sent.text();
    if (sent.status >= 500) throw new Error(`${sent.status} ${text}`);
    return { status: sent.status, text, tries };
  });
}
const newKey = () => ({ "idempotency-key": randomUUID() });

/** Stores the flow of a plan; the jobs of earlier ones are named by their ids. */
export async function submitFlow(world: World, plan: readonly PlannedFlow[], at: number): Promise<void> {
  const { jobs, has_then } = plan[at] ?? { jobs: [], has_then: false };
  const { queue, known, flow_ids } = world;
  const idOf = (flow: number, place: number) => byName(known, nameOf(flow, place));
  const step = { type: "flow.step", queue, max_attempts };
  const body = {
    jobs: jobs.map(({ parents, on_parent_failure, payload, group }, place) => ({
      ...step,
      ref: `j${place}`,
      payload,
      group,
      ...(parents.length > 0 && {
        on_parent_failure,
        depends_on: parents.map((one) => (one.flow === at ? `j${one.place}` : idOf(one.flow, one.place))),
      }),
    })),
    ...(has_then && { then: { ...step, payload: { fails: 0, pause_ms: 0 } } }),
  };
  const { status, text } = await ask(world, "POST", "/v1/jobs/batch", body);
  if (status !== 201) throw new Error(`${status} ${text}`);
  const stored = JSON.parse(text) as SubmittedBatch;
  const flow_id = stored.flow_id ?? "";
  const ids = stored.jobs.map(({ id }) => id);
  for (const [place, id] of ids.entries()) {
    const { parents = [], on_parent_failure = "cancel" } = jobs[place] ?? {};
    const of = parents.map((one) => (one.flow === at ? (ids[one.place] ?? "") : idOf(one.flow, one.place)));
    known.set(id, { id, name: nameOf(at, place), flow_id, parents: of, on_parent_failure });
  }
  if (stored.then) {
    const { id } = stored.then;
    known.set(id, { id, name: `then of flow ${at}`, flow_id, parents: ids, on_parent_failure: "run" });
  }
  flow_ids.push(flow_id);
}

const nameOf = (flow: number, place: number) => `job ${place} of flow ${flow}`;
const byName = (known: World["known"], name: string) => [...known.values()].find((one) => one.name === name)?.id ?? "";

/** Has a job or a whole flow cancelled or retried. */
export async function act(world: World, verb: Act["verb"], which: { job_id: string } | { flow_id: string }) {
  const path = "job_id" in which ? `/v1/jobs/${which.job_id}` : `/v1/flows/${which.flow_id}`;
  const from_ms = Date.now();
  const { status, tries } = await ask(world, "POST", `${path}/${verb}`);
  world.acts.push({ verb, ...which, from_ms, to_ms: Date.now() + (tries > 1 ? late_ms : 1), status });
}

export async function limitQueue(world: World, limits: object): Promise<void> {
  const { status, text } = await ask(world, "PUT", `/v1/queues/${world.queue}/limits`, limits);
  if (status !== 200) throw new Error(`${status} ${text}`);
}
