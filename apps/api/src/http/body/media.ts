import { ProblemError } from "../answers/problem.ts";
import type { ApiContext } from "../context.ts";

/** 415 unless the headers say one of these types, in UTF-8 and as it is. */
export function requireMedia(c: ApiContext, accepted: readonly string[], kind: "not_json" | "not_lines"): void {
  const type = c.req.header("content-type");
  if (c.req.header("content-encoding") !== undefined)
    throw new ProblemError(kind, "The body must be sent without a Content-Encoding");
  if (type !== undefined && accepted.includes(type)) return;
  const [media = "", ...parameters] = (type ?? "")
    .toLowerCase()
    .split(";")
    .map((part) => part.trim());
  const foreign = parameters.some((part) => part.startsWith("charset=") && !/^charset="?utf-?8"?$/.test(part));
  if (accepted.includes(media) && !foreign) return;
  const got = type === undefined ? "got none" : `got ${JSON.stringify(type.slice(0, 100))}`;
  throw new ProblemError(kind, `Content-Type must be ${accepted.join(" or ")}, in UTF-8; ${got}`);
}
