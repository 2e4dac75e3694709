import { jobType } from "@atlasqueue/contract";
import { z } from "zod";
import { excerpt } from "../../untrusted/excerpt.ts";
import { cursor, given, limit, next_cursor } from "../fields.ts";
import { shownName } from "../job-views.ts";
import { reads, tool } from "../tool.ts";

const error_chars_max = 300;

export const listDead = tool({
  name: "list_dead",
  title: "List dead letters by their error",
  description:
    "The jobs that failed for good, grouped by type and by the pattern of their error. list_jobs with status dead and a " +
    "group's fingerprint shows its jobs; replay_dead with the fingerprint runs them again.",
  toolset: "read",
  scope: "read",
  hints: reads,
  input: z.strictObject({ type: jobType.optional().describe(jobType.description ?? ""), limit, cursor }),
  output: z.object({
    groups: z.array(
      z.object({
        type: z.string(),
        fingerprint: z.string(),
        error: z.string(),
        count: z.int(),
        count_complete: z.boolean().describe("false: there are more than were counted"),
        first_seen: z.iso.datetime(),
        last_seen: z.iso.datetime(),
        sample_job_id: z.string(),
        last_24_hours: z.int(),
      }),
    ),
    next_cursor,
  }),
  async run(filter, { client, signal, cuts }) {
    const page = await client.deadLetters.groups(given(filter), { signal });
    return {
      groups: page.items.map((group) => ({
        type: shownName(cuts, "type", group.type),
        fingerprint: group.fingerprint,
        error: excerpt(cuts, group.error, {
          name: `error of ${group.fingerprint}`,
          chars_max: error_chars_max,
          more: "get_job_details of its sample_job_id shows one",
        }),
        count: group.count,
        count_complete: group.count_complete,
        first_seen: group.first_seen,
        last_seen: group.last_seen,
        sample_job_id: group.sample_job_id,
        last_24_hours: group.per_hour.reduce((sum, dead) => sum + dead, 0),
      })),
      next_cursor: page.next_cursor,
    };
  },
});
