import { z } from "zod";
import { limits } from "../checks/limits.ts";
import { checkChoice, deadChoice, oneWay } from "./dlq.ts";
import { jsonObject } from "./job.ts";
import { describeFields } from "../checks/field-texts.ts";

/** Which dead letters a replay is of. */
export const replayFilter = z
  .strictObject(deadChoice)
  .superRefine((given, context) => checkChoice(given, (message) => context.addIssue({ code: "custom", message })))
  .meta(oneWay);
export type ReplayFilter = z.output<typeof replayFilter>;

/** The body of `POST /v1/dlq/replays`. */
export const createReplay = describeFields(
  z.strictObject({
    filter: replayFilter.describe(
      "an object with ids, or with any of queue, type, tag, fingerprint, died_after and died_before, or with all: true",
    ),
    patch: jsonObject.optional().describe("a JSON object, merged into each payload: null removes a field (RFC 7396)"),
    rate: z
      .number()
      .min(limits.replay_rate_min)
      .max(limits.replay_rate_max)
      .optional()
      .describe(`a number of jobs a second from ${limits.replay_rate_min} to ${limits.replay_rate_max}`),
    dry_run: z.boolean().default(false).describe("true or false"),
  }),
  {
    filter: "Which dead letters to replay.",
    patch: "A change to each job's payload.",
    rate: "How many jobs a second to replay. As fast as possible by default.",
    dry_run: "Only show what the replay would do, and change nothing.",
  },
);
export type CreateReplayInput = z.input<typeof createReplay>;
export type CreateReplay = z.output<typeof createReplay>;

/** The one who did something. `anybody`: nothing checks who calls. */
export const actor = describeFields(
  z.strictObject({
    kind: z.enum(["token", "session", "anybody", "operator"]),
    token_id: z.uuid().nullable(),
    name: z.string().nullable(),
  }),
  {
    kind: "`token` or `session` of a caller, `anybody` without authentication, `operator` for the command line.",
    token_id: "The token's id. Null without a token.",
    name: "The token's name, or the operator's. Null if there is none.",
  },
);
export type Actor = z.infer<typeof actor>;

/** What a replay would do: how many jobs, and what would become of the first. */
export const replayPreview = describeFields(
  z.strictObject({
    matched: z.int().min(0),
    complete: z.boolean(),
    died_before: z.iso.datetime().optional(),
    sample: describeFields(
      z.strictObject({
        id: z.uuid(),
        type: z.string(),
        queue: z.string(),
        before: jsonObject,
        after: jsonObject,
        fits: z.boolean(),
      }),
      {
        id: "The job's id.",
        type: "The job's type.",
        queue: "The job's queue.",
        before: "The payload now.",
        after: "The payload with the patch.",
        fits: "False if the patched payload is too large. The job would be skipped.",
      },
    ).nullable(),
  }),
  {
    matched: "How many dead letters the replay would queue again.",
    complete: "False if there may be more than `matched`.",
    died_before:
      "The latest death that was counted. Send it as the filter's `died_before` to leave out jobs that died since.",
    sample: "The first of the jobs, before and after. Null if there is none.",
  },
);
export type ReplayPreview = z.infer<typeof replayPreview>;

const count = z.int().min(0);

/** A replay that goes on in the background. */
export const replay = describeFields(
  z.strictObject({
    id: z.uuid(),
    state: z.enum(["running", "paused", "done", "cancelled"]),
    filter: z.strictObject(deadChoice),
    error: z.string().nullable(),
    patch: jsonObject.nullable(),
    rate: z.number().nullable(),
    matched: count,
    matched_complete: z.boolean(),
    replayed: count,
    left_over: count,
    created_by: actor,
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
    finished_at: z.iso.datetime().nullable(),
  }),
  {
    id: "The replay's id.",
    state: "`running`, `paused`, `done` or `cancelled`.",
    filter: "Which dead letters the replay is of.",
    error: "The error that the filter's `fingerprint` stands for. Null without a fingerprint.",
    patch: "The change to each job's payload. Null for none.",
    rate: "How many jobs a second are replayed. Null is as fast as possible.",
    matched: "How many dead letters matched at the start.",
    matched_complete: "False if there were more than `matched`.",
    replayed: "How many jobs were queued again so far.",
    left_over: "How many jobs were still dead at the end, because they were locked or too large with the patch.",
    created_by: "Who started the replay.",
    created_at: "When the replay was started.",
    updated_at: "When the replay changed last.",
    finished_at: "When the replay ended. Null before.",
  },
);
export type Replay = z.infer<typeof replay>;

/** The query of `GET /v1/dlq/replays`. */
export const replayPage = describeFields(
  z.strictObject({ items: z.array(replay), next_cursor: z.string().nullable() }),
  {
    items: "The replays, newest first.",
    next_cursor: "The `cursor` of the next page. Null marks the end.",
  },
);
export type ReplayPage = z.infer<typeof replayPage>;
