import { randomUUID } from "node:crypto";
import { limits } from "@atlasqueue/contract";
import type { Next } from "hono";
import type { ApiContext } from "../http/context.ts";

const wellFormed = new RegExp(`^[A-Za-z0-9._-]{1,${limits.request_id_chars_max}}$`);

/** Gives a request its id: the caller's when it is well-formed, otherwise a new one. `answer.ts` sends it back. */
export function requestId(c: ApiContext, next: Next): Promise<void> {
  const given = c.req.header("x-request-id");
  c.set("request_id", given !== undefined && wellFormed.test(given) ? given : randomUUID());
  return next();
}
