import { z } from "zod";
import { idempotencyKeyAccepts, printableKey } from "./idempotency-text.ts";
import { limits } from "./limits.ts";

/** An idempotency key in a body. */
export const idempotencyKey = z
  .string()
  .max(limits.idempotency_key_chars_max)
  .regex(printableKey)
  .describe(idempotencyKeyAccepts);
