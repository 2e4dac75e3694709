import { isFinal } from "@atlasqueue/contract";
import { ended, hasExpired, inOrder, joinGroup, type Model, type ModelJob } from "./state.ts";
import { advanceEnded, flowIsOver, remove } from "./upkeep.ts";

export function cancel(model: Model, n: number): string {
  const job = model.jobs.get(n);
  if (!job) return "unknown";
  if (isFinal(job.status)) return "not_cancellable";
  end(model, job);
  advanceEnded(model);
  return "cancelled";
}

/** Jobs that no claim took in time: those that wait in their groups first. */
export function expire(model: Model): void {
  const over = [...model.jobs.values()].filter((job) => hasExpired(model, job));
  for (const job of over.toSorted((a, b) => Number(b.status === "blocked") - Number(a.status === "blocked")))
    end(model, job);
  advanceEnded(model);
}

function end(model: Model, job: ModelJob): void {
  const had_its_turn = job.status !== "blocked";
  Object.assign(job, {
    status: "cancelled",
    ready_at: null,
    due_at: null,
    expires_at: null,
    finished_at: model.now,
    locked_until: null,
    token: null,
    group_seq: null,
    active_group_key: false,
    waits_for: null,
  });
  ended(model, job, had_its_turn);
}

export function retry(model: Model, n: number, does_without: boolean): string {
  const job = model.jobs.get(n);
  if (!job) return "unknown";
  if (!["dead", "cancelled", "failed"].includes(job.status)) return "not_retryable";
  startAnew(model, [job], does_without);
  return "retried";
}

/** As if they were new, at the end of their groups; one that failed still has its turn there. */
function startAnew(model: Model, jobs: readonly ModelJob[], does_without: boolean): void {
  for (const job of jobs.toSorted((a, b) => Number(a.dead_at) - Number(b.dead_at) || a.n - b.n)) {
    const waits = job.flow !== null && model.edges.some(({ child }) => child === job.n);
    if (waits) {
      const has_failed = (n: number) => ["dead", "cancelled"].includes(model.jobs.get(n)?.status ?? "dead");
      if (does_without)
        model.edges = model.edges.filter(
          ({ child, parent, failed }) => child !== job.n || !failed || !has_failed(parent),
        );
      model.notes.child.add(job.n);
    }
    if (job.status !== "failed" && job.has_children) model.notes.parent.add(job.n);
    const place =
      job.status === "failed" || waits || job.group === null
        ? undefined
        : joinGroup(model, { ...job, group: job.group });
    const blocked = waits || place?.may_run === false;
    Object.assign(job, {
      status: blocked ? "blocked" : "queued",
      ready_at: blocked ? null : model.now,
      group_seq: waits ? 0 : place?.may_run === false ? place.seq : null,
      active_group_key: place?.active_group_key || job.active_group_key,
      run_at: model.now,
      attempts: 0,
      expires_at: null,
      due_at: null,
      dead_at: null,
      finished_at: null,
      locked_until: null,
      token: null,
      cancelled_by_parent: false,
    });
    for (const name of model.waits.keys()) if (Number(name.split(" ")[0]) === job.n) model.waits.delete(name);
  }
}

const those = (model: Model, wanted: readonly number[], which: (job: ModelJob) => boolean) =>
  inOrder(model.jobs.values()).filter((job) => wanted.includes(job.n) && which(job));
const isDead = ({ status }: ModelJob) => status === "dead";

/** Of dead letters. Returns the jobs that start anew. */
export function replay(model: Model, wanted: readonly number[]): number[] {
  const dead = those(model, wanted, isDead);
  startAnew(model, dead, true);
  return dead.map(({ n }) => n);
}

export function purge(model: Model, wanted: readonly number[]): number[] {
  return remove(
    model,
    those(model, wanted, (job) => isDead(job) && flowIsOver(model, job)),
  );
}

export function deleteFinished(model: Model, wanted: readonly number[]): number[] {
  return remove(
    model,
    those(model, wanted, ({ status }) => isFinal(status)),
  );
}

/** Sent to one that waits for it now, does so later or never. */
export function signal(model: Model, n: number, name: string): string {
  const job = model.jobs.get(n);
  if (!job) return "unknown";
  const wait = `${n} ${name}`;
  if (model.signals.has(wait)) return "sent_before";
  if (isFinal(job.status)) return "finished";
  if ((model.waits.get(wait) ?? Infinity) <= model.now) return "too_late";
  model.signals.add(wait);
  job.has_steps = true;
  if (job.status === "scheduled" && job.waits_for === name)
    Object.assign(job, { status: "queued", waits_for: null, ready_at: model.now, due_at: null, run_at: model.now });
  return "sent";
}
