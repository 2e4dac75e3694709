import { setTimeout as delay } from "node:timers/promises";
import { defineHandler, type Handler, type JobContext } from "@atlasqueue/worker";
import type { Sql } from "postgres";
import { z } from "zod";

const any = z.looseObject({ ms: z.number().default(0), works: z.boolean().default(false) });

/** Where runs are written down, outside the tables of the queue. A run that was never `ended_at` died with its process. */
export const runsTable = `
  CREATE TABLE IF NOT EXISTS runs (
    id bigserial PRIMARY KEY, job_id uuid NOT NULL, attempt int NOT NULL,
    began_at timestamptz NOT NULL DEFAULT clock_timestamp(), ended_at timestamptz)`;

/** What the story's jobs do. Each writes down when it ran. */
export function storyHandlers(sql: Sql): Handler[] {
  const noted = (type: string, work: (payload: z.output<typeof any>, context: JobContext, runs: number) => unknown) =>
    defineHandler(type, any, async (payload, context) => {
      const { id, attempt } = context.job;
      const [run] = await sql<{ id: string; runs: number }[]>`
        INSERT INTO runs (job_id, attempt) VALUES (${id}, ${attempt})
        RETURNING id, 1 + (SELECT count(*)::int FROM runs WHERE job_id = ${id}) AS runs`;
      try {
        return await work(payload, context, run?.runs ?? 1);
      } finally {
        await sql`UPDATE runs SET ended_at = clock_timestamp() WHERE id = ${run?.id ?? 0}`;
      }
    });
  return [
    noted("ok", async ({ ms }, { progress }) => {
      progress(0.5, "halfway");
      if (ms > 0) await delay(ms);
    }),
    noted("flaky", (_payload, { job }) => {
      if (job.attempt === 1) throw new Error("not the first time");
    }),
    ...["doomed", "doomed.purged", "doomed.patched"].map((type) =>
      noted(type, ({ works }) => {
        if (!works) throw new Error("never");
      }),
    ),
    ...["mended", "mended.alone", "mended.in_bulk"].map((type) =>
      noted(type, (_payload, _context, runs) => {
        if (runs === 1) throw new Error("not yet");
      }),
    ),
    noted("maker", (_payload, { spawn }) => spawn({ type: "ok" }, { dependantsWait: true })),
    noted("stepper", async (_payload, { step, waitFor }) => {
      const first = await step("first", () => "done");
      return [first, await waitFor("go", { timeoutSeconds: 600 })];
    }),
  ];
}
