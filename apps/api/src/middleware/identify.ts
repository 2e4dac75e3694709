import { randomUUID } from "node:crypto";
import { limits } from "@atlasqueue/contract";
import type { Next } from "hono";
import { envOf, type ApiContext } from "../http/context.ts";
import { clientAddress, type Trusts } from "../http/input/address.ts";

const wellFormed = new RegExp(`^[A-Za-z0-9._-]{1,${limits.request_id_chars_max}}$`);

/**
 * Gives a request its ids and its sender's address. `request_id` is the caller's when it is well-formed, and `answer.ts`
 * sends it back; `api_request_id` is always our own, so that no caller can give theirs another request's.
 */
export function identify(trusts: Trusts) {
  return (c: ApiContext, next: Next): Promise<void> => {
    const own = randomUUID();
    const given = c.req.header("x-request-id");
    c.set("api_request_id", own);
    c.set("request_id", given !== undefined && wellFormed.test(given) ? given : own);
    const { incoming, client_address: asker } = envOf(c);
    const socket = incoming?.socket.remoteAddress;
    const from = socket && clientAddress(socket, c.req.header("x-forwarded-for"), trusts);
    c.set("client_address", asker ?? from ?? "unknown");
    return next();
  };
}
