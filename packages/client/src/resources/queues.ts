import { limits as bounds, type Queue, type QueueLimitsInput, type QueuePage } from "@atlasqueue/contract";
import { listPages } from "../http/list-pages.ts";
import { segment, type CallOptions, type Send } from "../http/transport.ts";

export type QueueCalls = {
  /** Every queue, in as many calls as there are pages: whether it is paused, its jobs by status, how long its oldest has waited. */
  queues(call?: CallOptions): Promise<Queue[]>;
  /** Start no more jobs of a queue; jobs are still accepted, and running ones go on. Safe to repeat. */
  pause(queue: string, call?: CallOptions): Promise<Queue>;
  /** Undo `pause`. Safe to repeat. */
  resume(queue: string, call?: CallOptions): Promise<Queue>;
  /**
   * Limit a queue: jobs at once, jobs of a group at once, starts in a period. These replace its current limits: what is
   * left out is unlimited, except that jobs of a group go one by one. Rejects with ValidationError.
   */
  setLimits(queue: string, limits: QueueLimitsInput, call?: CallOptions): Promise<Queue>;
};

export function queueCalls(send: Send): QueueCalls {
  const post = async (queue: string, verb: "pause" | "resume", call: CallOptions | undefined) => {
    const path = `/v1/queues/${segment(queue)}/${verb}`;
    return (await send({ method: "POST", path, repeat: "always" }, call)).body as Queue;
  };
  return {
    async queues(call) {
      const pageOf = async (query: { cursor?: string | number | undefined }) =>
        (await send({ method: "GET", path: "/v1/queues", query, repeat: "always" }, call)).body as QueuePage;
      const queues: Queue[] = [];
      for await (const queue of listPages({ pageSize: bounds.queues_listed_max }, pageOf)) queues.push(queue);
      return queues;
    },
    pause: (queue, call) => post(queue, "pause", call),
    resume: (queue, call) => post(queue, "resume", call),
    async setLimits(queue, limits, call) {
      const path = `/v1/queues/${segment(queue)}/limits`;
      const answer = await send({ method: "PUT", path, body: JSON.stringify(limits), repeat: "always" }, call);
      return answer.body as Queue;
    },
  };
}
