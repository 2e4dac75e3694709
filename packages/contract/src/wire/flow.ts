import { z } from "zod";

/**
 * What becomes of a job when one it depends on is dead or cancelled: it is cancelled too, or waits until a person has
 * that one replayed and it succeeds, or runs all the same.
 */
export const onParentFailure = z.enum(["cancel", "wait", "run"]).describe('"cancel", "wait" or "run"');
export type OnParentFailure = z.infer<typeof onParentFailure>;
