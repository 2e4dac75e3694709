import { z } from "zod";
import { limits } from "../checks/limits.ts";
import { checkChoice, deadChoice, oneWay } from "./dlq.ts";
import { jsonObject } from "./job.ts";
import { listJobsQuery } from "./listing.ts";

/** Which dead letters a replay is of. */
export const replayFilter = z
  .strictObject(deadChoice)
  .superRefine((given, context) => checkChoice(given, (message) => context.addIssue({ code: "custom", message })))
  .meta(oneWay);
export type ReplayFilter = z.output<typeof replayFilter>;

/** The body of `POST /v1/dlq/replays`. */
export const createReplay = z.strictObject({
  filter: replayFilter.describe(
    "an object with ids, or with any of queue, type, fingerprint, died_after and died_before, or with all: true",
  ),
  patch: jsonObject.optional().describe("a JSON object, merged into each payload: null removes a field (RFC 7396)"),
  rate: z
    .number()
    .min(limits.replay_rate_min)
    .max(limits.replay_rate_max)
    .optional()
    .describe(`a number of jobs a second from ${limits.replay_rate_min} to ${limits.replay_rate_max}`),
  dry_run: z.boolean().default(false).describe("true or false"),
});
export type CreateReplayInput = z.input<typeof createReplay>;
export type CreateReplay = z.output<typeof createReplay>;

/** The one who did something. `anybody`: nothing checks who calls. */
export const actor = z.strictObject({
  kind: z.enum(["token", "session", "anybody", "operator"]),
  token_id: z.uuid().nullable(),
  name: z.string().nullable(),
});
export type Actor = z.infer<typeof actor>;

/** What a replay would do: how many jobs, and what would become of the first. */
export const replayPreview = z.strictObject({
  matched: z.int().min(0),
  /** False when there are more than could be counted in time. */
  complete: z.boolean(),
  /** The latest death it counted; none for ids. Sent as the filter's `died_before`, it spares what died since. */
  died_before: z.iso.datetime().optional(),
  sample: z
    .strictObject({
      id: z.uuid(),
      type: z.string(),
      queue: z.string(),
      before: jsonObject,
      after: jsonObject,
      /** Whether that payload may be stored. */
      fits: z.boolean(),
    })
    .nullable(),
});
export type ReplayPreview = z.infer<typeof replayPreview>;

const count = z.int().min(0);

/** A replay that goes on in the background. */
export const replay = z.strictObject({
  id: z.uuid(),
  state: z.enum(["running", "paused", "done", "cancelled"]),
  filter: z.strictObject(deadChoice),
  patch: jsonObject.nullable(),
  rate: z.number().nullable(),
  matched: count,
  matched_complete: z.boolean(),
  replayed: count,
  /** Still dead when it was done: held by others all the time, or too large with the patch. */
  left_over: count,
  created_by: actor,
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  finished_at: z.iso.datetime().nullable(),
});
export type Replay = z.infer<typeof replay>;

/** The query of `GET /v1/dlq/replays`. */
export const listReplaysQuery = listJobsQuery.pick({ limit: true, cursor: true });
export const replayPage = z.strictObject({ items: z.array(replay), next_cursor: z.string().nullable() });
export type ReplayPage = z.infer<typeof replayPage>;
