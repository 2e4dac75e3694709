import type { Flow, FlowActAnswer, FlowGraph, FlowPage, FlowState } from "@atlasqueue/contract";
import type { Ask } from "../http/ask.ts";
import type { ActOptions, CallOptions } from "../http/transport.ts";

/** Flows as a whole. They are submitted with `client.flow()`. An unknown id is a `NotFoundError`. */
export type FlowCalls = {
  /** A flow with its jobs, a thousand a page, or about 4 MiB: go on with its `next_cursor`. */
  get(id: string, page?: { cursor?: string }, call?: CallOptions): Promise<FlowGraph>;
  /** Newest first, a page at a time: go on with its `next_cursor`. With a `state` a page may be short, even empty. */
  list(filter?: { state?: FlowState; limit?: number; cursor?: string }, call?: CallOptions): Promise<FlowPage>;
  /** Cancel its jobs that are not final. Safe to repeat. */
  cancel(id: string, call?: ActOptions): Promise<{ changed: number; flow: Flow }>;
  /**
   * Run its dead and cancelled jobs again. Those that were cancelled because of one that failed wait for it again, and
   * are not counted.
   */
  retry(id: string, call?: ActOptions): Promise<{ changed: number; flow: Flow }>;
};

export function flowCalls(ask: Ask): FlowCalls {
  const at = ["flows"];
  return {
    get: (id, query = {}, call) => ask<FlowGraph>("GET", [...at, id], call, { query }),
    list: (query = {}, call) => ask<FlowPage>("GET", at, call, { query }),
    cancel: (id, call) => ask<FlowActAnswer>("POST", [...at, id, "cancel"], call),
    // Not after a lost answer: by then its jobs may have died again, and that would be a second retry.
    retry: (id, call) => ask<FlowActAnswer>("POST", [...at, id, "retry"], call, { repeat: "undone" }),
  };
}
