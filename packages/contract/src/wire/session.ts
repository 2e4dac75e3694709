import { z } from "zod";
import { scopes } from "./token.ts";
import { describeFields } from "../checks/field-texts.ts";

const token_chars_max = 512;

/** The body of `POST /v1/session`: the token that the session stands for. */
export const openSession = describeFields(
  z.strictObject({
    token: z.string().min(1).max(token_chars_max).describe(`a string of 1 to ${token_chars_max} characters`),
  }),
  {
    token: "The token to sign in with.",
  },
);

/** The caller, and what they may do. Signed out there is no tenant, and no scope. */
export const session = describeFields(
  z.strictObject({
    auth: z.enum(["required", "disabled", "application"]),
    version: z.string(),
    signed_in: z.boolean(),
    tenant: z.string().nullable(),
    scopes: z.array(z.enum(scopes)),
    token: describeFields(z.strictObject({ id: z.uuid(), name: z.string(), hint: z.string() }), {
      id: "The token's id.",
      name: "The token's name.",
      hint: "The first characters of the token.",
    }).nullable(),
    until: z.iso.datetime().nullable(),
  }),
  {
    auth: "`required` if callers need a token. `application` if the program that serves the dashboard signs people in.",
    version: "The server's version.",
    signed_in: "True if the caller has a session.",
    tenant: "The caller's tenant. Null without one.",
    scopes: "What the caller may do.",
    token: "The token of the request or the session. Null without one.",
    until: "When the session ends. Null for never.",
  },
);
export type Session = z.infer<typeof session>;
