import { defineHandler } from "@atlasqueue/worker";
import postgres from "postgres";
import { z } from "zod";

const sql = postgres(process.env["DATABASE_URL"] ?? "", { max: 2, onnotice: () => {} });

/** Notes each run of each step in a table; the second one never ends as long as it is told to hang. */
export const order = defineHandler("order", z.looseObject({}), async (_payload, { job, step, waitFor }) => {
  const note = (name: string) => sql`INSERT INTO step_runs (job_id, step) VALUES (${job.id}, ${name})`;
  await step("first", async () => void (await note("first")));
  await step("second", async () => {
    await note("second");
    const [{ hangs } = { hangs: false }] = await sql<{ hangs: boolean }[]>`SELECT hangs FROM step_hangs`;
    if (hangs) await new Promise(() => {});
  });
  const answer = await waitFor("approved", { timeoutSeconds: 3_600 });
  await step("third", async () => void (await note("third")));
  return answer;
});
