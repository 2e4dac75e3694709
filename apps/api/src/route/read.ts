import { showValue, validate, validateInParts, type Checked, type Fault } from "@atlasqueue/contract";
import type { z } from "zod";
import { invalid } from "../http/answers/problem.ts";
import { arrivingBody } from "../http/body/arriving.ts";
import { requireMedia } from "../http/body/media.ts";
import { readJson, type Arrivals } from "../http/body/body.ts";
import { discardBody, requireNoBody } from "../http/body/no-body.ts";
import type { BodyBounds } from "../http/body/read-bytes.ts";
import type { ApiContext } from "../http/context.ts";
import { holderOf } from "../http/input/holder.ts";
import { readIdempotencyKey } from "../http/input/idempotency-key.ts";
import { readQuery, refuseQuery } from "../http/input/query.ts";
import { kindOf, lineTypes, type Body, type Operation } from "./operation.ts";

/** What a request says, checked against its operation. */
export type Input = {
  path: unknown;
  query: unknown;
  body: unknown;
  bytes: number;
  /** What its keys and values take in memory beside that, roughly. */
  weight: number;
  idempotency_key: string | undefined;
};

/**
 * How an operation's requests are read: the path, the query, then the key and the body, whose faults are reported
 * together. A request without a body is read at once.
 *
 * @example
 * const { path, body } = await readerOf(operation, deps)(c);
 */
export function readerOf(
  operation: Operation,
  deps: Arrivals & { body_bytes_max: number },
): (c: ApiContext) => Input | Promise<Input> {
  const { request = {}, any_query } = operation;
  const params = Object.entries(request.path?.shape ?? {}) as [string, z.ZodType<string>][];
  const { query, body, idempotency_key } = request;

  const readHead = (c: ApiContext): Input => ({
    path: params.length === 0 ? undefined : readPath(c, params),
    query: query ? readQuery(c, query) : any_query ? undefined : refuseQuery(c),
    body: undefined,
    bytes: 0,
    weight: 0,
    idempotency_key: undefined,
  });
  if (!body)
    return (c) => {
      discardBody(c);
      return readHead(c);
    };
  if (body.lines)
    return (c) => {
      const head = readHead(c);
      requireMedia(c, lineTypes, "not_lines");
      return { ...head, body: arrivingBody(c) };
    };
  const readKey = (c: ApiContext) => keyOf(c, idempotency_key);

  const bounds = { ...boundsOf(body, deps), of: kindOf(operation) };
  return async (c) => {
    const head = readHead(c);
    if (body.optional) {
      await requireNoBody(c, deps);
      const key = readKey(c);
      if (typeof key === "object") throw invalid([key]);
      return { ...head, idempotency_key: key };
    }
    return readJson(c, bounds, deps, ({ value, bytes, weight }) => {
      const key = readKey(c);
      const result = (checked: Checked<unknown>): Input => {
        const faults = [
          ...(typeof key === "object" ? [key] : []),
          ...(checked.kind === "invalid" ? checked.faults : []),
        ];
        if (typeof key === "object" || checked.kind === "invalid") throw invalid(faults);
        return { ...head, body: checked.value, bytes, weight, idempotency_key: key };
      };
      if (body.list === undefined) return result(validate(body.schema, value));
      const rest = () => deps.turns.take(holderOf(c));
      return validateInParts(body.schema, value, body.list, rest).then(result);
    });
  };
}

function boundsOf({ bytes_max, bytes_always = 0, error_at }: Body, limits: { body_bytes_max: number }): BodyBounds {
  return { bytes_max: bytes_max ?? Math.max(limits.body_bytes_max, bytes_always), error_at };
}

/** The parts of the path by name; 422 for an invalid one. */
function readPath(c: ApiContext, params: [string, z.ZodType<string>][]): Record<string, string> {
  const path: Record<string, string> = {};
  for (const [name, schema] of params) {
    const text = c.req.param(name);
    const parsed = schema.safeParse(text);
    if (!parsed.success)
      throw invalid([{ pointer: `path:${name}`, message: `must be ${schema.description}; got ${showValue(text)}` }]);
    path[name] = parsed.data;
  }
  return path;
}

/** The key, or what is wrong with it. An optional one must still be valid if it is sent. */
function keyOf(
  c: ApiContext,
  wanted: NonNullable<Operation["request"]>["idempotency_key"],
): string | Fault | undefined {
  if (wanted === undefined) return undefined;
  if (wanted === "optional" && c.req.header("idempotency-key") === undefined) return undefined;
  return readIdempotencyKey(c);
}
