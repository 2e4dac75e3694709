import { between } from "../chance.ts";
import { queues } from "../kinds.ts";
import { submitOne } from "../submit/submit.ts";
import type { Act } from "../submit/turn.ts";
import type { World } from "../submit/world.ts";
import { brief } from "./lasting.ts";

const lanes_max = 12;

/**
 * A lane is a group in which one job is submitted after the other, so that its jobs have an order. When it is not known
 * what became of one, the lane ends and the next one has another name.
 */
type Lane = { group: string; busy: boolean };
const lanesOf = new WeakMap<World, Map<string, Lane>>();

/** Takes a lane that nobody uses, starting at a number; undefined when all are in use. */
export function takeLane(world: World, name: string, from: number): Lane | undefined {
  const lanes = lanesOf.get(world) ?? new Map<string, Lane>();
  lanesOf.set(world, lanes);
  for (let at = 0; at < lanes_max; at += 1) {
    const place = `${name}-${(from + at) % lanes_max}`;
    const lane = lanes.get(place) ?? { group: `${world.name}-${place}-0`, busy: false };
    lanes.set(place, lane);
    if (lane.busy) continue;
    lane.busy = true;
    return lane;
  }
  return undefined;
}

/** Gives it back; `lost`: its last job may or may not exist. */
export function giveBack(lane: Lane, lost: boolean): void {
  lane.busy = false;
  if (lost) lane.group = lane.group.replace(/\d+$/, (count) => String(Number(count) + 1));
}

/** Some fail once: a retry holds its own group only. */
export const grouped: Act = {
  name: "grouped",
  weight: 10,
  jobs: 1,
  async perform(world, turn) {
    const { random, tenant, nonce } = turn;
    const lane = takeLane(world, tenant, between(random, 0, lanes_max - 1));
    if (!lane) return;
    const id = await submitOne(world, turn, {
      tenant,
      nonce,
      key: nonce,
      kind: "grouped",
      queue: queues.grouped,
      ends: "succeeded",
      task: { ...brief(random), fails: random() < 0.05 ? 1 : 0 },
      options: { group: lane.group },
    });
    giveBack(lane, id === undefined);
  },
};
