import { queueLimits } from "@atlasqueue/contract";
import { expect } from "vitest";
import { foldCounts } from "../../src/counts/fold.ts";
import { executeIn } from "../../src/database/caller-transaction.ts";
import { purge } from "../../src/dead-letters/purge.ts";
import { replay } from "../../src/dead-letters/replay.ts";
import { closeEdges } from "../../src/flows/close-edges.ts";
import { releaseChildren } from "../../src/flows/release-children.ts";
import { submitFlow } from "../../src/flows/submit-flow.ts";
import { advanceGroups } from "../../src/groups/advance.ts";
import { cancel } from "../../src/jobs/cancel.ts";
import { deleteFinished } from "../../src/jobs/delete.ts";
import { retry } from "../../src/jobs/retry.ts";
import { claim, claimReady } from "../../src/lease/claim.ts";
import { extendLeases } from "../../src/lease/extend.ts";
import { forgetEndedClaims } from "../../src/lease/forget-claims.ts";
import { heartbeat } from "../../src/lease/heartbeat.ts";
import type { Lease } from "../../src/lease/lease.ts";
import { recoverExpired } from "../../src/lease/recover.ts";
import { release } from "../../src/lease/release.ts";
import { takeBack } from "../../src/lease/take-back.ts";
import { noteBlockedGroups, setLimits } from "../../src/limits/set.ts";
import { promoteDue } from "../../src/maintenance/promote.ts";
import { firstId, prune, pruneKeys, pruneUniqueKeys } from "../../src/maintenance/prune.ts";
import { pauseQueue, resumeQueue } from "../../src/queues/pause.ts";
import { complete } from "../../src/settle/complete.ts";
import { fail } from "../../src/settle/fail.ts";
import { memorySignal } from "../../src/signal/memory/signal.ts";
import { park } from "../../src/steps/park.ts";
import { sendSignal } from "../../src/steps/signal.ts";
import { admitAll } from "../../src/submit/arrivals/admitter.ts";
import { submitInside } from "../../src/submit/arrivals/submit-inside.ts";
import { enqueueAll } from "../../src/submit/enqueue-all.ts";
import { enqueue } from "../../src/submit/enqueue.ts";
import type { EnqueueOutcome } from "../../src/submit/outcome.ts";
import * as deciding from "./deciding.ts";
import * as leasing from "./leasing.ts";
import { idsOf, leasesOf, options, submissionOf, tenant, type Real } from "./real.ts";
import type { Model, ModelQueue } from "./state.ts";
import * as submitting from "./submitting.ts";
import type { Answer, Asked, AskedOfFlow } from "./submitting.ts";
import * as upkeep from "./upkeep.ts";

/** One choice after another: a number below `below`, always the same for the same command. */
export type Draw = (below: number) => number;
/** What happens, on both sides; throws when the answers differ. */
export type Act = (model: Model, real: Real, draw: Draw) => Promise<void>;

const queues = ["plain", "other"];
const one = <T>(draw: Draw, of: readonly T[]): T => of[draw(of.length)] as T;
const some = <T>(draw: Draw, of: readonly T[], max: number): T[] =>
  of.length === 0 ? [] : [...new Set(Array.from({ length: 1 + draw(max) }, () => one(draw, of)))];
/** Any job that ever was, rather the last ones. */
const anyJob = ({ next }: Model, draw: Draw) => Math.max(0, next.job - 1 - draw(Math.min(20, next.job || 1)));
const someJobs = (model: Model, draw: Draw, max: number) => [
  ...new Set(Array.from({ length: 1 + draw(max) }, () => anyJob(model, draw))),
];
/** Leases, rather the last ones, held or not; several only under tokens of different jobs. */
const someLeases = ({ leases }: Model, draw: Draw, max: number) => {
  const chosen = some(draw, leases.slice(-8), max);
  return chosen.filter(({ job }, at) => chosen.findIndex((other) => other.job === job) === at);
};

function anyRequest(draw: Draw): Asked {
  return {
    queue: one(draw, queues),
    group: one(draw, [null, null, "g", "g", "h"]),
    delay_seconds: one(draw, [null, null, null, 10]),
    priority: one(draw, [0, 0, 5]),
    max_attempts: one(draw, [1, 3]),
    key: null,
    unique: null,
  };
}
const withKey = (draw: Draw): Asked => ({ ...anyRequest(draw), key: one(draw, ["k1", "k2"]) });

/** The numbers of the model for the ids of what was made. */
function learn(real: Real, answers: readonly Answer[], outcomes: readonly EnqueueOutcome[]): void {
  expect(outcomes.map(({ kind }) => kind)).toEqual(answers.map(({ kind }) => kind));
  answers.forEach(({ kind, job }, at) => {
    const outcome = outcomes[at] as EnqueueOutcome;
    const id = "job" in outcome ? outcome.job.id : "job_id" in outcome ? outcome.job_id : undefined;
    if (kind === "created" && job !== undefined) real.ids[job] = id ?? "";
    expect(id).toBe(job === undefined ? undefined : real.ids[job]);
  });
}

function took(model: Model, real: Real, expected: readonly { job: number; token: number }[], leases: readonly Lease[]) {
  const numbers = new Map(real.ids.map((id, n) => [id, n]));
  const taken = leases.map((lease) => ({ lease, job: numbers.get(lease.id) ?? -1 }));
  expect(taken.map(({ job }) => job).toSorted()).toEqual(expected.map(({ job }) => job).toSorted());
  for (const { lease, job } of taken) {
    const token = expected.find((lent) => lent.job === job)?.token ?? -1;
    expect(real.tokens.get(token) ?? lease.lease_token).toBe(lease.lease_token);
    real.tokens.set(token, lease.lease_token);
    real.leases.set(`${job} ${token}`, lease);
    expect(lease.attempts).toBe(model.jobs.get(job)?.attempts);
  }
}

const claimer = (lease_seconds: number) => ({ tenant, queues, worker_id: "w", lease_seconds });

async function limit(model: Model, real: Real, queue: string, change: Partial<ModelQueue>): Promise<void> {
  const before = model.queues.get(queue) ?? { paused: false, concurrency: null, group_concurrency: null };
  const now = { ...before, ...change };
  model.queues.set(queue, now);
  const limits = queueLimits.parse({ concurrency: now.concurrency, group_concurrency: now.group_concurrency });
  const { groups_widened } = await setLimits(real.deps, { tenant, queue }, limits);
  expect(groups_widened).toBe((now.group_concurrency ?? 1) > (before.group_concurrency ?? 1));
  if (!groups_widened) return;
  upkeep.noteBlockedGroups(model, queue);
  await noteBlockedGroups(real.deps, { tenant, queue }, "", 100);
}

const nothingFollows = { admitted: async () => {} };
const pageOf = (real: Real, jobs: readonly number[]) => ({
  kind: "ids" as const,
  tenant,
  ids: idsOf(real, jobs),
  rest: [],
  until_us: Number.MAX_SAFE_INTEGER,
});

const submits: Record<string, Act> = {
  submit: async (model, real, draw) => {
    const asked = anyRequest(draw);
    learn(real, [submitting.submitOne(model, asked)], await enqueue(real.deps, [submissionOf(asked)], options));
  },
  "submit with a key": async (model, real, draw) => {
    const asked = withKey(draw);
    learn(real, [submitting.submitOne(model, asked)], await enqueue(real.deps, [submissionOf(asked)], options));
  },
  "submit unique": async (model, real, draw) => {
    const unique = { key: one(draw, ["u", "v"]), on_conflict: one(draw, ["return", "reject", "replace"] as const) };
    const asked = { ...anyRequest(draw), unique, key: one(draw, [null, null, "k3"]) };
    learn(real, [submitting.submitOne(model, asked)], await enqueue(real.deps, [submissionOf(asked)], options));
  },
  "submit a batch": async (model, real, draw) => {
    const all = [anyRequest(draw), withKey(draw), anyRequest(draw)];
    const answers = submitting.submitAll(model, all);
    const outcome = await enqueueAll(real.deps, all.map(submissionOf), options);
    if (answers === "mismatch") expect(outcome.kind).toBe("mismatch");
    else learn(real, answers, outcome.kind === "stored" ? outcome.outcomes : []);
  },
  "submit inside": async (model, real, draw) => {
    const asked = { ...withKey(draw), ...(draw(2) === 0 && { key: null }) };
    const answer = submitting.submitInside(model, asked);
    const inside = await real.sql.begin((tx) => submitInside(executeIn(tx), submissionOf(asked), options));
    learn(real, [answer], [inside.outcome]);
  },
  "submit a flow": async (model, real, draw) => {
    const policies = ["cancel", "wait", "run"] as const;
    const asked = Array.from({ length: 2 + draw(3) }, (_, at): AskedOfFlow => {
      const places = at === 0 ? [] : some(draw, [...Array(at).keys()], 2).filter(() => at === 1 || draw(3) > 0);
      const jobs = draw(4) === 0 && at > 0 ? [anyJob(model, draw)].filter((n) => model.jobs.has(n)) : [];
      return { ...anyRequest(draw), places, jobs, policy: one(draw, policies) };
    });
    const jobs = asked.map(({ places, jobs: earlier, policy, ...request }, at) => ({
      ...submissionOf(request),
      ref: `r${at}`,
      depends_on: [...places.map((place) => `r${place}`), ...idsOf(real, earlier)],
      on_parent_failure: policy,
    }));
    const made = submitting.submitFlow(model, asked);
    const outcome = await submitFlow(real.deps, { jobs }, options);
    const answers = made.map((job) => ({ kind: "created", job }));
    learn(real, answers, outcome.kind === "stored" ? outcome.outcomes : []);
  },
};

const work: Record<string, Act> = {
  claim: async (model, real, draw) => {
    const wanted = someJobs(model, draw, 5);
    const seconds = one(draw, [30, 60]);
    const jobs = wanted.flatMap((n) => model.jobs.get(n) ?? []);
    const leases = await claim(real.deps, idsOf(real, wanted), claimer(seconds));
    took(model, real, leasing.claim(model, jobs, seconds), leases);
  },
  "claim by age": async (model, real, draw) => {
    const jobs_max = 1 + draw(4);
    const leases = await claimReady(real.deps, jobs_max, claimer(30));
    took(model, real, leasing.claim(model, leasing.oldestFirst(model), 30, jobs_max), leases);
  },
  extend: async (model, real, draw) => {
    const leases = someLeases(model, draw, 3);
    const seconds = one(draw, [30, 10]);
    const { lost, locked } = await extendLeases(real.deps, leasesOf(real, leases), seconds);
    expect(lost.map(({ id }) => id)).toEqual(idsOf(real, leasing.extend(model, leases, seconds)));
    expect(locked).toEqual([]);
  },
  heartbeat: async (model, real, draw) => {
    for (const lease of someLeases(model, draw, 1)) {
      const [{ id, lease_token } = { id: "", lease_token: "" }] = leasesOf(real, [lease]);
      const outcome = await heartbeat(real.deps, tenant, { id, lease_token, lease_seconds: 20, progress: 1 });
      expect(outcome.kind).toBe(leasing.heartbeat(model, lease, 20));
    }
  },
  complete: async (model, real, draw) => {
    const leases = someLeases(model, draw, 3);
    const completions = leasesOf(real, leases).map((lease) => ({ lease, result: one(draw, [null, 1]) }));
    const outcomes = completions.length > 0 ? await complete(real.deps, completions) : [];
    expect(outcomes.map(({ kind }) => kind)).toEqual(leasing.complete(model, leases));
  },
  fail: async (model, real, draw) => {
    const leases = someLeases(model, draw, 3);
    const delay_ms = one(draw, [0, 5_000, "dead"] as const);
    const verdict =
      delay_ms === "dead"
        ? ({ kind: "dead", reason: "not_retryable" } as const)
        : ({ kind: "retry", delay_ms } as const);
    const failures = leasesOf(real, leases).map((lease) => ({ lease, error: "E: x", verdict }));
    const outcomes = failures.length > 0 ? await fail(real.deps, failures) : [];
    expect(outcomes.map(({ kind }) => kind)).toEqual(leasing.fail(model, leases, delay_ms));
  },
  release: async (model, real, draw) => {
    const leases = someLeases(model, draw, 3);
    const { given, locked } = await release(real.deps, leasesOf(real, leases));
    expect(given.map(({ id }) => id)).toEqual(idsOf(real, leasing.release(model, leases)));
    expect(locked).toEqual([]);
  },
  "take back": async (model, real, draw) => {
    for (const { token } of someLeases(model, draw, 1)) {
      await takeBack(real.deps, real.tokens.get(token) ?? "");
      leasing.takeBack(model, token);
    }
  },
  park: async (model, real, draw) => {
    for (const lease of someLeases(model, draw, 1)) {
      const seconds = one(draw, [5, 100]);
      const outcome = await park(real.deps, leasesOf(real, [lease])[0] as Lease, "go", seconds);
      expect(outcome.kind).toBe(leasing.park(model, lease, "go", seconds));
    }
  },
};

const people: Record<string, Act> = {
  cancel: async (model, real, draw) => {
    const n = anyJob(model, draw);
    if (real.ids[n]) expect((await cancel(real.deps, tenant, real.ids[n])).kind).toBe(deciding.cancel(model, n));
  },
  retry: async (model, real, draw) => {
    const n = anyJob(model, draw);
    const does_without = draw(3) > 0;
    if (!real.ids[n]) return;
    const { kind } = await retry(real.deps, tenant, real.ids[n], does_without);
    expect(kind).toBe(deciding.retry(model, n, does_without));
  },
  replay: async (model, real, draw) => {
    const wanted = someJobs(model, draw, 6);
    const ids: string[] = [];
    await replay(real.deps, pageOf(real, wanted), async (revived) => void ids.push(...revived.ids));
    expect(ids.toSorted()).toEqual(idsOf(real, deciding.replay(model, wanted)).toSorted());
  },
  purge: async (model, real, draw) => {
    const wanted = someJobs(model, draw, 3);
    const { ids } = await purge(real.deps, pageOf(real, wanted));
    expect(ids.toSorted()).toEqual(idsOf(real, deciding.purge(model, wanted)).toSorted());
  },
  delete: async (model, real, draw) => {
    const wanted = someJobs(model, draw, 2);
    const { ids } = await deleteFinished(real.deps, tenant, idsOf(real, wanted));
    expect(ids.toSorted()).toEqual(idsOf(real, deciding.deleteFinished(model, wanted)).toSorted());
  },
  signal: async (model, real, draw) => {
    const n = anyJob(model, draw);
    if (real.ids[n]) {
      const { kind } = await sendSignal(real.deps, tenant, real.ids[n], "go", null);
      expect(kind).toBe(deciding.signal(model, n, "go"));
    }
  },
  "set the concurrency": (model, real, draw) =>
    limit(model, real, one(draw, queues), { concurrency: one(draw, [null, 1, 2]) }),
  "set the concurrency of groups": (model, real, draw) =>
    limit(model, real, one(draw, queues), { group_concurrency: one(draw, [null, 1, 2]) }),
  "pause or resume": async (model, real, draw) => {
    const queue = one(draw, queues);
    const known = model.queues.get(queue) ?? { paused: false, concurrency: null, group_concurrency: null };
    model.queues.set(queue, { ...known, paused: !known.paused });
    if (known.paused) await resumeQueue({ ...real.deps, signal: memorySignal() }, { tenant, queue });
    else await pauseQueue(real.deps, { tenant, queue });
  },
};

const sweeps: Record<string, Act> = {
  "time passes": async (model, real, draw) => {
    model.now += one(draw, [1_000, 6_000, 11_000, 31_000, 61_000, 7_200_000]);
    await real.clock.set(new Date(model.now));
  },
  recover: async (model, real) => {
    leasing.recover(model);
    await recoverExpired(real.deps, 500);
  },
  "forget ended claims": async (model, real) => {
    leasing.forgetEnded(model);
    await forgetEndedClaims(real.deps, [...real.tokens.values()]);
  },
  promote: async (model, real) => {
    upkeep.promote(model);
    await promoteDue(real.deps, 500);
  },
  "advance groups": async (model, real) => {
    upkeep.advanceGroups(model);
    await advanceGroups(real.deps, 500);
  },
  "close edges": async (model, real) => {
    upkeep.closeEdges(model);
    await closeEdges(real.deps, 500);
  },
  "release children": async (model, real) => {
    upkeep.releaseChildren(model);
    await releaseChildren(real.deps, 500);
  },
  admit: async (model, real) => {
    submitting.admitAll(model);
    await admitAll({ ...real.deps, followUps: nothingFollows });
  },
  prune: async (model, real, draw) => {
    const [succeeded_hours, dead_hours] = [draw(2), draw(3)];
    upkeep.prune(model, succeeded_hours, dead_hours);
    await prune(real.deps, { succeeded_hours, dead_hours }, firstId, 500);
  },
  "prune keys": async (model, real) => {
    upkeep.pruneKeys(model);
    await pruneKeys(real.deps, 500);
    upkeep.pruneUniqueKeys(model);
    await real.sql`UPDATE unique_keys SET check_at = '-infinity'`;
    await pruneUniqueKeys(real.deps, 500);
    await real.sql`UPDATE unique_keys SET check_at = now()`;
  },
  "fold counts": async (_model, real, draw) => void (await foldCounts(real.deps, 1 + draw(10))),
};

/** How often each happens, beside the others. */
const weights: Record<string, number> = { submit: 3, claim: 3, "claim by age": 4, complete: 3, fail: 3 };

export const acts: Readonly<Record<string, Act>> = { ...submits, ...work, ...people, ...sweeps };
export const weightOf = (name: string): number => weights[name] ?? (name in sweeps ? 2 : 1);
