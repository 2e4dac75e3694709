import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Job } from "@atlasqueue/contract";
import { insist } from "./ask.ts";
import { queues, type Topology } from "./topology.ts";

/** A submission that was answered with a job. `wait_ms` from the first try. */
export type Accepted = { id: string; lane: string; at_ms: number; wait_ms: number };

export type Load = {
  accepted: readonly Accepted[];
  /** Answers with 503, and connections that broke. */
  refused(): number;
  /** Ends the lanes after what they are sending; throws what any of them met but a 503. */
  stop(): Promise<void>;
};

/** Between two submissions of a lane, and how long its jobs run. */
const pace_ms = 100;
const job_ms = 20;

/** One submission at a time in each lane, so that its jobs have an order: two groups, a limited queue, and no order. */
export const lanes: Readonly<Record<string, { queue: string; group?: string }>> = {
  left: { queue: queues.plain, group: "left" },
  right: { queue: queues.plain, group: "right" },
  limited: { queue: queues.limited },
  first: { queue: queues.plain },
  second: { queue: queues.plain },
  third: { queue: queues.plain },
};

/**
 * Submits some sixty jobs a second until it is stopped, each with its key until it is accepted. With `breaks`, also when
 * its connection breaks.
 *
 * @example
 * const load = startLoad(topology);
 * await fault();
 * await load.stop();
 */
export function startLoad({ apis }: Pick<Topology, "apis">, breaks = false): Load {
  const accepted: Accepted[] = [];
  let refused = 0;
  let stopped = false;
  const lane = async (name: string, fields: object, at: number): Promise<void> => {
    for (let turn = at; !stopped; turn += 1) {
      const began_ms = performance.now();
      const { id } = await insist<Job>(apis[turn % apis.length]?.url ?? "", "POST", "/v1/jobs", {
        body: { type: "topology.step", payload: { pause_ms: job_ms }, ...fields },
        key: randomUUID(),
        hear: () => (refused += 1),
        breaks,
      });
      accepted.push({ id, lane: name, at_ms: Date.now(), wait_ms: performance.now() - began_ms });
      await delay(pace_ms);
    }
  };
  const all = Promise.all(Object.entries(lanes).map(([name, fields], at) => lane(name, fields, at)));
  all.catch(() => {});
  return {
    accepted,
    refused: () => refused,
    async stop() {
      stopped = true;
      await all;
    },
  };
}
