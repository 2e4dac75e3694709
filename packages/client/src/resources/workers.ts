import type { Worker, WorkerList } from "@atlasqueue/contract";
import type { Ask } from "../http/ask.ts";
import type { CallOptions } from "../http/transport.ts";

export type WorkerCalls = {
  /** The workers heard from in the last seconds. Those that lease over HTTP announce nothing. */
  workers(call?: CallOptions): Promise<Worker[]>;
};

export function workerCalls(ask: Ask): WorkerCalls {
  return { workers: async (call) => (await ask<WorkerList>("GET", ["workers"], call)).items };
}
