import { setTimeout as sleep } from "node:timers/promises";
import { defineHandler } from "@atlasqueue/worker";
import postgres from "postgres";
import { z } from "zod";

const sql = postgres(process.env["DATABASE_URL"] ?? "", { max: 4, fetch_types: false, onnotice: () => {} });

/** Keeps which run of a step it was, waits for the signal `go`, and returns both with what came. */
export const parked = defineHandler("parked", z.looseObject({}), async (_payload, { job, step, waitFor }) => {
  const run = async (name: string) => {
    const [row] = await sql<{ id: string }[]>`
      INSERT INTO step_runs (job_id, step) VALUES (${job.id}, ${name}) RETURNING id`;
    await sleep(5);
    return row?.id ?? null;
  };
  const before = await step("before", () => run("before"));
  const go = await waitFor("go", { timeoutSeconds: 600 });
  const after = await step("after", () => run("after"));
  return { before, go, after };
});
