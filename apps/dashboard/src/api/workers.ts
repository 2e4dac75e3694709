import type { Worker } from "@atlasqueue/contract";
import { client } from "./client.ts";
import { useLive } from "./queries.ts";

/** The workers that announce themselves. Workers over HTTP do not. */
export function useWorkers() {
  return useLive<Worker[]>({ key: ["workers"], ask: (signal) => client.workers({ signal }) });
}
