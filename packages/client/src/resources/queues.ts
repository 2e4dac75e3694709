import {
  limits as bounds,
  type HeldGroupPage,
  type OneQueue,
  type Queue,
  type QueueDefaultsInput,
  type QueueLimitsInput,
  type QueuePage,
  type QueueScaling,
} from "@atlasqueue/contract";
import { listPages } from "../http/list-pages.ts";
import type { Ask } from "../http/ask.ts";
import type { ActOptions, CallOptions } from "../http/transport.ts";

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
  /**
   * What jobs of a queue have where they name none of their own: attempts, backoff, timeout, how long they and their results
   * are kept. These replace its current defaults, for jobs submitted from now on. Rejects with ValidationError.
   */
  setDefaults(queue: string, defaults: QueueDefaultsInput, call?: CallOptions): Promise<Queue>;
  /** The groups in which a job has its turn, and what waits behind it; a page at a time, with its `next_cursor`. */
  heldGroups(queue: string, page?: { limit?: number; cursor?: string }, call?: CallOptions): Promise<HeldGroupPage>;
};

export function queueCalls(ask: Ask): QueueCalls {
  const at = ["queues"];
  const queuePage: QueueCalls["queuePage"] = (query = {}, call) => ask<QueuePage>("GET", at, call, { query });
  return {
    async queues(call) {
      const queues: Queue[] = [];
      const pages = listPages({ pageSize: bounds.queues_listed_max }, (query) => queuePage(query, call));
      for await (const queue of pages) queues.push(queue);
      return queues;
    },
    queuePage,
    queue: (queue, call) => ask<OneQueue>("GET", [...at, queue], call),
    scaling: (queue, call) => ask<QueueScaling>("GET", [...at, queue, "scaling"], call),
    pause: (queue, call) => ask<Queue>("POST", [...at, queue, "pause"], call),
    resume: (queue, call) => ask<Queue>("POST", [...at, queue, "resume"], call),
    heldGroups: (queue, query = {}, call) => ask<HeldGroupPage>("GET", [...at, queue, "groups"], call, { query }),
    setLimits: (queue, body, call) => ask<Queue>("PUT", [...at, queue, "limits"], call, { body }),
    setDefaults: (queue, body, call) => ask<Queue>("PUT", [...at, queue, "defaults"], call, { body }),
  };
}
