import { isFinal } from "@atlasqueue/contract";
import { groupOf, held, inOrder, isOpen, slotsOf, statusOf, type Model, type ModelJob, type Taken } from "./state.ts";

/** scheduled | failed → queued, for those whose time has come. */
export function promote(model: Model): void {
  for (const job of model.jobs.values())
    if (job.due_at !== null && job.due_at <= model.now)
      Object.assign(job, { status: "queued", ready_at: job.run_at, due_at: null, waits_for: null });
}

/** The next of groups, of which a job has ended or which are overdue. Groups without jobs are forgotten. */
export function advanceGroups(model: Model, names: Iterable<string>): void {
  for (const name of names) {
    const group = model.groups.get(name);
    if (!group) continue;
    const queue = name.slice(0, name.indexOf("/"));
    const slots = slotsOf(model, queue);
    const members = inOrder(model.jobs.values()).filter((job) => groupOf(job.queue, job.group ?? "") === name);
    const still = members.filter((job) => (group.heads.includes(job.n) || job.active_group_key) && isOpen(job));
    const next = members
      .filter(({ group_seq }) => (group_seq ?? 0) > 0)
      .toSorted((a, b) => Number(a.group_seq) - Number(b.group_seq))
      .slice(0, Math.max(0, slots - still.length));
    for (const job of next) {
      const later = job.run_at > model.now;
      Object.assign(job, {
        status: later ? "scheduled" : "queued",
        group_seq: null,
        ready_at: later ? null : model.now,
        due_at: later ? job.run_at : null,
        active_group_key: slots === 1,
      });
    }
    const heads = [...still, ...next].map(({ n }) => n);
    const passes_on = slots === 1 && group.heads.length === 1 && heads.length === 1 && !model.overdue.has(name);
    if (heads.length === 0) model.groups.delete(name);
    else if (!passes_on) group.heads = heads;
    model.overdue.delete(name);
  }
}

/** At the end of a move that ended jobs; and of the groups of all that it was asked to end. */
export function advanceEnded(model: Model, leases: readonly Taken[] = []): void {
  advanceGroups(model, new Set([...model.ended, ...leases.flatMap(({ group }) => group ?? [])]));
  model.ended.clear();
}

/** When more jobs of a group may run, every group of the queue with blocked jobs is overdue. */
export function markBlockedGroups(model: Model, queue: string): void {
  for (const job of model.jobs.values())
    if (job.queue === queue && job.group !== null && (job.group_seq ?? 0) > 0)
      model.overdue.add(groupOf(queue, job.group));
}

const failed = (status: string) => ["dead", "cancelled", "gone"].includes(status);

/** What the end of a parent, its removal or its start anew means for those that wait for it. */
export function closeEdges(model: Model): void {
  for (const parent of model.notes.parent) {
    const status = statusOf(model, parent);
    for (const edge of model.edges.filter((one) => one.parent === parent)) {
      if (status === "succeeded" || (failed(status) && edge.policy === "run"))
        model.edges.splice(model.edges.indexOf(edge), 1);
      else {
        const should = status === "gone" || (failed(status) && edge.policy === "cancel");
        const stays = failed(status) && !should;
        if (stays || edge.failed === should) continue;
        edge.failed = should;
      }
      model.notes.child.add(edge.child);
    }
  }
  model.notes.parent.clear();
}

/** What the edges of a child say it is to be, it becomes. */
export function releaseChildren(model: Model): void {
  // Those that go on wait for their places in the order of their ids.
  for (const n of [...model.notes.child].toSorted((one, other) => one - other)) {
    const job = model.jobs.get(n);
    if (!job || job.flow === null) continue;
    if (job.status !== "cancelled" && job.group_seq !== 0) continue;
    const edges = model.edges.filter(({ child }) => child === n);
    const was = job.status;
    if (edges.some((edge) => edge.failed)) {
      if (was !== "blocked") continue;
      Object.assign(job, { status: "cancelled", group_seq: null, expires_at: null, finished_at: model.now });
      job.cancelled_by_parent = true;
    } else {
      if (was === "cancelled" && !job.cancelled_by_parent) continue;
      if (edges.length > 0 && was !== "cancelled") continue;
      freed(model, job, edges.length > 0);
    }
    job.run_at = Math.max(job.run_at, model.now);
    if (job.has_children && [was, job.status].includes("cancelled")) model.notes.parent.add(n);
  }
  model.notes.child.clear();
}

function freed(model: Model, job: ModelJob, still_waits: boolean): void {
  const later = job.run_at > model.now;
  const blocked = still_waits || job.group !== null;
  Object.assign(job, {
    status: blocked ? "blocked" : later ? "scheduled" : "queued",
    group_seq: blocked ? 0 : null,
    ready_at: blocked || later ? null : model.now,
    due_at: !blocked && later ? job.run_at : null,
    finished_at: null,
    cancelled_by_parent: false,
  });
  if (blocked && !still_waits && job.group !== null)
    model.admissions.push({ job: job.n, lane: groupOf(job.queue, job.group), key: null, asks: "" });
}

/** Whether every job of its flow has ended. */
export const flowIsOver = (model: Model, { flow }: ModelJob) =>
  flow === null || [...model.jobs.values()].every((job) => job.flow !== flow || isFinal(job.status));

/** Remove jobs, but those that others wait for. Returns the numbers of those removed. */
export function remove(model: Model, jobs: readonly ModelJob[]): number[] {
  const gone = jobs.filter(({ n }) => !model.edges.some(({ parent, failed: is_over }) => parent === n && !is_over));
  for (const { n } of gone) model.jobs.delete(n);
  const isGone = new Set(gone.map(({ n }) => n));
  model.edges = model.edges.filter(({ child }) => !isGone.has(child));
  const isTheirs = (name: string) => isGone.has(Number(name.split(" ")[0]));
  for (const name of model.signals) if (isTheirs(name)) model.signals.delete(name);
  for (const name of model.waits.keys()) if (isTheirs(name)) model.waits.delete(name);
  for (const [key, { job }] of model.unique) if (isGone.has(job)) model.unique.delete(key);
  return [...isGone];
}

/** How long after its end, or that of its window, the holder of a unique key is kept. */
const answering_ms = 60_000;

export function prune(model: Model, succeeded_hours: number, dead_hours: number): void {
  const old = inOrder(model.jobs.values()).filter((job) => {
    const kept_ms = (job.status === "dead" ? dead_hours : succeeded_hours) * 3_600_000;
    const named = [...model.keys.values()].some(
      ({ job: n, noted, expires_at }) => n === job.n && noted && expires_at > model.now,
    );
    const finished_at = job.finished_at ?? Infinity;
    const unique = [...model.unique.values()].some(
      (known) => known.job === job.n && (known.ends_at ?? finished_at) > model.now - answering_ms,
    );
    return (
      isFinal(job.status) &&
      finished_at < model.now - kept_ms &&
      (job.kept_until ?? 0) <= model.now &&
      !named &&
      !unique
    );
  });
  const over = old.filter((job) => flowIsOver(model, job));
  remove(model, over);
}

export function pruneKeys(model: Model): void {
  for (const [key, { expires_at }] of model.keys) if (expires_at <= model.now) model.keys.delete(key);
}

/** Running jobs and the claims they belong to: each is found through exactly one. */
export const unclaimed = (model: Model) =>
  [...model.jobs.values()].filter(
    (job) =>
      job.status === "running" &&
      [...model.claims].filter(([token, { jobs }]) => jobs.includes(job.n) && held(model, { job: job.n, token }))
        .length !== 1,
  );
