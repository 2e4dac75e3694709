import { groupRoom, isLimited, noteStarts, roomOf } from "./rates.ts";
import { byAge, groupOf, queueOf, type Model, type ModelJob, type ModelQueue, type Taken } from "./state.ts";
import { nextInTurns } from "./turns.ts";

/** Who claims, for how long. */
type Claimer = { worker: string; seconds: number };

const openAmong = (model: Model, jobs: readonly ModelJob[]) =>
  jobs.filter(({ status, queue }) => status === "queued" && !queueOf(model, queue).paused);

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

/** Of queues with limits, as far as there is room; `jobs_max` when nobody said which. */
function takeLimited(
  model: Model,
  queues: readonly string[],
  jobs: readonly ModelJob[],
  claimer: Claimer,
  jobs_max?: number,
): Taken[] {
  const open = queues.filter((name) => {
    const queue = queueOf(model, name);
    const wanted = jobs.some((job) => job.queue === name);
    return wanted && isLimited(queue) && !queue.paused && roomOf(model, name) > 0;
  });
  const chosen = new Set(
    open.flatMap((queue) => {
      const named = jobs.filter((job) => job.queue === queue);
      // Where groups have no rate, the first of its own order start, whichever order their ids came in.
      const its = queueOf(model, queue).group_rate ? named : byAge(named);
      const mayStart = its.filter((job) => groupRoom(model, job) > 0).slice(0, jobs_max);
      const first = (jobs_max === undefined ? its : mayStart).filter((job, at, front) => {
        const before = front.slice(0, at).filter(({ group }) => group === job.group).length;
        return before < groupRoom(model, job);
      });
      return first.slice(0, roomOf(model, queue));
    }),
  );
  const taken = jobs.filter((job) => chosen.has(job)).slice(0, jobs_max);
  noteStarts(model, open, taken);
  return take(model, taken, claimer);
}

/** queued → running, for these: those of queues with limits are a claim of their own. */
export function claim(model: Model, queues: readonly string[], wanted: readonly number[], claimer: Claimer): Taken[] {
  const jobs = wanted.flatMap((n) => model.jobs.get(n) ?? []);
  const { plain = [], limited = [] } = Object.groupBy(openAmong(model, jobs), ({ queue }) =>
    isLimited(queueOf(model, queue)) ? "limited" : "plain",
  );
  const taken = take(model, plain, claimer);
  return taken.length === wanted.length ? taken : [...taken, ...takeLimited(model, queues, limited, claimer)];
}

/**
 * The same without a signal: each kind of queues has its part, and then what the others have left of theirs. `chance`
 * says which kind is the first, and whether a part is rounded up.
 */
export function claimByAge(
  model: Model,
  queues: readonly string[],
  jobs_max: number,
  chance: number,
  claimer: Claimer,
): Taken[] {
  const open = queues.filter((name) => !queueOf(model, name).paused);
  const kind = (which: (queue: ModelQueue) => boolean) => open.filter((name) => which(queueOf(model, name)));
  const plain = kind((queue) => !isLimited(queue) && !queue.in_turns);
  const turning = kind(({ in_turns }) => in_turns);
  const limited = kind(isLimited);
  const oldestOf = (names: readonly string[]) =>
    byAge(openAmong(model, [...model.jobs.values()]).filter(({ queue }) => names.includes(queue)));
  const ways: [names: string[], claiming: (room: number) => Taken[]][] = [
    [plain, (room) => take(model, oldestOf(plain).slice(0, room), claimer)],
    [turning, (room) => take(model, nextInTurns(model, turning, room), claimer)],
    [limited, (room) => takeLimited(model, limited, oldestOf(limited), claimer, room)],
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
