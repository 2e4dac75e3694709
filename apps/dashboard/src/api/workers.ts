import type { Job, Worker } from "@atlasqueue/contract";
import { client } from "./client.ts";
import { useLive } from "./queries.ts";

/** The workers that announce themselves. Workers over HTTP do not. */
export function useWorkers() {
  return useLive<Worker[]>({ key: ["workers"], ask: (signal) => client.workers({ signal }) });
}

/** The newest running jobs, of all workers. */
export function useRunning() {
  return useLive<Job[]>({
    key: ["jobs", "running"],
    ask: async (signal) => (await client.page({ status: "running", limit: 200 }, { signal })).items,
  });
}
