import type { Worker, WorkerList } from "@atlasqueue/contract";
import type { Ask } from "../http/ask.ts";
import type { CallOptions } from "../http/transport.ts";

export type WorkerCalls = ReturnType<typeof workerCalls>;

export const workerCalls = (ask: Ask) => ({
  /** The workers heard from in the last seconds. Those that lease over HTTP announce nothing. */
  workers: async (call?: CallOptions): Promise<Worker[]> => (await ask<WorkerList>("GET", ["workers"], call)).items,
});
