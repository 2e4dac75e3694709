import type { SubmitJobInput } from "@atlasqueue/contract";
import { submission } from "@atlasqueue/harness";
import { expect } from "vitest";
import { queueStats } from "../src/queues/stats.ts";
import { enqueue } from "../src/submit/enqueue.ts";
import type { EnqueueOutcome } from "../src/submit/outcome.ts";
import { engineHarness, tenant } from "./engine-harness.ts";

export const options = { idempotency_ttl_seconds: 60 };
/** The job that an outcome is about, whether it is new or has the key. */
export const idOf = (outcome: EnqueueOutcome): string =>
  "job" in outcome ? outcome.job.id : "job_id" in outcome ? outcome.job_id : "";

/**
 * `engineHarness` for jobs of one unique key. `add` submits one and returns what became of it.
 *
 * @example
 * const { add, finish, countsAreTrue } = uniqueHarness();
 */
export function uniqueHarness() {
  const engine = engineHarness();
  const { deps } = engine;
  return {
    ...engine,
    async add(request: Partial<SubmitJobInput>, key?: string): Promise<EnqueueOutcome> {
      const [outcome] = await enqueue(deps, [submission({ unique: { key: "u" }, ...request }, key)], options);
      if (!outcome) throw new Error("no outcome");
      return outcome;
    },
    keys: () =>
      deps.database
        .sql`SELECT unique_key AS key, id AS job_id FROM atlasqueue.jobs WHERE unique_key IS NOT NULL ORDER BY 1`,
    jobs: async () =>
      (await deps.database.sql`SELECT id FROM atlasqueue.jobs ORDER BY id`).map(({ id }) => id as string),
    /** What the queue's counts say is what there is. */
    async countsAreTrue(): Promise<void> {
      const rows = await deps.database.sql`SELECT status, count(*)::int AS count FROM atlasqueue.jobs GROUP BY status`;
      const counts = (await queueStats(deps, tenant))[0]?.counts ?? {};
      const some = Object.fromEntries(Object.entries(counts).filter((one) => Number(one[1]) > 0));
      expect(some).toEqual(Object.fromEntries(rows.map(({ status, count }) => [status as string, count as number])));
    },
  };
}
