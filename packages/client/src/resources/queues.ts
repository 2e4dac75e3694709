import {
  limits as bounds,
  type HeldGroupPage,
  type OneQueue,
  type Queue,
  type QueueLimitsInput,
  type QueuePage,
  type QueueScaling,
} from "@atlasqueue/contract";
import { listPages } from "../http/list-pages.ts";
import { segment, type ActOptions, type CallOptions, type Send } from "../http/transport.ts";

export type QueueCalls = {
  /** Every queue, in as many calls as there are pages: whether it is paused, its jobs by status, how long its oldest has waited. */
  queues(call?: CallOptions): Promise<Queue[]>;
  /** One page of the same list, for programs that turn its pages themselves: go on with its `next_cursor`. */
  queuePage(page?: { limit?: number; cursor?: string }, call?: CallOptions): Promise<QueuePage>;
  /** One queue, with the starts within the period of its rate. Rejects with NotFoundError. */
  queue(queue: string, call?: CallOptions): Promise<OneQueue>;
  /** What an autoscaler of workers needs: what waits and could start, since when, and who works on it. */
  scaling(queue: string, call?: CallOptions): Promise<QueueScaling>;
  /** Start no more jobs of a queue; jobs are still accepted, and running ones go on. Safe to repeat. */
  pause(queue: string, call?: ActOptions): Promise<Queue>;
  /** Undo `pause`. Safe to repeat. */
  resume(queue: string, call?: ActOptions): Promise<Queue>;
  /**
   * Limit a queue: jobs at once, jobs of a group at once, starts in a period. These replace its current limits: what is
   * left out is unlimited, except that jobs of a group go one by one. Rejects with ValidationError.
   */
  setLimits(queue: string, limits: QueueLimitsInput, call?: CallOptions): Promise<Queue>;
  /** The groups in which a job has its turn, and what waits behind it; a page at a time, with its `next_cursor`. */
  heldGroups(queue: string, page?: { limit?: number; cursor?: string }, call?: CallOptions): Promise<HeldGroupPage>;
};

export function queueCalls(send: Send): QueueCalls {
  const post = async (queue: string, verb: "pause" | "resume", call: ActOptions | undefined) => {
    const path = `/v1/queues/${segment(queue)}/${verb}`;
    return (await send({ method: "POST", path, repeat: "always" }, call)).body as Queue;
  };
  const pageOf = async (query: Record<string, string | number | undefined>, call: CallOptions | undefined) =>
    (await send({ method: "GET", path: "/v1/queues", query, repeat: "always" }, call)).body as QueuePage;
  return {
    async queues(call) {
      const queues: Queue[] = [];
      const pages = listPages({ pageSize: bounds.queues_listed_max }, (query) => pageOf(query, call));
      for await (const queue of pages) queues.push(queue);
      return queues;
    },
    queuePage: (page = {}, call) => pageOf(page, call),
    async queue(queue, call) {
      return (await send({ method: "GET", path: `/v1/queues/${segment(queue)}`, repeat: "always" }, call))
        .body as OneQueue;
    },
    async scaling(queue, call) {
      const path = `/v1/queues/${segment(queue)}/scaling`;
      return (await send({ method: "GET", path, repeat: "always" }, call)).body as QueueScaling;
    },
    pause: (queue, call) => post(queue, "pause", call),
    resume: (queue, call) => post(queue, "resume", call),
    async heldGroups(queue, query = {}, call) {
      const path = `/v1/queues/${segment(queue)}/groups`;
      return (await send({ method: "GET", path, query, repeat: "always" }, call)).body as HeldGroupPage;
    },
    async setLimits(queue, limits, call) {
      const path = `/v1/queues/${segment(queue)}/limits`;
      const answer = await send({ method: "PUT", path, body: JSON.stringify(limits), repeat: "always" }, call);
      return answer.body as Queue;
    },
  };
}
