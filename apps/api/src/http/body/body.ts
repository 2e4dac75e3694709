import { setImmediate as nextTurn } from "node:timers/promises";
import { isUtf16 } from "@atlasqueue/contract";
import { incomingOf, type ApiContext } from "../context.ts";
import type { Memory } from "../gate.ts";
import { weightOfJson } from "./json-size.ts";
import { ProblemError } from "../answers/problem.ts";
import { readBytes } from "./read-bytes.ts";
import { requireMedia } from "./media.ts";

/** A parsed body, and how many bytes it had. */
export type JsonBody = { value: unknown; bytes: number };

/** Bodies up to this size always parse in less than a millisecond. Each step of a larger one has its own turn of the event loop. */
export const at_once_bytes_max = 8_192;

/**
 * Read and parse a JSON body of at most `bytes_max`; a larger one is refused without reading it to the end. Throws
 * `ProblemError` for anything but JSON in UTF-8.
 *
 * @example
 * const { value } = await readJson(c, 1_048_576, gate.memory(tenant));
 */
export async function readJson(c: ApiContext, bytes_max: number, memory: Memory): Promise<JsonBody> {
  requireJson(c);
  // An empty text is refused like any other that is no JSON.
  return (await readParsed(c, bytes_max, memory)) ?? { value: parseJson(new Uint8Array()), bytes: 0 };
}

/** For routes with an optional body: undefined for none, whatever its declared type. */
export async function readJsonOrNothing(
  c: ApiContext,
  bytes_max: number,
  memory: Memory,
): Promise<JsonBody | undefined> {
  return hasBody(c) ? readParsed(c, bytes_max, memory) : undefined;
}

async function readParsed(c: ApiContext, bytes_max: number, memory: Memory): Promise<JsonBody | undefined> {
  const bytes = await readBytes(c, bytes_max, memory);
  if (bytes.length === 0) return undefined;
  requireJson(c);
  return { value: await parseWeighed(bytes, "The body", memory), bytes: bytes.length };
}

/** Parse JSON with a bound on its keys and values. Throws `ProblemError`. `what` is for errors. */
export async function parseWeighed(bytes: Uint8Array, what: string, memory: Memory): Promise<unknown> {
  const large = bytes.length > at_once_bytes_max;
  if (large) await nextTurn();
  const weight = weightOfJson(bytes);
  if (large) memory.add(weight);
  return parseJson(bytes, what);
}

/** 415 unless the headers say JSON in UTF-8. A request without a body needs no type: it is refused as empty. */
function requireJson(c: ApiContext): void {
  if (c.req.header("content-type") === undefined && !hasBody(c) && c.req.header("content-encoding") === undefined)
    return;
  requireMedia(c, ["application/json"], "not_json");
}

function hasBody(c: ApiContext): boolean {
  const headers = incomingOf(c)?.headers;
  if (!headers) return c.req.raw.body !== null;
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

const decoder = new TextDecoder("utf-8", { fatal: true });

/** What JSON in UTF-8 says. Throws `malformed_json`; `what` it is said of, such as "The body". */
function parseJson(bytes: Uint8Array, what = "The body"): unknown {
  const text = decode(bytes, what);
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ProblemError("malformed_json", text === "" ? `${what} is empty` : reason.slice(0, 200).toWellFormed());
  }
}

function decode(bytes: Uint8Array, what: string): string {
  if (isUtf16(bytes)) throw new ProblemError("malformed_json", `${what} is UTF-16, not UTF-8`);
  try {
    // A byte order mark is skipped, as RFC 8259 allows.
    return decoder.decode(bytes);
  } catch {
    throw new ProblemError("malformed_json", `${what} is not valid UTF-8`);
  }
}
