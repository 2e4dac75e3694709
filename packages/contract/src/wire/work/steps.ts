import { z } from "zod";
import { limits } from "../../checks/limits.ts";
import { plainText } from "../../checks/plain-text.ts";
import { stepNameAccepts } from "../../checks/step-name.ts";
import { anyJson } from "../job.ts";
import { leaseToken } from "./lease.ts";

/** The name of a step, or of a signal: unique within its job. In a path, dots alone would mean another path. */
export const stepName = z
  .string()
  .min(1)
  .max(limits.step_name_chars_max)
  .regex(plainText)
  .regex(/^(?!\.\.?$)/)
  .describe(stepNameAccepts);

/** The body of `PUT /v1/jobs/{id}/steps/{name}`. */
export const storeStepRequest = z.strictObject({
  lease_token: leaseToken,
  result: anyJson.optional().describe("any JSON value"),
});

/** The first result that was stored under the name. */
export const storedStep = z.strictObject({ result: anyJson });

const signalWait = z
  .number()
  .min(limits.signal_wait_seconds_min)
  .max(limits.signal_wait_seconds_max)
  .describe(`a number of seconds from ${limits.signal_wait_seconds_min} to ${limits.signal_wait_seconds_max}`);

/** The body of `POST /v1/jobs/{id}/park`. */
export const parkRequest = z.strictObject({
  lease_token: leaseToken,
  signal: stepName.describe(stepName.description ?? ""),
  timeout_seconds: signalWait,
});

/** `parked`: the lease is over. Otherwise it still holds, and the job goes on. */
export const parkAnswer = z.discriminatedUnion("outcome", [
  z.strictObject({ outcome: z.literal("parked"), until: z.iso.datetime() }),
  z.strictObject({ outcome: z.literal("signalled"), payload: anyJson }),
  z.strictObject({ outcome: z.literal("timed_out") }),
]);
export type ParkAnswer = z.infer<typeof parkAnswer>;

/** The body of `POST /v1/jobs/{id}/signals/{name}`. */
export const sendSignalRequest = z.strictObject({
  payload: anyJson.optional().describe("any JSON value"),
});

/** `sent_before`: the first of its name counts. `too_late`: the job has stopped waiting for it. Neither changed anything. */
export const signalOutcomes = ["sent", "sent_before", "too_late"] as const;
export const sendSignalAnswer = z.strictObject({ outcome: z.enum(signalOutcomes) });
export type SendSignalAnswer = z.infer<typeof sendSignalAnswer>;

/** What a job's handler has done, what it was sent, and what it waits for or did. Each in its order. */
export const jobSteps = z.strictObject({
  steps: z.array(
    z.strictObject({ name: z.string(), result: anyJson, attempt: z.int(), finished_at: z.iso.datetime() }),
  ),
  signals: z.array(z.strictObject({ name: z.string(), payload: anyJson, sent_at: z.iso.datetime() })),
  waits: z.array(z.strictObject({ name: z.string(), until: z.iso.datetime() })),
});
export type JobSteps = z.infer<typeof jobSteps>;
