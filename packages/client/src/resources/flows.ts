import type { Flow, FlowActAnswer, FlowGraph, FlowPage, FlowState } from "@atlasqueue/contract";
import type { Ask } from "../http/ask.ts";
import type { ActOptions, CallOptions } from "../http/transport.ts";

type Changed = { changed: number; flow: Flow };
const at = ["flows"];

/** Flows as a whole. They are submitted with `client.flow()`. An unknown id is a `NotFoundError`. */
export type FlowCalls = ReturnType<typeof flowCalls>;

export const flowCalls = (ask: Ask) => ({
  /** A flow with its jobs, a thousand a page, or about 4 MiB: go on with its `next_cursor`. */
  get: (id: string, query: { cursor?: string } = {}, call?: CallOptions): Promise<FlowGraph> =>
    ask("GET", [...at, id], call, { query }),
  /** Newest first, a page at a time: go on with its `next_cursor`. With a `state` a page may be short, even empty. */
  list: (query: { state?: FlowState; limit?: number; cursor?: string } = {}, call?: CallOptions): Promise<FlowPage> =>
    ask("GET", at, call, { query }),
  /** Cancel its jobs that are not final. Safe to repeat. */
  cancel: (id: string, call?: ActOptions): Promise<Changed> => ask<FlowActAnswer>("POST", [...at, id, "cancel"], call),
  /**
   * Run its dead and cancelled jobs again. Those that were cancelled because of one that failed wait for it again, and
   * are not counted.
   */
  // Not after a lost answer: by then its jobs may have died again, and that would be a second retry.
  retry: (id: string, call?: ActOptions): Promise<Changed> =>
    ask<FlowActAnswer>("POST", [...at, id, "retry"], call, { repeat: "undone" }),
});
