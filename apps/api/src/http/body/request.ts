import { validate } from "@atlasqueue/contract";
import type { z } from "zod";
import { readJson } from "./body.ts";
import type { ApiContext } from "../context.ts";
import { invalid, ProblemError } from "../answers/problem.ts";
import { refuseQuery } from "../input/query.ts";
import type { BodyBounds } from "./read-bytes.ts";

/**
 * The body by a schema, within its bounds, on a route without a query. Throws a problem that names everything
 * that is wrong.
 *
 * @example
 * const { value } = await readRequest(c, ackRequest, { bytes_max: 1_048_576 });
 */
export async function readRequest<S extends z.ZodType>(
  c: ApiContext,
  schema: S,
  bounds: BodyBounds,
): Promise<{ value: z.output<S>; bytes: number }> {
  refuseQuery(c);
  const body = await readJson(c, bounds);
  const checked = validate(schema, body.value);
  if (checked.kind === "invalid") throw invalid(checked.faults);
  return { value: checked.value, bytes: body.bytes };
}

/** 413 for a part of a body that is larger than what is stored. Counted as compact JSON, unless the body is small. */
export function requireSmall(value: unknown, pointer: string, body_bytes: number, bytes_max: number): void {
  if (value === undefined || body_bytes <= bytes_max || Buffer.byteLength(JSON.stringify(value)) <= bytes_max) return;
  const message = `may have ${bytes_max} bytes of JSON at most; keep large data elsewhere and send where it is`;
  throw new ProblemError("too_large", `${pointer} ${message}`, { errors: [{ pointer, message }] });
}
