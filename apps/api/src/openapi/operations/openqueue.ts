import { z } from "zod";
import { openQueueProvision } from "@atlasqueue/contract";
import type { Operation } from "../operation.ts";

const secret = z.string().describe("the ADMIN_SECRET of the server");

/** The routes that OpenQueue's clients know. */
export const openQueueOperations: Operation[] = [
  {
    method: "post",
    path: "/admin/provision",
    id: "openQueueProvision",
    tag: "OpenQueue",
    surface: "openqueue",
    summary: "Make a tenant and a token for an email address",
    description: "The same address again gets another token of the same tenant. Off unless ADMIN_SECRET is set.",
    request: {
      headers: z.strictObject({ "X-Admin-Secret": secret }),
      body: { schema: openQueueProvision, example: { email: "a@b.example" } },
    },
    answers: {
      200: {
        description: "The token; no other answer has it again.",
        schema: z.strictObject({ token: z.string(), email: z.string(), created: z.boolean() }),
      },
    },
    problems: ["forbidden", "too_many_tokens", "unavailable"],
  },
];
