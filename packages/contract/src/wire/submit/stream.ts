import { z } from "zod";
import { problem } from "../problem.ts";
import { jobStatuses } from "../status.ts";

/** Lines are counted from 1, blank ones too, as editors do. */
const line = z.int().min(1);
const lineProblem = problem.omit({ instance: true, maybe_done: true });

/** A line that is stored. What `outcome` says of it: a new job, the one its key made before, or one with its unique key. */
const takenLine = z.strictObject({
  line,
  id: z.uuid(),
  status: z.enum(jobStatuses),
  outcome: z.enum(["created", "replayed", "existing", "replaced"]),
});

/** A line of which nothing is stored, and why. Those after it go on. */
const refusedLine = z.strictObject({ line, error: lineProblem });

/**
 * The last line of every answer that is whole. `answered` counts the lines before it. What was sent and not answered may
 * be stored or not: send it again with its keys.
 */
const lastLine = z.strictObject({
  end: z.enum(["complete", "idle", "draining", "failed"]),
  answered: z.int(),
  error: problem.omit({ instance: true }).optional(),
});

/** A line of the answer to `POST /v1/jobs/stream`. */
export const streamAnswer = z.union([takenLine, refusedLine, lastLine]);
export type TakenLine = z.infer<typeof takenLine>;
export type RefusedLine = z.infer<typeof refusedLine>;
export type LastLine = z.infer<typeof lastLine>;
