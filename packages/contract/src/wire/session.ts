import { z } from "zod";
import { scopes } from "./token.ts";

const token_chars_max = 512;

/** The body of `POST /v1/session`: the token that the session stands for. */
export const openSession = z.strictObject({
  token: z.string().min(1).max(token_chars_max).describe(`a string of 1 to ${token_chars_max} characters`),
});

/** The caller, and what they may do. Signed out there is no tenant, and no scope. */
export const session = z.strictObject({
  /** Whether the API checks who calls. */
  auth: z.enum(["required", "disabled"]),
  version: z.string(),
  signed_in: z.boolean(),
  tenant: z.string().nullable(),
  scopes: z.array(z.enum(scopes)),
  /** What was shown, or signed in with. */
  token: z.strictObject({ id: z.uuid(), name: z.string(), hint: z.string() }).nullable(),
  /** When this ends by itself: null if never. */
  until: z.iso.datetime().nullable(),
});
export type Session = z.infer<typeof session>;
