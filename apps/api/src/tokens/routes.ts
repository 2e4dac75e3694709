import {
  createdToken,
  createToken as createTokenBody,
  jobId,
  rotateToken as rotateTokenBody,
  scopes,
  tokenList,
  type CreatedToken,
  describeFields,
} from "@atlasqueue/contract";
import {
  createToken,
  listTokens,
  revokeToken,
  rotateToken,
  showToken,
  type CreateTokenOutcome,
  type RotateTokenOutcome,
} from "@atlasqueue/core/internal";
import { z } from "zod";
import { allows } from "../access/caller.ts";
import { invalid, ProblemError, unauthorized, unknown } from "../http/answers/problem.ts";
import type { Caller } from "../http/context.ts";
import { exampleId } from "../route/examples.ts";
import { makes, ok } from "../route/answers.ts";
import { route } from "../route/route.ts";

const by_id = "token with this id";
const path = describeFields(z.strictObject({ id: jobId }), { id: "The token's id." });

const created: CreatedToken = {
  id: exampleId,
  name: "billing",
  hint: "aq_3fJ2",
  scopes: ["submit", "read"],
  created_at: "2030-01-31T12:00:00.000Z",
  expires_at: null,
  last_used_at: null,
  token: "aq_3fJ2mPq0eXw8sYb5nVt7kRc1uHd9gLz4aQo6iEf2jWxCHECK1",
};
const { token: _, ...listed } = created;

const tellToken = (_input: unknown, made: CreatedToken) => ({
  target: made.id,
  detail: { name: made.name, scopes: made.scopes },
});

const list = route(
  {
    at: "GET /v1/tokens",
    id: "listTokens",
    tag: "Tokens",
    summary: "List tokens",
    description: "Never the tokens themselves, which are kept as digests.",
    scope: "admin",
    answers: ok("Every valid token.", tokenList, { items: [listed] }),
  },
  async ({ deps, tenant }) => ({ items: (await listTokens(deps, tenant)).map(showToken) }),
);

const create = route(
  {
    at: "POST /v1/tokens",
    id: "createToken",
    audit: { action: "token.create", tells: tellToken },
    tag: "Tokens",
    summary: "Create a token",
    description:
      "It does not outlive the token that asks for it. With `AUTH=disabled`: 403, as there is no telling who the caller is.",
    scope: "admin",
    request: { body: { schema: createTokenBody, example: { name: "billing", scopes: ["submit", "read"] } } },
    answers: makes("The token; no other answer shows it again.", createdToken, created),
    problems: ["too_many_tokens"],
  },
  async ({ deps, tenant, caller, body }) => {
    const outcome = await createToken(deps, { tenant, ...body, made_by: makerOf(caller) });
    return shown(outcome, body.expires_in_seconds);
  },
);

const rotate = route(
  {
    at: "POST /v1/tokens/{id}/rotate",
    id: "rotateToken",
    audit: {
      action: "token.rotate",
      tells: (_input, { id, name }: CreatedToken) => ({ detail: { successor: id, name } }),
    },
    tag: "Tokens",
    summary: "Rotate a token",
    description:
      "The old one goes on working for `overlap_seconds`, so that no one is locked out meanwhile. A token has one " +
      "successor until that is revoked; the new one does not outlive the token that asks for it.",
    scope: "admin",
    request: { path, body: { schema: rotateTokenBody, example: { overlap_seconds: 3_600 } } },
    answers: makes("The new token.", createdToken, created),
    problems: ["not_found", "token_rotated", "too_many_tokens"],
  },
  async ({ deps, tenant, caller, path: { id }, body }) => {
    return shown(await rotateToken(deps, { tenant, id, ...body, made_by: makerOf(caller) }));
  },
);

const revoke = route(
  {
    at: "DELETE /v1/tokens/{id}",
    id: "revokeToken",
    audit: { action: "token.revoke" },
    tag: "Tokens",
    summary: "Revoke a token",
    description: "Any token may end itself; ending another one needs `admin`, otherwise it is 404.",
    scope: scopes,
    request: { path },
    answers: { 204: { description: "It is no longer valid." } },
    problems: ["not_found"],
  },
  async ({ deps, tenant, caller, path: { id } }) => {
    // To a token without `admin` there is no other one.
    const known = (id === caller.token_id || allows(caller, "admin")) && (await revokeToken(deps, tenant, id));
    if (!known) unknown(by_id);
  },
);

/**
 * Tokens of the caller's own tenant. A token may revoke itself: anyone who finds that theirs has leaked must be able to
 * close the door.
 */
export const tokenRoutes = [list, create, rotate, revoke];

/** The one asking for a token. While nothing checks who calls, any page that reached us could walk away with one. */
function makerOf({ token_id }: Caller): string {
  if (token_id !== undefined) return token_id;
  throw new ProblemError(
    "forbidden",
    "With AUTH=disabled no tokens are made over HTTP; `atlasqueue tokens create` makes them, beside the database",
  );
}

/** The only answer with the token itself, or why there is none. */
function shown(outcome: CreateTokenOutcome | RotateTokenOutcome, asked_seconds?: number): CreatedToken {
  switch (outcome.kind) {
    case "created":
    case "rotated":
      return { ...showToken(outcome.row), token: outcome.token };
    case "unknown":
      return unknown(by_id);
    case "rotated_before":
      throw new ProblemError("token_rotated", `${outcome.successor} took its place; rotate or revoke that one`);
    case "too_many":
      throw new ProblemError("too_many_tokens", "Revoke one that is no longer used");
    case "outlives": {
      const message = `must be at most ${outcome.seconds_max}, as the token that asks expires then; got ${asked_seconds}`;
      throw invalid([{ pointer: "/expires_in_seconds", message }]);
    }
    case "maker_gone":
      throw unauthorized("The token was revoked or has expired", true);
    default:
      return outcome satisfies never;
  }
}
