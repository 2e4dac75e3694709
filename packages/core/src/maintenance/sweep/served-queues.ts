import { createHash } from "node:crypto";
import { type QueueRef } from "../../deps.ts";
import { readyAmong } from "../../queues/ready-queues.ts";
import type { LoopDeps } from "../loop-deps.ts";
import { createOffer } from "./offer.ts";
import { takeTurn } from "../take-turn.ts";

/** Queues checked in one statement, and how long one look may go on signalling. */
const queues_max = 2_000;
const look_ms_max = 1_000;

/** The queues this process takes jobs from. `discover` is called when there are ready jobs somewhere. */
export type ServedBySweep = { queues(): readonly QueueRef[]; discover(): Promise<void> };

/**
 * Looks after the queues this process serves, before all others: a lost signal is sent again within a sweep or two,
 * however many unserved queues there are. When there are too many for one look, the next one continues where it ended.
 * Processes that serve the same queues take turns.
 */
export function createServedQueues(deps: LoopDeps, served: ServedBySweep) {
  const offer = createOffer(deps);
  let first = 0;
  let known: { names: string; turn: string } | undefined;

  const turnOf = (queues: readonly QueueRef[]): string => {
    const names = JSON.stringify(queues.map(({ tenant, queue }) => [tenant, queue]).toSorted());
    if (known?.names !== names)
      known = { names, turn: `served:${createHash("sha256").update(names).digest("base64url")}` };
    return known.turn;
  };

  return {
    mine: async (period_ms: number): Promise<boolean> => {
      const queues = served.queues();
      return queues.length > 0 && takeTurn(deps, turnOf(queues), period_ms);
    },
    /** Returns how many jobs were signalled again. */
    async look(): Promise<number> {
      await served.discover();
      const all = served.queues();
      if (all.length === 0) return 0;
      const end = performance.now() + look_ms_max;
      const from = first % all.length;
      const page = [...all.slice(from), ...all.slice(0, from)].slice(0, queues_max);
      const ready = new Map((await readyAmong(deps, page)).map((one) => [nameOf(one), one]));
      let resignalled = 0;
      for (const [place, queue] of page.entries()) {
        if (performance.now() > end) break;
        // Even when this one fails: the next look begins after it.
        first = from + place + 1;
        const found = ready.get(nameOf(queue));
        if (found) resignalled += await offer(found);
      }
      return resignalled;
    },
  };
}

const nameOf = ({ tenant, queue }: QueueRef) => `${tenant} ${queue}`;
