import { z } from "zod";
import { limits } from "../../checks/limits.ts";
import { plainText, plainTextAccepts } from "../../checks/plain-text.ts";
import { describeFields } from "../../checks/field-texts.ts";

export const unique = describeFields(
  z.strictObject({
    key: z
      .string()
      .min(1)
      .max(limits.unique_key_chars_max)
      .regex(plainText)
      .optional()
      .describe(`a string of 1 to ${limits.unique_key_chars_max} characters ${plainTextAccepts}`),
    scope: z.enum(["active", "window"]).default("active").describe('"active" or "window"'),
    window_seconds: z
      .int()
      .min(1)
      .max(limits.unique_window_seconds_max)
      .optional()
      .describe(`an integer of seconds from 1 to ${limits.unique_window_seconds_max}`),
    on_conflict: z.enum(["return", "replace", "reject"]).default("return").describe('"return", "replace" or "reject"'),
  }),
  {
    key: "The unique key. Without it, jobs of the same type and payload are the same.",
    scope:
      "How long the key is taken: while its job is not finished (`active`), or for `window_seconds` after its submission (`window`).",
    window_seconds: "How long the key is taken with the scope `window`.",
    on_conflict:
      "What to do if the key is taken: return the job that has it, replace its fields while it waits, or reject this request with 409.",
  },
)
  .superRefine(({ scope, window_seconds }, context) => {
    const fault = (message: string) => context.addIssue({ code: "custom", path: ["window_seconds"], message });
    if (scope === "window" && window_seconds === undefined) fault("is required");
    if (scope === "active" && window_seconds !== undefined) fault('must not be given without the scope "window"');
  })
  .meta({
    description: "an object {key?, scope?, window_seconds?, on_conflict?}",
    dependentSchemas: { window_seconds: { properties: { scope: { const: "window" } }, required: ["scope"] } },
  });
/**
 * At most one job with a key in its queue: while that job is not final, or within a time from its creation. Without a
 * `key`, jobs of the same type and payload are the same.
 */
export type Unique = z.output<typeof unique>;
