import { isFinal } from "@atlasqueue/contract";
import type { Move, Record, Recorded as Job } from "./record.ts";
import type { Act } from "./world.ts";

export type Fault = { job_id: string; what: string };

const hasFailed = (status: string | undefined) => status === "dead" || status === "cancelled";
const lastOf = ({ moves }: Job) => moves.at(-1)?.status;
const everBefore = ({ moves }: Job, at: number, is: (status: string) => boolean) =>
  moves.some(({ id, status }) => id < at && is(status));
/** The statuses that a job had between a time and a move. */
const statusesBetween = ({ moves }: Job, from_ms: number, to: number) =>
  moves.filter(({ id }, at) => id < to && (moves[at + 1]?.at_ms ?? Infinity) >= from_ms).map(({ status }) => status);

const stopped = ["dead", "cancelled", "failed"];
const anew = ["queued", "blocked"];
const isOf: { [verb in Act["verb"]]: (move: Move) => boolean } = {
  cancel: ({ status }) => status === "cancelled",
  retry: ({ was, status }) => was !== null && stopped.includes(was) && anew.includes(status),
};

/**
 * The moves of a job that may have been a person's, and when that one asked: those of their kind while an act on the job
 * was under way, or, for a cancellation, on its flow. The retry of a flow does without no parent.
 */
function personsMoves({ jobs, acts }: Record, id: string, verb: Act["verb"]): (Move & { asked_ms: number })[] {
  const job = jobs.get(id);
  const meant = acts.filter(
    (act) => act.verb === verb && (act.job_id === id || (verb === "cancel" && act.flow_id === job?.flow_id)),
  );
  const moves = job?.moves.filter(isOf[verb]) ?? [];
  return moves.flatMap((move) => {
    const act = meant.findLast(({ from_ms, to_ms }) => from_ms - 1 <= move.at_ms && move.at_ms <= to_ms);
    return act ? [{ ...move, asked_ms: act.from_ms - 1 }] : [];
  });
}

/**
 * What must hold of every job when all is quiet, judged by the plan and by the moves that were seen. What the code itself
 * keeps about flows is believed only where two orders of the same moves are both right.
 */
export function findFaults(record: Record): Fault[] {
  const jobs = [...record.jobs.values()];
  const parentsOf = ({ parents }: Job) => parents.flatMap((id) => record.jobs.get(id) ?? []);

  /** The parent had ended, before a move, in a way that the child's policy takes. */
  const wasClosed = (parent: Job, child: Job, at: number) =>
    everBefore(parent, at, (status) =>
      child.on_parent_failure === "run" ? status === "succeeded" || hasFailed(status) : status === "succeeded",
    );
  /**
   * A person had the child retried, before a move, while that parent had failed: so it does without that one, or not, if
   * it did not hear of the failure yet. Only `cancel` lets a job do without.
   */
  const mayBeFreed = (parent: Job, child: Job, at: number) =>
    child.on_parent_failure === "cancel" &&
    personsMoves(record, child.id, "retry").some(
      ({ id, asked_ms }) => id < at && statusesBetween(parent, asked_ms, id).some(hasFailed),
    );
  /** It was cancelled for that parent alone, which had not moved when a person had it retried: then it does without it. */
  const wasFreed = (parent: Job, child: Job) => {
    const by_person = new Set(personsMoves(record, child.id, "cancel").map(({ id }) => id));
    return personsMoves(record, child.id, "retry").some(({ id, asked_ms }) => {
      const cancelled = child.moves.findLast((move) => move.id < id);
      if (cancelled?.status !== "cancelled" || by_person.has(cancelled.id)) return false;
      const blamed = parentsOf(child).filter((one) => statusesBetween(one, 0, cancelled.id).some(hasFailed));
      const meanwhile = statusesBetween(parent, Math.min(asked_ms, cancelled.at_ms), id);
      return blamed.length === 1 && blamed[0] === parent && meanwhile.length === 1 && meanwhile.every(hasFailed);
    });
  };
  const notEndedFor = (child: Job, at: number) =>
    parentsOf(child).filter((parent) => !wasClosed(parent, child, at) && !mayBeFreed(parent, child, at));
  const waitsFor = (child: Job) =>
    parentsOf(child).filter(
      (parent) =>
        !wasClosed(parent, child, Infinity) &&
        (!mayBeFreed(parent, child, Infinity) || child.edges.some((edge) => edge.parent === parent.id)),
    );

  const startedTooEarly = (job: Job) => {
    const starts = job.moves.filter(({ status }) => status === "running");
    if (job.runs.length > starts.length) return `ran ${job.runs.length} times, but was claimed ${starts.length} times`;
    if ((job.runs[0]?.started_ms ?? Infinity) < (starts[0]?.at_ms ?? Infinity)) return "ran before it was claimed";
    const early = starts.map(({ id }) => notEndedFor(job, id)).find((open) => open.length > 0);
    return early && `started before ${namesOf(early)} had ended`;
  };

  const stranded = (job: Job) => {
    const status = lastOf(job);
    if (status === undefined || (status !== "blocked" && !isFinal(status))) return `is ${status} for ever`;
    if (status !== "blocked") return undefined;
    const reasons = waitsFor(job).filter(
      (parent) => lastOf(parent) === "blocked" || (hasFailed(lastOf(parent)) && job.on_parent_failure === "wait"),
    );
    return reasons.length === 0 ? "is blocked, and no parent is to blame" : undefined;
  };

  const cascade = (job: Job) => {
    const last = lastOf(job);
    const failed = waitsFor(job).filter((parent) => job.on_parent_failure === "cancel" && hasFailed(lastOf(parent)));
    if (failed.length > 0) return last === "cancelled" ? undefined : `is ${last}, although ${namesOf(failed)} failed`;
    if (last !== "cancelled") return undefined;
    const ended = job.moves.at(-1)?.id;
    const by_person = personsMoves(record, job.id, "cancel").some(({ id }) => id === ended);
    return by_person ? undefined : "is cancelled, and neither a person nor a parent is to blame";
  };

  /** Nothing but a person brings back a job that a person cancelled. */
  const lastWord = (job: Job) => {
    const cancelled = record.acts.find(
      (act) =>
        act.verb === "cancel" &&
        act.job_id === job.id &&
        act.status === 200 &&
        !record.acts.some(
          (later) =>
            later.verb === "retry" &&
            (later.job_id === job.id || later.flow_id === job.flow_id) &&
            later.to_ms > act.from_ms,
        ),
    );
    return cancelled && lastOf(job) !== "cancelled" ? `is ${lastOf(job)}, although a person cancelled it` : undefined;
  };

  const success = (job: Job) => {
    const at = job.moves.findIndex(({ status }) => status === "succeeded");
    if (at === -1) return undefined;
    if (at !== job.moves.length - 1) return "was moved after it had succeeded";
    const run = job.runs.find(({ id }) => String(id) === job.result?.run);
    return run?.failed === false ? undefined : `succeeded with the result ${JSON.stringify(job.result)}`;
  };

  /** An edge is there exactly while its parent is waited for, and marked when that one failed and was to cancel the child. */
  const edges = (job: Job) => {
    for (const parent of parentsOf(job)) {
      const edge = job.edges.find((one) => one.parent === parent.id);
      const closed = lastOf(parent) === "succeeded" || (job.on_parent_failure === "run" && hasFailed(lastOf(parent)));
      if (closed && edge) return `still waits for ${parent.name}`;
      // One that a parent closed for a moment, or a person's retry freed, may be gone or not: it depends on who came first.
      if (!closed && !edge && waitsFor(job).includes(parent)) return `forgot that it waits for ${parent.name}`;
      if (edge && wasFreed(parent, job))
        return `still waits for ${parent.name}, although it was retried without that one`;
      const marked = job.on_parent_failure === "cancel" && hasFailed(lastOf(parent));
      if (edge && edge.failed !== marked) return `has a mark of ${edge.failed} for ${parent.name}`;
    }
    const unknown = job.edges.find(({ parent }) => !job.parents.includes(parent));
    return unknown && `waits for ${unknown.parent}, which is no parent of it`;
  };

  const all = [startedTooEarly, stranded, cascade, lastWord, success, edges];
  return jobs.flatMap((job) => all.flatMap((find) => find(job) ?? []).map((what) => ({ job_id: job.id, what })));
}

const namesOf = (jobs: readonly Job[]) => jobs.map(({ name }) => name).join(", ");

/** The most jobs that were running at one time, of all or of those with a property. */
export function mostAtOnce(record: Record, counts: (job: Job) => boolean): number {
  const moves = [...record.jobs.values()].filter(counts).flatMap((job) => job.moves);
  let running = 0;
  let most = 0;
  for (const { was, status } of moves.sort((a, b) => a.id - b.id)) {
    if (was === "running") running -= 1;
    if (status === "running") running += 1;
    most = Math.max(most, running);
  }
  return most;
}
