import type { OnParentFailure } from "@atlasqueue/contract";
import { between, oneOf } from "@atlasqueue/harness/servers";

/** Which earlier job is meant: of this flow, or of one before. */
type PlannedParent = { flow: number; place: number };
type PlannedJob = {
  parents: PlannedParent[];
  on_parent_failure: OnParentFailure;
  payload: { fails: number; pause_ms: number };
  group: string | undefined;
};
export type PlannedFlow = { jobs: PlannedJob[]; has_then: boolean };

/** Each fails this often at most before it is dead. */
export const max_attempts = 2;

/**
 * How often a job fails: never; once; until it is dead, and not after a person's retry; always. Most of them never, as
 * otherwise little would run below them.
 */
const failures = [...Array.from({ length: 14 }, () => 0), 1, 1, 2, 2, 2, 99];
const policies: OnParentFailure[] = ["cancel", "cancel", "wait", "run"];
const groups = ["g1", "g2", "g3"];
const from_before = 0.08;
const parents_max = 3;

/** The places of the parents of the one at a place, all of which come before it. */
type Shape = (place: number, random: () => number) => number[];
const few = (place: number, reach: number, random: () => number) =>
  Array.from({ length: between(random, 0, parents_max) }, () => between(random, Math.max(0, place - reach), place - 1));

const anyhow: Shape = (place, random) => few(place, place, random);
const near: Shape = (place, random) => few(place, 8, random);
const deep: Shape = (place, random) => [place - 1, ...few(place, 5, random).slice(1)];
/** Every tenth waits for all since the last such one, and the others for that. */
const fans: Shape = (place) => {
  const last = Math.floor((place - 1) / 10) * 10;
  return place % 10 === 0 ? Array.from({ length: place - last }, (_, at) => last + at) : [last];
};
const shapes = [anyhow, near, deep, fans];

/**
 * Flows of so many jobs together, which a seed decides alone. Jobs of later flows may wait for jobs of earlier ones.
 *
 * @example
 * const flows = planFlows(chance(seed), 200, { grouped: false });
 */
export function planFlows(random: () => number, jobs: number, { grouped }: { grouped: boolean }): PlannedFlow[] {
  const flows: PlannedFlow[] = [];
  const flow_count = between(random, 2, 4);
  for (let flow = 0; flow < flow_count; flow += 1) {
    const shape = oneOf(random, shapes) ?? anyhow;
    const size = Math.floor(jobs / flow_count);
    const planned = Array.from({ length: size }, (_, place): PlannedJob => {
      const places = place === 0 ? [] : shape(place, random);
      const parents = [...new Set(places)].map((of) => ({ flow, place: of }));
      const earlier = between(random, 0, Math.max(0, flow - 1));
      const last_place = (flows[earlier]?.jobs.length ?? 0) - 1;
      if (flow > 0 && random() < from_before) parents.push({ flow: earlier, place: between(random, 0, last_place) });
      return {
        parents,
        on_parent_failure: oneOf(random, policies) ?? "cancel",
        payload: { fails: oneOf(random, failures) ?? 0, pause_ms: random() < 0.1 ? 300 : random() * 20 },
        group: grouped && random() < 0.7 ? oneOf(random, groups) : undefined,
      };
    });
    flows.push({ jobs: planned, has_then: random() < 0.6 });
  }
  return flows;
}
