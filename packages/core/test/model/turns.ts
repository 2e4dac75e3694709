import { byAge, groupOf, type Model, type ModelJob } from "./state.ts";

const readyIn = (model: Model, of: string) =>
  byAge([...model.jobs.values()].filter(({ queue, status }) => queue === of && status === "queued"));

/** The ready jobs of the next groups after one, and the last of these groups unless there are no more. */
function ofGroupsAfter(model: Model, queue: string, after: string, groups_max: number) {
  const names = [...model.groups.keys()].flatMap((name) => {
    const [its = "", group = ""] = name.split("/");
    return its === queue && group > after ? [group] : [];
  });
  const page = names.toSorted().slice(0, groups_max);
  const jobs = page.flatMap((group) => {
    const heads = model.groups.get(groupOf(queue, group))?.heads ?? [];
    return readyIn(model, queue).filter(
      (job) => job.group === group && (heads.includes(job.n) || job.active_group_key),
    );
  });
  return { jobs, last: page.length === groups_max ? page.at(-1) : undefined };
}

/** The first of each group, then the second of each; each job once. */
function inRounds(jobs: readonly ModelJob[]) {
  const distinct = [...new Set(jobs)];
  const placed = distinct.map((job, at) => ({
    job,
    round: distinct.slice(0, at).filter(({ group }) => group === job.group).length,
  }));
  return placed.toSorted((a, b) => b.job.priority - a.job.priority || a.round - b.round);
}

/** On past groups without ready jobs, until there are as many as there is room for. */
function walk(model: Model, queue: string, after: string, jobs_max: number) {
  const first = ofGroupsAfter(model, queue, after, jobs_max);
  if (first.last === undefined || first.jobs.length >= jobs_max) return first;
  const rest = ofGroupsAfter(model, queue, first.last, Infinity);
  return { jobs: [...first.jobs, ...rest.jobs], last: rest.last };
}

function nextOf(model: Model, queue: string, jobs_max: number): ModelJob[] {
  const after = model.turns.get(queue);
  const oldest = readyIn(model, queue).slice(0, jobs_max);
  if (oldest.length < jobs_max) return oldest;
  const alone = oldest.filter(({ group }) => group === null);
  const first = walk(model, queue, after ?? "", jobs_max);
  const more = after && first.last === undefined ? walk(model, queue, "", jobs_max).jobs : [];
  const all = after === undefined ? [...alone, ...first.jobs] : [...first.jobs, ...alone, ...more];
  const next = inRounds(all).slice(0, jobs_max);
  const last = next.findLast(({ round }) => round === 0);
  if (last) model.turns.set(queue, last.job.group ?? "");
  else model.turns.delete(queue);
  return next.map(({ job }) => job);
}

/**
 * Of queues whose groups take turns: what is next in each, from where its turns went on. Those with ready jobs have equal
 * shares, and take turns in being the first.
 */
export function nextInTurns(model: Model, queues: readonly string[], jobs_max: number): ModelJob[] {
  const before = model.turns.get(ofQueues) ?? "";
  const names = queues.filter((queue) => readyIn(model, queue).length > 0).toSorted();
  const inRotation = [...names.filter((name) => name > before), ...names.filter((name) => name <= before)];
  if (inRotation[0] !== undefined) model.turns.set(ofQueues, inRotation[0]);
  return inRotation.reduce<ModelJob[]>((jobs, queue, at) => {
    const left = jobs_max - jobs.length;
    return left > 0 ? [...jobs, ...nextOf(model, queue, Math.ceil(left / (names.length - at)))] : jobs;
  }, []);
}

/** Where the turns of the queues themselves go on. */
const ofQueues = "";
