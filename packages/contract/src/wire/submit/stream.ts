import { z } from "zod";
import { problem } from "../problem.ts";
import { jobStatuses } from "../status.ts";
import { describeFields } from "../../checks/field-texts.ts";

/** Lines are counted from 1, blank ones too, as editors do. */
const line = z.int().min(1);
const lineProblem = problem.omit({ instance: true, maybe_done: true });

/** A line that is stored. What `outcome` says of it: a new job, the one its key made before, or one with its unique key. */
const takenLine = describeFields(
  z.strictObject({
    line,
    id: z.uuid(),
    status: z.enum(jobStatuses),
    outcome: z.enum(["created", "replayed", "existing", "replaced"]),
  }),
  {
    line: "The number of the line, from 1.",
    id: "The id of the line's job.",
    status: "The job's status now.",
    outcome:
      "`created` is a new job, `replayed` the one of the same idempotency key. `existing` and `replaced` have the same unique key.",
  },
);

/** A line of which nothing is stored, and why. Those after it go on. */
const refusedLine = describeFields(z.strictObject({ line, error: lineProblem }), {
  line: "The number of the line, from 1.",
  error: "Why nothing of the line is stored.",
});

/**
 * The last line of every answer that is whole. `answered` counts the lines before it. What was sent and not answered may
 * be stored or not: send it again with its keys.
 */
const lastLine = describeFields(
  z.strictObject({
    end: z.enum(["complete", "idle", "draining", "failed"]),
    answered: z.int(),
    error: problem.omit({ instance: true }).optional(),
  }),
  {
    end: "How the stream ended. Only after `complete` was every line read.",
    answered: "How many lines were answered. Send the others again with their keys.",
    error: "Why the stream ended early.",
  },
);

/** A line of the answer to `POST /v1/jobs/stream`. */
export const streamAnswer = z.union([takenLine, refusedLine, lastLine]);
export type TakenLine = z.infer<typeof takenLine>;
export type RefusedLine = z.infer<typeof refusedLine>;
export type LastLine = z.infer<typeof lastLine>;
