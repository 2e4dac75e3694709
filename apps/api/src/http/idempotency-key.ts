import { idempotencyKeyAccepts, parseIdempotencyKey, showValue, type Fault } from "@atlasqueue/contract";
import { incomingOf, type ApiContext } from "./context.ts";

/** The request's key, or what is wrong with it. */
export function readIdempotencyKey(c: ApiContext): string | Fault {
  const header = c.req.header("idempotency-key");
  if (header === undefined) return fault("is required: ");
  if (sentTwice(c, header)) return fault("was sent more than once; it must be ");
  const key = parseIdempotencyKey(header);
  return key ?? fault("must be ", `; got ${showValue(header)}`);
}

function fault(before: string, after = ""): Fault {
  return { pointer: "header:Idempotency-Key", message: `${before}${idempotencyKeyAccepts}${after}` };
}

/** Node joins the values of a header that comes twice, which would be a third key. */
function sentTwice(c: ApiContext, header: string): boolean {
  const raw = incomingOf(c)?.rawHeaders;
  if (!raw || !header.includes(",")) return false;
  return raw.filter((name, at) => at % 2 === 0 && name.toLowerCase() === "idempotency-key").length > 1;
}
