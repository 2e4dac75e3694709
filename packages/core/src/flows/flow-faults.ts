import { limits, showValue, type Fault } from "@atlasqueue/contract";
import { isUuid } from "../database/literals.ts";
import type { Submission } from "../submit/outcome.ts";
import { isFlow, placesOf, type Flow, type FlowJob } from "./flow.ts";

const faults_max = 20;
/** Of a circle, in one message. */
const refs_shown_max = 10;

/**
 * What is wrong with a flow, as far as that can be said without the database: whether the jobs it names by id exist is
 * for `submitFlow`. Its jobs have not been given their keys yet.
 *
 * @example
 * flowFaults({ jobs: [{ ...submission, ref: "a", depends_on: ["b"] }] });
 * // [{ pointer: "/jobs/0/depends_on/0", message: 'must be the ref of a job in this batch, …; got "b"' }]
 */
export function flowFaults(flow: Flow): Fault[] {
  const { jobs, then } = flow;
  const faults = [...refFaults(jobs, "/jobs"), ...parentFaults(jobs, "/jobs")];
  if (isFlow(flow)) {
    jobs.forEach((job, at) => faults.push(...keyFaults(job, `/jobs/${at}`), ...uniqueFaults(job, `/jobs/${at}`)));
    if (then) faults.push(...uniqueFaults(then, "/then"));
  }
  return faults.slice(0, faults_max);
}

/** What is wrong with the jobs that a job adds as it ends. */
export function childrenFaults(children: readonly FlowJob[]): Fault[] {
  const list = "/children";
  const faults = [...refFaults(children, list), ...parentFaults(children, list)];
  children.forEach((child, at) => faults.push(...uniqueFaults(child, `${list}/${at}`)));
  return faults.slice(0, faults_max);
}

function refFaults(jobs: readonly FlowJob[], list: string): Fault[] {
  const first = new Map<string, number>();
  return jobs.flatMap(({ ref }, at) => {
    if (ref === undefined) return [];
    const before = first.get(ref);
    if (before === undefined) first.set(ref, at);
    if (before === undefined) return [];
    return [
      { pointer: `${list}/${at}/ref`, message: `must not be that of ${list}/${before} too; got ${showValue(ref)}` },
    ];
  });
}

function parentFaults(jobs: readonly FlowJob[], list: string): Fault[] {
  const edges = jobs.reduce((sum, { depends_on = [] }) => sum + depends_on.length, 0);
  if (edges > limits.flow_edges_max) {
    const message = `must not wait for more than ${limits.flow_edges_max} jobs, counting each as often as it is named; got ${edges}`;
    return [{ pointer: list, message }];
  }
  const places = placesOf(jobs);
  const faults: Fault[] = [];
  jobs.forEach(({ depends_on = [] }, at) =>
    depends_on.forEach((parent, nth) => {
      const place = places.get(parent);
      const pointer = `${list}/${at}/depends_on/${nth}`;
      if (place === at) faults.push({ pointer, message: `must not be the job itself; got ${showValue(parent)}` });
      else if (place === undefined && !isUuid(parent)) faults.push({ pointer, message: unknownParent(parent) });
    }),
  );
  return faults.length > 0 ? faults : cycleFaults(jobs, places, list);
}

/** What is said about one of `depends_on` that names nothing. */
export const unknownParent = (parent: string): string =>
  `must be the ref of a job in this batch, or the id of one that exists; got ${showValue(parent)}`;

/** Jobs that were there before wait for none of these: when a job adds them and its dependants are to wait, `findCircle` looks. */
function cycleFaults(jobs: readonly FlowJob[], places: ReadonlyMap<string, number>, list: string): Fault[] {
  const cycle = findCycle(jobs.map(({ depends_on = [] }) => depends_on.flatMap((one) => places.get(one) ?? [])));
  const refs = [...cycle, ...cycle.slice(0, 1)].map((at) => jobs[at]?.ref ?? "");
  const more = refs.length - refs_shown_max;
  const shown = more > 0 ? [...refs.slice(0, refs_shown_max), `(${more} more)`] : refs;
  return cycle.map((at, nth) => {
    const parent = jobs[at]?.depends_on?.indexOf(refs[nth + 1] ?? "");
    const message = `must not make jobs wait for one another in a circle: ${shown.join(" → ")}`;
    return { pointer: `${list}/${at}/depends_on/${parent}`, message };
  });
}

/** Some of its jobs could be made anew without those they wait for. */
function keyFaults({ idempotency_key }: Submission, pointer: string): Fault[] {
  if (idempotency_key === undefined) return [];
  const message = `must be left out where jobs wait for one another, as one key stands for all of them; got ${showValue(idempotency_key)}`;
  return [{ pointer: `${pointer}/idempotency_key`, message }];
}

/** Another job would be the answer, or be rewritten: and whether it waits as this one should, no one could say. */
function uniqueFaults({ request: { unique } }: Submission, pointer: string): Fault[] {
  if (unique === undefined || unique.on_conflict === "reject") return [];
  const message = `must be "reject" for a job in a flow; got ${showValue(unique.on_conflict)}`;
  return [{ pointer: `${pointer}/unique/on_conflict`, message }];
}

/**
 * A circle among jobs that wait for one another, each followed by one it waits for; empty when there is none. `parents`
 * has the places of those each job waits for. It takes as long as there are jobs and ties.
 *
 * @example
 * findCycle([[1], [2], [0]]); // [0, 1, 2]
 */
export function findCycle(parents: readonly (readonly number[])[]): number[] {
  const children: number[][] = parents.map(() => []);
  parents.forEach((of, at) => of.forEach((parent) => children[parent]?.push(at)));
  const open = parents.map((of) => of.length);
  const ready = open.flatMap((count, at) => (count === 0 ? [at] : []));
  // The list grows while it is walked.
  for (const at of ready)
    for (const child of children[at] ?? []) {
      open[child] = (open[child] ?? 0) - 1;
      if (open[child] === 0) ready.push(child);
    }
  // Each of those left waits for another one that is left, so following them leads into a circle.
  const walked = new Map<number, number>();
  let at = open.findIndex((count) => count > 0);
  while (at !== -1 && !walked.has(at)) {
    walked.set(at, walked.size);
    at = parents[at]?.find((parent) => (open[parent] ?? 0) > 0) ?? -1;
  }
  return [...walked.keys()].slice(walked.get(at) ?? walked.size);
}
