import { isUtf16, limits } from "@atlasqueue/contract";
import { incomingOf, type ApiContext } from "../context.ts";
import { ProblemError } from "../answers/problem.ts";
import { readBytes } from "./read-bytes.ts";
import { requireMedia } from "./media.ts";

/** A parsed body, and how many bytes it had. */
export type JsonBody = { value: unknown; bytes: number };

/**
 * Read and parse a JSON body of at most `bytes_max`; a larger one is refused without reading it to the end. Throws
 * `ProblemError` for anything but JSON in UTF-8.
 *
 * @example
 * const { value } = await readJson(c, 1_048_576);
 */
export async function readJson(c: ApiContext, bytes_max: number): Promise<JsonBody> {
  requireJson(c);
  // An empty text is refused like any other that is no JSON.
  return (await readParsed(c, bytes_max)) ?? { value: parseJson(new Uint8Array()), bytes: 0 };
}

/** For routes with an optional body: undefined for none, whatever its declared type. */
export async function readJsonOrNothing(c: ApiContext, bytes_max: number): Promise<JsonBody | undefined> {
  return hasBody(c) ? readParsed(c, bytes_max) : undefined;
}

async function readParsed(c: ApiContext, bytes_max: number): Promise<JsonBody | undefined> {
  const bytes = await readBytes(c, bytes_max);
  if (bytes.length === 0) return undefined;
  requireJson(c);
  return { value: parseJson(bytes), bytes: bytes.length };
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

/** What JSON in UTF-8 says. Throws `ProblemError` for anything else, and for too many values. `what` is for errors. */
export function parseJson(bytes: Uint8Array, what = "The body"): unknown {
  const text = decode(bytes, what);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ProblemError("malformed_json", text === "" ? `${what} is empty` : reason.slice(0, 200).toWellFormed());
  }
  requireFewValues(value);
  return value;
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

/** 413 for more keys or values than are checked and stored in a moment. */
function requireFewValues(value: unknown): void {
  const { json_keys_max, json_values_max } = limits;
  let [keys, values] = [0, 0];
  // No recursion: a body may nest deeper than the stack goes.
  const left: unknown[] = [value];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (typeof next !== "object" || next === null) continue;
    const inner: unknown[] = Object.values(next);
    values += inner.length;
    if (!Array.isArray(next)) keys += inner.length;
    if (keys > json_keys_max || values > json_values_max)
      throw new ProblemError(
        "too_large",
        `The body may have ${json_keys_max} keys and ${json_values_max} values of JSON at most; send more than one request`,
      );
    for (const one of inner) if (typeof one === "object" && one !== null) left.push(one);
  }
}
