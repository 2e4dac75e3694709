import { idempotencyKeyAccepts, parseIdempotencyKey, showValue, type Fault } from "@atlasqueue/contract";
import type { ApiContext } from "../context.ts";
import { sentTwice } from "./sent-twice.ts";

/** The request's key, or what is wrong with it. */
export function readIdempotencyKey(c: ApiContext): string | Fault {
  const header = c.req.header("idempotency-key");
  if (header === undefined) return fault("is required: ");
  // Node joins the two values, which would be a third key.
  if (header.includes(",") && sentTwice(c, "idempotency-key")) return fault("was sent more than once; it must be ");
  const key = parseIdempotencyKey(header);
  return key ?? fault("must be ", `; got ${showValue(header)}`);
}

function fault(before: string, after = ""): Fault {
  return { pointer: "header:Idempotency-Key", message: `${before}${idempotencyKeyAccepts}${after}` };
}
