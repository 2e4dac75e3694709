import { z } from "zod";
import { limits } from "../../checks/limits.ts";
import { plainText } from "../../checks/plain-text.ts";
import { stepNameAccepts } from "../../checks/step-name.ts";
import { anyJson } from "../job.ts";
import { leaseToken } from "./lease.ts";
import { describeFields, describeValue } from "../../checks/field-texts.ts";

/** The name of a step, or of a signal: unique within its job. In a path, dots alone would mean another path. */
export const stepName = describeValue(
  z
    .string()
    .min(1)
    .max(limits.step_name_chars_max)
    .regex(plainText)
    .regex(/^(?!\.\.?$)/)
    .describe(stepNameAccepts),
  "The name of the step or signal, unique within its job.",
);

/** The body of `PUT /v1/jobs/{id}/steps/{name}`. */
export const storeStepRequest = describeFields(
  z.strictObject({
    lease_token: leaseToken,
    result: anyJson.optional().describe("any JSON value"),
  }),
  {
    lease_token: "The secret of the job's lease.",
    result: "The step's result. It is kept with the job.",
  },
);

/** The first result that was stored under the name. */
export const storedStep = describeFields(z.strictObject({ result: anyJson }), {
  result: "The result that is kept: the first one that was sent for the step.",
});

const signalWait = z
  .number()
  .min(limits.signal_wait_seconds_min)
  .max(limits.signal_wait_seconds_max)
  .describe(`a number of seconds from ${limits.signal_wait_seconds_min} to ${limits.signal_wait_seconds_max}`);

/** The body of `POST /v1/jobs/{id}/park`. */
export const parkRequest = describeFields(
  z.strictObject({
    lease_token: leaseToken,
    signal: stepName.describe(stepName.description ?? ""),
    timeout_seconds: signalWait,
  }),
  {
    lease_token: "The secret of the job's lease.",
    signal: "The signal to wait for.",
    timeout_seconds: "How long to wait. The job then runs without the signal.",
  },
);

/** `parked`: the lease is over. Otherwise it still holds, and the job goes on. */
export const parkAnswer = z.discriminatedUnion("outcome", [
  describeFields(z.strictObject({ outcome: z.literal("parked"), until: z.iso.datetime() }), {
    outcome: "The job waits, and its lease is over.",
    until: "When the wait ends without the signal.",
  }),
  describeFields(z.strictObject({ outcome: z.literal("signalled"), payload: anyJson }), {
    outcome: "The signal is there, and the lease still holds.",
    payload: "The signal's payload.",
  }),
  describeFields(z.strictObject({ outcome: z.literal("timed_out") }), {
    outcome: "The time to wait is over, and the lease still holds.",
  }),
]);
export type ParkAnswer = z.infer<typeof parkAnswer>;

/** The body of `POST /v1/jobs/{id}/signals/{name}`. */
export const sendSignalRequest = describeFields(
  z.strictObject({
    payload: anyJson.optional().describe("any JSON value"),
  }),
  {
    payload: "The data that the handler gets.",
  },
);

/** `sent_before`: the first of its name counts. `too_late`: the job has stopped waiting for it. Neither changed anything. */
export const signalOutcomes = ["sent", "sent_before", "too_late"] as const;
export const sendSignalAnswer = describeFields(z.strictObject({ outcome: z.enum(signalOutcomes) }), {
  outcome:
    "`sent_before` means that the first signal of this name counts, `too_late` that the job has stopped waiting for it. Neither changed anything.",
});
export type SendSignalAnswer = z.infer<typeof sendSignalAnswer>;

/** What a job's handler has done, what it was sent, and what it waits for or did. Each in its order. */
export const jobSteps = describeFields(
  z.strictObject({
    steps: z.array(
      describeFields(
        z.strictObject({ name: z.string(), result: anyJson, attempt: z.int(), finished_at: z.iso.datetime() }),
        {
          name: "The step's name.",
          result: "The step's result.",
          attempt: "The attempt that finished it.",
          finished_at: "When it was finished.",
        },
      ),
    ),
    signals: z.array(
      describeFields(z.strictObject({ name: z.string(), payload: anyJson, sent_at: z.iso.datetime() }), {
        name: "The signal's name.",
        payload: "The signal's payload.",
        sent_at: "When it was sent.",
      }),
    ),
    waits: z.array(
      describeFields(z.strictObject({ name: z.string(), until: z.iso.datetime() }), {
        name: "The signal's name.",
        until: "When the wait ends, or ended, without the signal.",
      }),
    ),
  }),
  {
    steps: "The steps that are finished, in their order.",
    signals: "The signals that were sent, in their order.",
    waits: "The signals that the handler waits or waited for, in their order.",
  },
);
export type JobSteps = z.infer<typeof jobSteps>;
