import { setTimeout as sleep } from "node:timers/promises";
import { defineHandler } from "@atlasqueue/worker";
import postgres from "postgres";
import { z } from "zod";

const sql = postgres(process.env["DATABASE_URL"] ?? "", { max: 4, onnotice: () => {} });
const payload = z.object({ counter: z.string(), failures: z.int(), pause_ms: z.number() });

/**
 * Counts without a lock: reads, rests, writes what it read plus one. Two at once in a group would lose an increment.
 * What it did and when is recorded in the same statement as the count, so that a killed run leaves neither.
 */
export const step = defineHandler("group.step", payload, async ({ counter, failures, pause_ms }, { job }) => {
  const [run] = await sql<{ id: string }[]>`
    INSERT INTO runs (counter, job_id, attempt, started_at) VALUES (${counter}, ${job.id}, ${job.attempt}, clock_timestamp())
    RETURNING id`;
  const [before] = await sql<{ n: number }[]>`SELECT n FROM counters WHERE counter = ${counter}`;
  await sleep(pause_ms);
  if (job.attempt <= failures) {
    await sql`UPDATE runs SET ended_at = clock_timestamp(), counted = false WHERE id = ${run?.id ?? 0}`;
    throw new Error("it was to fail");
  }
  await sql`
    WITH counted AS (UPDATE counters SET n = ${(before?.n ?? 0) + 1} WHERE counter = ${counter})
    UPDATE runs SET ended_at = clock_timestamp(), counted = true WHERE id = ${run?.id ?? 0}`;
});
