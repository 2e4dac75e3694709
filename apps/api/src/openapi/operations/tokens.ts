import { createdToken, createToken, jobId, rotateToken, tokenList, type CreatedToken } from "@atlasqueue/contract";
import { z } from "zod";
import { exampleId } from "../examples.ts";
import type { Operation } from "../operation.ts";

const id = z.strictObject({ id: jobId });

const { token, ...listed }: CreatedToken = {
  id: exampleId,
  name: "billing",
  hint: "aq_3fJ2",
  scopes: ["submit", "read"],
  created_at: "2030-01-31T12:00:00.000Z",
  expires_at: null,
  last_used_at: null,
  token: "aq_3fJ2mPq0eXw8sYb5nVt7kRc1uHd9gLz4aQo6iEf2jWxCHECK1",
};

/** Tokens of the caller's own tenant. */
export const tokenOperations: Operation[] = [
  {
    method: "get",
    path: "/v1/tokens",
    id: "listTokens",
    tag: "Tokens",
    summary: "List the tokens",
    description: "Never the tokens themselves, which are kept as digests.",
    scope: "admin",
    answers: { 200: { description: "Every token that works.", schema: tokenList, example: { items: [listed] } } },
    problems: ["validation"],
  },
  {
    method: "post",
    path: "/v1/tokens",
    id: "createToken",
    tag: "Tokens",
    summary: "Make a token",
    description: "It does not outlive the token that asks for it. With `AUTH=disabled`: 403, as nobody knows who asks.",
    scope: "admin",
    request: { body: { schema: createToken, example: { name: "billing", scopes: ["submit", "read"] } } },
    answers: {
      201: {
        description: "The token; no other answer has it again.",
        schema: createdToken,
        example: { ...listed, token },
      },
    },
    problems: ["too_many_tokens"],
  },
  {
    method: "post",
    path: "/v1/tokens/{id}/rotate",
    id: "rotateToken",
    tag: "Tokens",
    summary: "Replace a token",
    description:
      "The old one goes on working for `overlap_seconds`, so that nobody is locked out meanwhile. A token has one " +
      "successor until that is revoked; the new one does not outlive the token that asks for it.",
    scope: "admin",
    request: { path: id, body: { schema: rotateToken, example: { overlap_seconds: 3_600 } } },
    answers: {
      201: { description: "The new token.", schema: createdToken, example: { ...listed, token } },
    },
    problems: ["not_found", "token_rotated", "too_many_tokens"],
  },
  {
    method: "delete",
    path: "/v1/tokens/{id}",
    id: "revokeToken",
    tag: "Tokens",
    summary: "End a token at once",
    scope: "admin",
    request: { path: id },
    answers: { 204: { description: "It works no more." } },
    problems: ["validation", "not_found"],
  },
];
