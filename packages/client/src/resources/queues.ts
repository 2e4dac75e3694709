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

type Page = { limit?: number; cursor?: string };
const at = ["queues"];

export type QueueCalls = ReturnType<typeof queueCalls>;

export const queueCalls = (ask: Ask) => ({
  /** Every queue, in as many calls as there are pages: whether it is paused, its jobs by status, how long its oldest has waited. */
  async queues(call?: CallOptions): Promise<Queue[]> {
    const queues: Queue[] = [];
    const pages = { pageSize: bounds.queues_listed_max };
    for await (const one of listPages(pages, (query) => ask<QueuePage>("GET", at, call, { query }))) queues.push(one);
    return queues;
  },
  /** One page of the same list, for programs that turn its pages themselves: go on with its `next_cursor`. */
  queuePage: (query: Page = {}, call?: CallOptions): Promise<QueuePage> => ask("GET", at, call, { query }),
  /** One queue, with the starts within the period of its rate. Rejects with NotFoundError. */
  queue: (queue: string, call?: CallOptions): Promise<OneQueue> => ask("GET", [...at, queue], call),
  /** What an autoscaler of workers needs: what waits and could start, since when, and who works on it. */
  scaling: (queue: string, call?: CallOptions): Promise<QueueScaling> => ask("GET", [...at, queue, "scaling"], call),
  /** Start no more jobs of a queue; jobs are still accepted, and running ones go on. Safe to repeat. */
  pause: (queue: string, call?: ActOptions): Promise<Queue> => ask("POST", [...at, queue, "pause"], call),
  /** Undo `pause`. Safe to repeat. */
  resume: (queue: string, call?: ActOptions): Promise<Queue> => ask("POST", [...at, queue, "resume"], call),
  /**
   * Limit a queue: jobs at once, jobs of a group at once, starts in a period. These replace its current limits: what is
   * left out is unlimited, except that jobs of a group go one by one. Rejects with ValidationError.
   */
  setLimits: (queue: string, body: QueueLimitsInput, call?: CallOptions): Promise<Queue> =>
    ask("PUT", [...at, queue, "limits"], call, { body }),
  /**
   * What jobs of a queue have where they name none of their own: attempts, backoff, timeout, how long they and their results
   * are kept. These replace its current defaults, for jobs submitted from now on. Rejects with ValidationError.
   */
  setDefaults: (queue: string, body: QueueDefaultsInput, call?: CallOptions): Promise<Queue> =>
    ask("PUT", [...at, queue, "defaults"], call, { body }),
  /** The groups in which a job has its turn, and what waits behind it; a page at a time, with its `next_cursor`. */
  heldGroups: (queue: string, query: Page = {}, call?: CallOptions): Promise<HeldGroupPage> =>
    ask("GET", [...at, queue, "groups"], call, { query }),
});
