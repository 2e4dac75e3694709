import { setTimeout as sleep } from "node:timers/promises";
import { defineHandler } from "@atlasqueue/worker";
import postgres from "postgres";
import { z } from "zod";

const sql = postgres(process.env["DATABASE_URL"] ?? "", { max: 4, fetch_types: false, onnotice: () => {} });

/** Records that it began, fails as often as it is told to, over all its lives, and records how it ended. */
export const step = defineHandler(
  "flow.step",
  z.object({ fails: z.int(), pause_ms: z.number() }),
  async ({ fails, pause_ms }, { job }) => {
    const [run] = await sql<{ id: string; failed: number }[]>`
      INSERT INTO runs (job_id, attempt) VALUES (${job.id}, ${job.attempt})
      RETURNING id, (SELECT count(*)::int FROM runs WHERE job_id = ${job.id} AND failed) AS failed`;
    await sleep(pause_ms);
    const failed = (run?.failed ?? 0) < fails;
    await sql`UPDATE runs SET ended_at = clock_timestamp(), failed = ${failed} WHERE id = ${run?.id ?? 0}`;
    if (failed) throw new Error("it was to fail");
    return { run: run?.id ?? null };
  },
);
