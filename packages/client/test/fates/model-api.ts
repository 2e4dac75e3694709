import { outage_hold_ms, type Json, type ProblemKind } from "@atlasqueue/contract";
import { problemOf } from "../problems.ts";

/** What an API answers; without a problem or a job, as here, its bodies are small. */
export type Answer = { status: number; body: unknown };

export type ModelJob = {
  readonly id: string;
  readonly group: string | null;
  status: "ready" | "leased" | "succeeded" | "failed";
  attempts: number;
  /** Of the lease it is held under, or was settled under. */
  token: string | undefined;
  leased_at_ms: number;
  ends_at_ms: number;
  readonly steps: Map<string, Json>;
};

type Watch = {
  /** A lease ended without its holder: what it held is ready again, an attempt poorer. */
  ended(job: ModelJob): void;
};

type Held = { id?: string; lease_token: string };
type LeaseFields = { lease_seconds?: number; lease_token?: string };

/** After the database is back, or the API has said to a holder that it is away. */
const grace_ms = 3_000;
const deadline_ms = 2_500;
const sweep_ms = 100;

/**
 * The part of the API that a remote worker meets, in memory and by the clock of `performance.now()`: leases with tokens of
 * their own, heartbeats, settlements that lease the next of a group, giving back, steps. What it says is done when it is
 * asked; what becomes of the answer is the network's business.
 */
export function modelApi(jobs: ModelJob[], watch: Watch) {
  const used_tokens = new Set<string>();
  let database_is_away = false;
  let nothing_ends_before_ms = 0;
  let waiting: (() => void)[] = [];
  const changed = () => {
    for (const look of waiting.splice(0)) look();
  };

  const isHeldUp = ({ group }: ModelJob) =>
    group !== null && jobs.some((other) => other.group === group && other.status === "leased");
  const ready = (job: ModelJob) => job.status === "ready" && !isHeldUp(job);
  /** Those before are over: thousands, where a model goes on for long. */
  let first_open = 0;
  const nextReady = (): ModelJob | undefined => {
    while (jobs[first_open]?.status === "succeeded") first_open += 1;
    for (let at = first_open; at < jobs.length; at += 1) {
      const job = jobs[at];
      if (job && ready(job)) return job;
    }
    return undefined;
  };
  const take = (job: ModelJob, { lease_seconds = 30, lease_token }: LeaseFields) => {
    const now = performance.now();
    const token = lease_token ?? crypto.randomUUID();
    Object.assign(job, { status: "leased", token, leased_at_ms: now, ends_at_ms: now + lease_seconds * 1_000 });
    job.attempts += 1;
  };
  const show = ({ id, group, attempts, token, steps }: ModelJob) => {
    const wire = { id, group, attempts, queue: "q", type: "a", payload: {}, timeout_seconds: null, max_attempts: 100 };
    return { job: wire, lease_token: token, steps: Object.fromEntries(steps), steps_complete: true };
  };
  const putBack = (job: ModelJob) => {
    Object.assign(job, { status: "ready", token: undefined });
    changed();
  };
  const find = ({ id, lease_token }: Held) => jobs.find((job) => job.id === id && job.token === lease_token);
  const heldUnder = (held: Held) => {
    const job = find(held);
    return job?.status === "leased" ? job : undefined;
  };
  const settle = (held: Held, status: ModelJob["status"]): string => {
    const job = heldUnder(held);
    if (!job) return find(held)?.status === status ? status : "lease_lost";
    job.status = status;
    changed();
    return status;
  };
  const release = (held: Held): string => {
    const job = heldUnder(held);
    if (!job) return "lease_lost";
    job.attempts -= 1;
    putBack(job);
    return "queued";
  };
  const one = (became: string): Answer =>
    became === "lease_lost" ? problemAnswer("lease_lost") : { status: 200, body: { status: became } };

  /** Under a token that was used, what is still leased. */
  const leaseOrRepeat = ({ lease_token = "", lease_seconds = 30 }: LeaseFields, chosen: () => ModelJob[]) => {
    const now = performance.now();
    const repeated = used_tokens.has(lease_token);
    const before = jobs.filter(({ status, token }) => status === "leased" && token === lease_token);
    const taken = repeated ? before : chosen();
    if (taken.length > 0) used_tokens.add(lease_token);
    const ends_ms = repeated ? before.map(({ ends_at_ms }) => ends_at_ms - now) : [lease_seconds * 1_000];
    return { taken, repeated, remaining_ms: Math.max(0, Math.min(...ends_ms, lease_seconds * 1_000)) };
  };
  const leaseSome = (fields: LeaseFields & { max_jobs?: number }) =>
    leaseOrRepeat(fields, () => {
      const taken: ModelJob[] = [];
      for (let job; taken.length < (fields.max_jobs ?? 1) && (job = nextReady());) {
        take(job, fields);
        taken.push(job);
      }
      return taken;
    });
  /** `gone` aborts when the API hears that the caller has hung up. */
  const lease = async (fields: LeaseFields & { max_jobs?: number; wait_seconds?: number }, gone: AbortSignal) => {
    const began_ms = performance.now();
    const until_ms = began_ms + Math.min(fields.wait_seconds ?? 0, (fields.lease_seconds ?? 30) / 3) * 1_000;
    for (;;) {
      if (gone.aborted) return problemAnswer("unavailable");
      if (database_is_away) return problemAnswer("unavailable");
      const { taken, ...holds } = leaseSome(fields);
      const now = performance.now();
      if (taken.length > 0 || holds.repeated || now >= until_ms)
        return { status: 200, body: { jobs: taken.map(show), waited_ms: now - began_ms, ...holds } };
      await new Promise<void>((look) => {
        waiting.push(look);
        setTimeout(look, until_ms - now);
      });
    }
  };

  const settleAll = (body: Record<"acks" | "nacks" | "releases", Held[] | undefined> & { next?: LeaseFields }) => {
    const { acks = [], nacks = [], releases, next } = body;
    const told = {
      acks: acks.map((held) => ({ id: held.id, outcome: settle(held, "succeeded") })),
      nacks: nacks.map((held) => ({ id: held.id, outcome: settle(held, "failed") })),
      ...(releases && { releases: releases.map((held) => ({ id: held.id, outcome: release(held) })) }),
    };
    if (!next) return told;
    const groups = acks.flatMap(({ id }) => jobs.find((job) => job.id === id)?.group ?? []);
    const { taken, ...holds } = leaseOrRepeat(next, () => {
      const nexts = [...new Set(groups)].flatMap(
        (group) => jobs.find((job) => job.group === group && ready(job)) ?? [],
      );
      for (const job of nexts) take(job, next);
      return nexts;
    });
    return { ...told, next: taken.map(show), waited_ms: 0, ...holds };
  };

  const sweep = () => {
    const now = performance.now();
    if (database_is_away || now < nothing_ends_before_ms) return;
    for (const job of jobs) {
      if (job.status !== "leased" || now < job.ends_at_ms) continue;
      watch.ended(job);
      putBack(job);
    }
  };
  const sweeping = setInterval(sweep, sweep_ms);

  return {
    async ask(path: string, body: Record<string, unknown>, gone: AbortSignal): Promise<Answer> {
      const [, , , id = "", verb = ""] = path.split("/");
      const held = { ...body, id } as Held & Record<string, unknown>;
      if (database_is_away) {
        if (verb === "heartbeat") this.toldAway();
        return problemAnswer("unavailable");
      }
      if (path.endsWith("/lease")) return lease(body as Parameters<typeof lease>[0], gone);
      if (path === "/v1/leases/settle")
        return { status: 200, body: settleAll(body as Parameters<typeof settleAll>[0]) };
      if (path === "/v1/leases/release") {
        used_tokens.add(held.lease_token);
        const back = jobs.filter(({ status, token }) => status === "leased" && token === held.lease_token);
        for (const job of back) release({ id: job.id, lease_token: held.lease_token });
        return { status: 200, body: { released: back.length } };
      }
      if (verb === "ack") return one(settle(held, "succeeded"));
      if (verb === "nack") return one(settle(held, "failed"));
      if (verb === "release") return one(release(held));
      const job = heldUnder(held);
      if (!job) return problemAnswer("lease_lost");
      if (verb === "heartbeat") {
        job.ends_at_ms = performance.now() + Number(held["lease_seconds"]) * 1_000;
        return { status: 200, body: { locked_until: new Date().toISOString() } };
      }
      if (verb !== "steps") throw new Error(`the model knows no ${path}`);
      const name = path.split("/").at(-1) ?? "";
      if (!job.steps.has(name)) job.steps.set(name, held["result"] as Json);
      return { status: 200, body: { result: job.steps.get(name) } };
    },
    submit(job: ModelJob): void {
      jobs.push(job);
      changed();
    },
    /** A holder was told that the database is away: the fleet ends no lease meanwhile. */
    toldAway: () => (nothing_ends_before_ms = performance.now() + outage_hold_ms + deadline_ms),
    databaseGoes(): void {
      database_is_away = true;
      changed();
    },
    databaseComes(): void {
      if (database_is_away) nothing_ends_before_ms = Math.max(nothing_ends_before_ms, performance.now() + grace_ms);
      database_is_away = false;
    },
    stop: () => clearInterval(sweeping),
  };
}
export type ModelApi = ReturnType<typeof modelApi>;

/** In the API's own words. */
export function problemAnswer(kind: ProblemKind): Answer {
  const body = problemOf(kind);
  return { status: body.status, body };
}

/** Ready, and not attempted yet. */
export const newJob = (id: string, group: string | null): ModelJob => ({
  id,
  group,
  status: "ready",
  attempts: 0,
  token: undefined,
  leased_at_ms: 0,
  ends_at_ms: 0,
  steps: new Map(),
});
