import { groupRoom, hasMark, noteStarts, roomOf } from "./rates.ts";
import {
  byAge,
  groupOf,
  hasExpired,
  queueOf,
  type Model,
  type ModelJob,
  type ModelQueue,
  type Taken,
} from "./state.ts";
import { inTurn, noteTurns } from "./turns.ts";

/** Who claims, for how long. */
type Claimer = { worker: string; seconds: number };

const openAmong = (model: Model, jobs: readonly ModelJob[]) =>
  jobs.filter((job) => job.status === "queued" && !hasExpired(model, job) && !queueOf(model, job.queue).paused);

/** queued → running, under a new token. */
function take(model: Model, jobs: readonly ModelJob[], { worker, seconds }: Claimer): Taken[] {
  if (jobs.length === 0) return [];
  const token = model.next.claim++;
  const until = model.now + seconds * 1_000;
  model.claims.set(token, { check_at: until, jobs: jobs.map(({ n }) => n), worker });
  return jobs.map((job) => {
    const attempts = job.attempts + 1;
    Object.assign(job, { status: "running", ready_at: null, attempts, token, locked_until: until });
    model.leases.push({ job: job.n, token, ...(job.group !== null && { group: groupOf(job.queue, job.group) }) });
    return { job: job.n, token };
  });
}

/** Of queues with limits or turns: what comes first, as far as there is room. */
function takeMarked(model: Model, queues: readonly string[], jobs_max: number, claimer: Claimer): Taken[] {
  const open = queues.filter((name) => {
    const queue = queueOf(model, name);
    return hasMark(queue) && !queue.paused && roomOf(model, name) > 0;
  });
  const first = open.flatMap((name) => {
    const queue = queueOf(model, name);
    const ready = byAge(openAmong(model, [...model.jobs.values()]).filter((job) => job.queue === name));
    const mayStart = (queue.in_turns ? inTurn(model, ready) : ready).filter((job) => groupRoom(model, job) > 0);
    const enough = queue.group_rate ? jobs_max : Math.min(jobs_max, roomOf(model, name));
    return mayStart.slice(0, enough).map((job, at) => ({ job, at }));
  });
  const placed = first.toSorted(
    (a, b) =>
      b.job.priority - a.job.priority ||
      a.at - b.at ||
      Number(a.job.ready_at) - Number(b.job.ready_at) ||
      a.job.n - b.job.n,
  );
  const candidates = placed.map(({ job }) => job);
  const withinRates = candidates.filter((job, at) => {
    const before = candidates.slice(0, at).filter(({ queue, group }) => queue === job.queue && group === job.group);
    return before.length < groupRoom(model, job);
  });
  const taken = withinRates
    .filter(
      (job, at) =>
        withinRates.slice(0, at).filter(({ queue }) => queue === job.queue).length < roomOf(model, job.queue),
    )
    .slice(0, jobs_max);
  noteStarts(model, open, taken);
  noteTurns(
    model,
    taken.filter(({ queue }) => queueOf(model, queue).in_turns),
  );
  return take(model, taken, claimer);
}

/** queued → running, for these; one of a queue with limits or turns stands for what comes first there. */
export function claim(model: Model, wanted: readonly number[], claimer: Claimer): Taken[] {
  const jobs = wanted.flatMap((n) => model.jobs.get(n) ?? []);
  const isMarked = ({ queue }: ModelJob) => hasMark(queueOf(model, queue));
  const taken = take(
    model,
    openAmong(model, jobs).filter((job) => !isMarked(job)),
    claimer,
  );
  const left = wanted.length - taken.length;
  if (left === 0) return taken;
  const queues = [...new Set(jobs.filter(isMarked).map(({ queue }) => queue))];
  return [...taken, ...takeMarked(model, queues, left, claimer)];
}

/**
 * The same without a signal: each kind of queues with ready jobs has its part, and then what the others have left of theirs. `chance`
 * says which kind is the first, and whether a part is rounded up.
 */
export function claimByAge(
  model: Model,
  queues: readonly string[],
  jobs_max: number,
  chance: number,
  claimer: Claimer,
): Taken[] {
  const ready = new Set([...model.jobs.values()].filter(({ status }) => status === "queued").map(({ queue }) => queue));
  const open = queues.filter((name) => ready.has(name) && !queueOf(model, name).paused);
  const kind = (which: (queue: ModelQueue) => boolean) => open.filter((name) => which(queueOf(model, name)));
  const plain = kind((queue) => !hasMark(queue));
  const marked = kind(hasMark);
  const oldestOf = (names: readonly string[]) =>
    byAge(openAmong(model, [...model.jobs.values()]).filter(({ queue }) => names.includes(queue)));
  const ways: [names: string[], claiming: (room: number) => Taken[]][] = [
    [plain, (room) => take(model, oldestOf(plain).slice(0, room), claimer)],
    [marked, (room) => takeMarked(model, marked, room, claimer)],
  ];
  const kinds = ways.filter(([names]) => names.length > 0).map(([, claiming]) => claiming);
  const first = Math.floor(chance * kinds.length);
  let left = [...kinds.slice(first), ...kinds.slice(0, first)];
  const taken: Taken[] = [];
  for (const part of [Math.floor(jobs_max / left.length + chance), jobs_max])
    left = left.filter((claiming) => {
      const room = Math.min(part, jobs_max - taken.length);
      const more = room > 0 ? claiming(room) : [];
      taken.push(...more);
      return more.length === room;
    });
  return taken;
}
