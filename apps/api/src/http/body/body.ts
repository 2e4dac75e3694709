import type { IncomingHttpHeaders } from "node:http";
import { incomingOf, type ApiContext } from "../context.ts";
import { countKeys, refuseRepeatedKeys } from "./repeated-keys.ts";
import { holderOf } from "../input/holder.ts";
import { parseJson } from "./parse-json.ts";
import type { Gate } from "../gate.ts";
import { readBytes, type BodyBounds } from "./read-bytes.ts";
import { requireMedia } from "./media.ts";
import type { Turns } from "./turns.ts";

/** A parsed body, how many bytes it had, and what it takes in memory beside them, roughly. */
export type JsonBody = { value: unknown; bytes: number; weight: number };

/** What a body waits for: room while it arrives, and its turn to be parsed. */
export type Arrivals = { bodies: Gate; turns: Turns };

/** Bodies up to this size always parse in less than a millisecond, and wait for no one. */
const at_once_bytes_max = 8_192;

/**
 * Read and parse a JSON body within its bounds; a larger one is refused without reading it to the end. Throws
 * `ProblemError` for anything but JSON in UTF-8, and for duplicate keys; `check` sees to the rest. Until it is done, the
 * body has its room.
 *
 * @example
 * const input = await readJson(c, { bytes_max: 1_048_576 }, deps, async ({ value }) => checked(value));
 */
export function readJson<T>(
  c: ApiContext,
  bounds: BodyBounds,
  arrivals: Arrivals,
  check: (body: JsonBody) => T | Promise<T>,
): Promise<T> {
  requireJson(c);
  return readParsed(c, bounds, arrivals, (body) => check(body ?? nothing()));
}

/** As any other text that is no JSON, it is refused. */
const nothing = (): JsonBody => ({ ...parseJson(new Uint8Array()), bytes: 0, weight: 0 });

/** For routes with an optional body: undefined for none, whatever its declared type. */
export async function readJsonOrNothing(
  c: ApiContext,
  bounds: BodyBounds,
  arrivals: Arrivals,
): Promise<JsonBody | undefined> {
  return hasBody(c) ? readParsed(c, bounds, arrivals, (body) => body) : undefined;
}

async function readParsed<T>(
  c: ApiContext,
  bounds: BodyBounds,
  arrivals: Arrivals,
  check: (body: JsonBody | undefined) => T | Promise<T>,
): Promise<T> {
  const holder = holderOf(c);
  const room = arrivals.bodies.meter(holder, bounds.of);
  try {
    const { bytes, keys, weight } = await readBytes(c, bounds, room);
    if (bytes.length === 0) return await check(undefined);
    requireJson(c);
    const large = bytes.length > at_once_bytes_max;
    const rest = () => arrivals.turns.take(holder);
    // Each step of a large one has its own turn of the event loop, as does what is done with it afterwards.
    if (large) await rest();
    const { text, value } = parseJson(bytes);
    if (large) await rest();
    if (countKeys(value) !== keys) await refuseRepeatedKeys(text, rest);
    if (large) await rest();
    return await check({ value, bytes: bytes.length, weight });
  } finally {
    room.release();
  }
}

/** 415 unless the headers say JSON in UTF-8. A request without a body needs no type: it is refused as empty. */
function requireJson(c: ApiContext): void {
  if (c.req.header("content-type") === undefined && !hasBody(c) && c.req.header("content-encoding") === undefined)
    return;
  requireMedia(c, ["application/json"], "not_json");
}

function hasBody(c: ApiContext): boolean {
  const headers = incomingOf(c)?.headers;
  return headers ? bringsBody(headers) : c.req.raw.body !== null;
}

/** Whether a body follows the headers of a request. */
export function bringsBody(headers: IncomingHttpHeaders): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}
