import { z } from "zod";
import { jsonExcerpt } from "../../untrusted/excerpt.ts";
import { items_max } from "../fields.ts";
import { shownName } from "../job-views.ts";
import { reads, tool } from "../tool.ts";

const payload_chars_max = 300;

export const listSchedules = tool({
  name: "list_schedules",
  title: "List schedules",
  description: "The jobs that recur by cron: when each runs next, when it ran last, and the job it submits.",
  toolset: "read",
  scope: "read",
  hints: reads,
  input: z.strictObject({}),
  output: z.object({
    schedules: z.array(
      z.object({
        name: z.string(),
        cron: z.string(),
        timezone: z.string(),
        paused: z.boolean(),
        next_run: z.iso.datetime().nullable(),
        last_run: z.iso.datetime().nullable(),
        last_job_id: z.string().nullable(),
        type: z.string(),
        queue_name: z.string(),
        payload: z.string().describe("JSON text"),
      }),
    ),
  }),
  async run(_args, { client, signal, cuts }) {
    const schedules = [];
    for await (const { name, cron, timezone, paused, next_runs, last_run, last_job_id, job } of client.schedules.list({
      signal,
    })) {
      if (schedules.length === items_max) {
        cuts.push(`schedules: the first ${items_max}, by name; there are more`);
        break;
      }
      schedules.push({
        name,
        cron,
        timezone,
        paused,
        next_run: next_runs[0] ?? null,
        last_run,
        last_job_id,
        type: shownName(cuts, "type", job.type),
        queue_name: shownName(cuts, "queue_name", job.queue),
        payload: jsonExcerpt(cuts, job.payload, { name: `payload of ${name}`, chars_max: payload_chars_max }),
      });
    }
    return { schedules };
  },
});
