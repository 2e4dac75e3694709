import { z } from "zod";
import { limits } from "../checks/limits.ts";
import { plainText, plainTextAccepts } from "../checks/plain-text.ts";
import { describeFields } from "../checks/field-texts.ts";

/** What a token allows, within its own tenant. `metrics` is for monitoring, and `admin` allows everything. */
export const scopes = ["submit", "read", "work", "metrics", "admin"] as const;
export type Scope = (typeof scopes)[number];

const scopesAccepts = `a list of at least one of ${scopes.join(", ")}`;

/** The body of `POST /v1/tokens`. */
export const createToken = describeFields(
  z.strictObject({
    name: z
      .string()
      .min(1)
      .max(limits.token_name_chars_max)
      .regex(plainText)
      .describe(`a string of 1 to ${limits.token_name_chars_max} characters ${plainTextAccepts}`),
    scopes: z
      .array(z.enum(scopes).describe(`one of ${scopes.join(", ")}`))
      .min(1)
      .max(scopes.length)
      .describe(scopesAccepts),
    expires_in_seconds: z
      .int()
      .min(1)
      .max(limits.token_seconds_max)
      .optional()
      .describe(`an integer of seconds from 1 to ${limits.token_seconds_max}; without it the token does not expire`),
  }),
  {
    name: "A name by which people recognize the token.",
    scopes: "What the token allows.",
    expires_in_seconds: "When the token expires, from now.",
  },
);
export type CreateTokenInput = z.input<typeof createToken>;
export type CreateToken = z.output<typeof createToken>;

/** The body of `POST /v1/tokens/{id}/rotate`: how long the old token still works alongside the new one. */
export const rotateToken = describeFields(
  z.strictObject({
    overlap_seconds: z
      .int()
      .min(0)
      .max(limits.token_overlap_seconds_max)
      .default(limits.token_overlap_seconds_default)
      .describe(`an integer of seconds from 0 to ${limits.token_overlap_seconds_max}`),
  }),
  {
    overlap_seconds: "How long the old token still works.",
  },
);

const nullableTime = z.iso.datetime().nullable();

/** A token as listed, never the token itself. `hint` is its first characters. */
export const token = describeFields(
  z.strictObject({
    id: z.uuid(),
    name: z.string(),
    hint: z.string(),
    scopes: z.array(z.enum(scopes)),
    created_at: z.iso.datetime(),
    expires_at: nullableTime,
    last_used_at: nullableTime,
  }),
  {
    id: "The token's id.",
    name: "The token's name.",
    hint: "The first characters of the token.",
    scopes: "What the token allows. `admin` allows everything.",
    created_at: "When the token was created.",
    expires_at: "When the token expires. Null for never.",
    last_used_at: "When the token was last used, to the minute. Null before.",
  },
);
export type Token = z.infer<typeof token>;
export const tokenList = describeFields(z.strictObject({ items: z.array(token) }), {
  items: "The valid tokens, newest first.",
});
export type TokenList = z.infer<typeof tokenList>;

/** The only answer that holds the token itself. */
export const createdToken = describeFields(token.extend({ token: z.string() }), {
  token: "The token itself. No other response has it.",
});
export type CreatedToken = z.infer<typeof createdToken>;
