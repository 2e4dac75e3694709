import { randomUUID } from "node:crypto";
import { submitJob, type SubmitJobInput } from "@atlasqueue/contract";
import type * as Public from "@atlasqueue/core";
import type * as Internal from "@atlasqueue/core/internal";
import type * as Http from "@atlasqueue/core/internal/http";
import type * as Tools from "@atlasqueue/core/internal/tools";
import type * as Worker from "@atlasqueue/core/internal/worker";
import postgres, { type Sql } from "postgres";
import { openHistory, type History } from "../history/open-history.ts";

/** The engine, as it is or as a mutant. */
export type Core = typeof Internal & typeof Http & typeof Tools & typeof Worker & typeof Public;

type Wish = Partial<SubmitJobInput> & { key?: string; tenant?: string };
type Deps = Internal.Deps & { signal: Public.Signal };

/** A small world, in which an engine is led to where its faults show. */
export type Scene = {
  core: Core;
  url: string;
  deps: Deps;
  sql: Sql;
  history: History;
  /** A submission and what is written down of it. */
  wish(nonce: string, wish?: Wish): Http.Submission;
  wanted(
    nonce: string,
    wish?: Wish,
  ): { nonce: string; kind: string; tenant: string; queue: string; ends: "any"; key?: string; group?: string };
  submit(nonce: string, wish?: Wish): Promise<string>;
  /** A claim of this one job; undefined when it was not to be had. */
  take(id: string, worker?: string): Promise<Worker.Lease | undefined>;
  /** A handler begins; the result ends it. */
  begin(lease: Worker.Lease): (ended?: "returned" | "threw") => void;
  /** A process begins to handle it, and is killed. */
  dieWith(lease: Worker.Lease): void;
  complete(lease: Worker.Lease): Promise<boolean>;
  /** Its handler throws, and the attempt fails as the verdict says. */
  fail(lease: Worker.Lease): Promise<void>;
  work(id: string): Promise<void>;
  /** All leases end now, and are due to be looked at. */
  endLeases(): Promise<void>;
  /** Everything goes on, without any trouble, until nothing is left or nothing moves. */
  drain(): Promise<void>;
  close(): Promise<void>;
};

const settings = { seed: 0, minutes: 0, commit: "mutants", lease_ms: 30_000, sweep_ms: 1_000, backoff_ms_max: 2_000 };
const connections_max = 20;
const rounds_max = 50;
const policy = { baseSeconds: 1, maxSeconds: 1, jitterMaxSeconds: 0 };

/** Opens a scene on a migrated and audited database; the history goes to `folder`. */
export function openScene(core: Core, urls: { postgres: string; redis: string }, folder: string): Scene {
  const url = urls.postgres;
  const history = openHistory(folder, "scene");
  history.invoke("run", { ...settings, wall_ms: Date.now() });
  const sql = postgres(url, { max: connections_max, onnotice: () => {} });
  const database = core.connectDatabase({ url, connectionsMax: connections_max, timeoutMs: 15_000 });
  const prefix = randomUUID();
  const lists = core.redisSignal({ url: urls.redis, keys: { jobs: `${prefix}:jobs`, deadLetters: `${prefix}:dlq` } });
  const signal: Public.Signal = {
    ...lists,
    push: (jobs) => noteUncommitted(sql, history, jobs).then(() => lists.push(jobs)),
  };
  const deps: Deps = { database, signal, observe: () => {} };
  const scene: Scene = {
    core,
    url,
    deps,
    sql,
    history,
    wish: (nonce, { key, tenant = "default", ...request } = {}) => ({
      tenant,
      request: submitJob.parse({ type: "scene", ...request, payload: { nonce } }),
      ...(key !== undefined && { idempotency_key: key }),
    }),
    wanted: (nonce, { key, group, tenant = "default", queue = "default" } = {}) => ({
      nonce,
      kind: "scene",
      tenant,
      queue,
      ends: "any",
      ...(key !== undefined && { key }),
      ...(group !== undefined && { group }),
    }),
    async submit(nonce, wish) {
      const call = history.invoke("submit", { via: "scene", jobs: [scene.wanted(nonce, wish)] });
      const [outcome] = await core.enqueue(deps, [scene.wish(nonce, wish)], { idempotency_ttl_seconds: 60 });
      if (!outcome || !("job" in outcome)) throw new Error(`${nonce} was not stored`);
      if (outcome.job.status === "queued") await core.announce(deps, [outcome.job]);
      call.ok({ answers: [{ nonce, job: outcome.job.id, created: outcome.kind === "created" }] });
      return outcome.job.id;
    },
    async take(id, worker = "w1") {
      const claimer = { tenant: "default", queues: ["default", "limited"], worker_id: worker, lease_seconds: 30 };
      return (await core.claim(deps, [id], claimer))[0];
    },
    begin({ id, attempts, tenant, queue, worker_id, group_key }) {
      const group = group_key === null ? {} : { group: group_key };
      const run = history.invoke("handle", { job: id, attempt: attempts, worker: worker_id, tenant, queue, ...group });
      return (ended = "returned") => run.ok({ ended });
    },
    dieWith({ id, attempts, tenant, queue, worker_id: worker }) {
      const name = `${id}-${attempts}`;
      const life = history.invoke("process", { name, role: "worker", pid: 0 });
      const own = openHistory(folder, name);
      own.invoke("handle", { job: id, attempt: attempts, worker, tenant, queue });
      own.close();
      life.ok({ code: null, signal: "SIGKILL", victim: true });
    },
    async complete(lease) {
      const [outcome] = await core.complete(deps, [{ lease, result: { attempt: lease.attempts } }]);
      return outcome?.kind === "applied";
    },
    async fail(lease) {
      scene.begin(lease)("threw");
      const verdict = core.verdictAfterFailure({ ...lease, retryable: true }, policy, 0);
      await core.fail(deps, [{ lease, error: "Error: no", verdict }]);
    },
    async work(id) {
      const lease = await scene.take(id);
      if (!lease) return;
      scene.begin(lease)();
      await scene.complete(lease);
    },
    async endLeases() {
      await sql`UPDATE atlasqueue.jobs SET locked_until = now() - interval '10 milliseconds' WHERE status = 'running'`;
      await sql`UPDATE atlasqueue.claims SET check_at = now() - interval '10 milliseconds'`;
    },
    async drain() {
      for (let round = 0; round < rounds_max; round += 1) {
        await sql`UPDATE atlasqueue.jobs SET due_at = now() WHERE due_at IS NOT NULL`;
        await core.promoteAll(deps);
        const ready = await sql<
          { id: string }[]
        >`SELECT id FROM atlasqueue.jobs WHERE status = 'queued' ORDER BY ready_at, id LIMIT 100`;
        if (ready.length === 0) return;
        for (const { id } of ready) await scene.work(id);
      }
    },
    async close() {
      history.close();
      await Promise.all([database.close(), lists.close()]);
      await sql.end({ timeout: 1 });
    },
  };
  return scene;
}

/** A signal that comes before its job's commit sends a worker to find nothing. */
async function noteUncommitted(sql: Sql, history: History, jobs: readonly { id: string }[]): Promise<void> {
  const ids = jobs.map(({ id }) => id);
  const found = await sql`SELECT FROM atlasqueue.jobs WHERE id = ANY(${ids})`;
  const name = "jobs signalled before their commit";
  history.invoke("sample", { of: "number", name, value: ids.length - found.length, bound: 0 }).ok({});
}
