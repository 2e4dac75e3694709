import { isTokenText } from "@atlasqueue/core/internal/http";
import type { ApiContext } from "../http/context.ts";
import { sentTwice } from "../http/input/sent-twice.ts";

export type Bearer = { kind: "token"; token: string } | { kind: "missing" } | { kind: "malformed" };

/**
 * What the Authorization header says. Two of them count for nothing: a proxy and we might each believe a different one.
 */
export function readBearer(c: ApiContext): Bearer {
  const header = c.req.header("authorization");
  if (header === undefined) return { kind: "missing" };
  const token = /^bearer +(\S+)$/i.exec(header)?.[1];
  if (token === undefined || !isTokenText(token) || sentTwice(c, "authorization")) return { kind: "malformed" };
  return { kind: "token", token };
}
