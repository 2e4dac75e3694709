import { pause } from "@atlasqueue/core/internal";
import { acts } from "../acts/index.ts";
import { weighted } from "../chance.ts";
import { turnOf, type Act, type Turn } from "./turn.ts";
import type { World } from "./world.ts";

const tick_ms = 20;
/** While the servers are away more would only wait. */
const open_max = 300;
/** What could not be sent in time is not made up for later. */
const behind_ms_max = 500;
const round = 25;

/** Drawn by weight, but each now and then has its turn however rare it is. */
function actAt({ number, random }: Turn): Act {
  const drawn = weighted(random, acts);
  return number % round === 0 ? (acts[(number / round) % acts.length] ?? drawn) : drawn;
}

/** Acts at the pace that the settings ask for, until it is told to stop; resolves when all have ended. */
export async function keepPace(world: World): Promise<void> {
  const { jobs_per_second, acts_max } = world.config;
  const open = new Set<Promise<unknown>>();
  let budget = 0;
  let number = 0;
  let last = performance.now();
  const isLast = () => world.stopping.aborted || (acts_max > 0 && number >= acts_max);
  while (!isLast()) {
    const now = performance.now();
    budget += (Math.min(behind_ms_max, now - last) / 1_000) * jobs_per_second;
    last = now;
    while (budget > 0 && open.size < open_max && !isLast()) {
      const turn = turnOf(world, (number += 1));
      const act = actAt(turn);
      budget -= act.jobs;
      const under = act.perform(world, turn).finally(() => open.delete(under));
      open.add(under);
    }
    if (open.size >= open_max) budget = 0;
    await pause(tick_ms, world.stopping);
  }
  await Promise.all(open);
}
