import { showValue, validate } from "@atlasqueue/contract";
import { z } from "zod";
import { invalid } from "../http/answers/problem.ts";
import { arrivingBody } from "../http/body/arriving.ts";
import { requireMedia, readJson } from "../http/body/body.ts";
import { incomingOf, type ApiContext } from "../http/context.ts";
import type { Weigh } from "../http/gate.ts";
import { readIdempotencyKey } from "../http/input/headers.ts";
import { readQuery } from "../http/input/query.ts";
import { lineTypes, type Operation } from "./operation.ts";

/** Of a route that takes no parameters. */
const noQuery = z.strictObject({});

/** What a request says, checked against its operation. */
export type Input = {
  path: unknown;
  query: unknown;
  body: unknown;
  bytes: number;
  idempotency_key: string | undefined;
};

/**
 * How an operation's requests are read: the path, the query, then the key and the body, whose faults are reported
 * together. A request without a body is read at once.
 *
 * @example
 * const { path, body } = await readerOf(operation, deps)(c, weigh);
 */
export function readerOf(
  operation: Operation,
  deps: { body_bytes_max: number },
): (c: ApiContext, weigh: Weigh) => Input | Promise<Input> {
  const { request = {}, any_query } = operation;
  const params = Object.entries(request.path?.shape ?? {}) as [string, z.ZodType<string>][];
  const { query = any_query ? undefined : noQuery, body, idempotency_key } = request;

  const readHead = (c: ApiContext): Input => ({
    path: params.length === 0 ? undefined : readPath(c, params),
    query: query && (query !== noQuery || c.req.url.includes("?")) ? readQuery(c, query) : undefined,
    body: undefined,
    bytes: 0,
    idempotency_key: undefined,
  });
  if (!body)
    return (c) => {
      // A body that comes all the same is thrown away as it comes.
      incomingOf(c)?.resume();
      return readHead(c);
    };
  if (body.lines)
    return (c) => {
      const head = readHead(c);
      requireMedia(c, lineTypes, "not_lines");
      return { ...head, body: arrivingBody(c) };
    };
  const bytes_max = body.bytes_max ?? deps.body_bytes_max;
  return async (c, weigh) => {
    const head = readHead(c);
    const { value, bytes } = await readJson(c, bytes_max, { optional: body.optional, weigh });
    const key = readIdempotencyKey(c, idempotency_key);
    const checked = validate(body.schema, value);
    const faults = [...(typeof key === "object" ? [key] : []), ...(checked.kind === "invalid" ? checked.faults : [])];
    if (typeof key === "object" || checked.kind === "invalid") throw invalid(faults);
    return { ...head, body: checked.value, bytes, idempotency_key: key };
  };
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
