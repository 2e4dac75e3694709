import { z } from "zod";
import { limits } from "../checks/limits.ts";
import { plainText, plainTextAccepts } from "../checks/plain-text.ts";

/** What a token allows, within its own tenant. `metrics` is for monitoring, and `admin` allows everything. */
export const scopes = ["submit", "read", "work", "metrics", "admin"] as const;
export type Scope = (typeof scopes)[number];

const scopesAccepts = `a list of at least one of ${scopes.join(", ")}`;

/** The body of `POST /v1/tokens`. */
export const createToken = z.strictObject({
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
});
export type CreateTokenInput = z.input<typeof createToken>;
export type CreateToken = z.output<typeof createToken>;

/** The body of `POST /v1/tokens/{id}/rotate`: how long the old token still works alongside the new one. */
export const rotateToken = z.strictObject({
  overlap_seconds: z
    .int()
    .min(0)
    .max(limits.token_overlap_seconds_max)
    .default(limits.token_overlap_seconds_default)
    .describe(`an integer of seconds from 0 to ${limits.token_overlap_seconds_max}`),
});

const nullableTime = z.iso.datetime().nullable();

/** A token as listed, never the token itself. `hint` is its first characters. */
export const token = z.strictObject({
  id: z.uuid(),
  name: z.string(),
  hint: z.string(),
  scopes: z.array(z.enum(scopes)),
  created_at: z.iso.datetime(),
  expires_at: nullableTime,
  last_used_at: nullableTime,
});
export type Token = z.infer<typeof token>;
export const tokenList = z.strictObject({ items: z.array(token) });
export type TokenList = z.infer<typeof tokenList>;

/** The only answer that holds the token itself. */
export const createdToken = token.extend({ token: z.string() });
export type CreatedToken = z.infer<typeof createdToken>;
