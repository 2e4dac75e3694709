import type { Worker, WorkerList } from "@atlasqueue/contract";
import type { CallOptions, Send } from "../http/transport.ts";

export type WorkerCalls = {
  /** The workers heard from in the last seconds. Those that lease over HTTP announce nothing. */
  workers(call?: CallOptions): Promise<Worker[]>;
};

export function workerCalls(send: Send): WorkerCalls {
  return {
    workers: async (call) =>
      ((await send({ method: "GET", path: "/v1/workers", repeat: "always" }, call)).body as WorkerList).items,
  };
}
