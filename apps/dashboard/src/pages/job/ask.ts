import { isFinal, type Attempt, type Explanation, type Job } from "@atlasqueue/contract";
import { client } from "../../api/client.ts";
import { useLive } from "../../api/queries.ts";
import { refresh_ms } from "../../api/refresh.ts";

export const jobKey = (id: string) => ["job", id] as const;

const long_ms = 60_000;

/** The job itself, and what goes with it. A finished one hardly ever changes. */
export function useJob(id: string) {
  const job = useLive<Job>({
    key: jobKey(id),
    ask: (signal) => client.get(id, { signal }),
    moves: ({ status }) => status === "running",
  });
  const over = job.data !== undefined && isFinal(job.data.status);
  const every_ms = over ? long_ms : refresh_ms;
  const state = job.data ? `${job.data.status} ${job.data.attempts}` : "";
  const attempts = useLive<Attempt[]>({
    key: [...jobKey(id), "attempts", state],
    ask: (signal) => client.attempts(id, { signal }),
    every_ms,
    keep: true,
    enabled: job.data !== undefined,
  });
  const explanation = useLive<Explanation>({
    key: [...jobKey(id), "explain", state],
    ask: (signal) => client.explain(id, { signal }),
    every_ms,
    keep: true,
    enabled: job.data !== undefined,
  });
  return { job, attempts, explanation };
}
