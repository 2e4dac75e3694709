import { idempotencyKeyAccepts, parseIdempotencyKey, showValue, type Fault } from "@atlasqueue/contract";
import { type ApiContext, incomingOf } from "../context.ts";

/** The request's key, or what is wrong with it. An optional one must still be valid if it is sent. */
export function readIdempotencyKey(
  c: ApiContext,
  wanted: "required" | "optional" | undefined,
): string | Fault | undefined {
  const header = wanted && c.req.header("idempotency-key");
  if (header === undefined) return wanted === "required" ? fault("is required: ") : undefined;
  // Node joins the two values, which would be a third key.
  if (header.includes(",") && sentTwice(c, "idempotency-key")) return fault("was sent more than once; it must be ");
  const key = parseIdempotencyKey(header);
  return key ?? fault("must be ", `; got ${showValue(header)}`);
}

function fault(before: string, after = ""): Fault {
  return { pointer: "header:Idempotency-Key", message: `${before}${idempotencyKeyAccepts}${after}` };
}

/** Whether a header came more than once. For most, Node joins the values; for some, it drops all but the first. */
export function sentTwice(c: ApiContext, name: string): boolean {
  const raw = incomingOf(c)?.rawHeaders ?? [];
  const isIt = (sent: string, at: number) => at % 2 === 0 && sent.length === name.length && sent.toLowerCase() === name;
  return raw.filter(isIt).length > 1;
}
