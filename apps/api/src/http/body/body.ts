import { isUtf16, limits } from "@atlasqueue/contract";
import { incomingOf, type ApiContext } from "../context.ts";
import type { Weigh } from "../gate.ts";
import { ProblemError } from "../answers/problem.ts";
import { readBytes } from "./read-bytes.ts";

/** A parsed body, and how many bytes it had. */
export type JsonBody = { value: unknown; bytes: number };

/**
 * Read and parse a JSON body of at most `bytes_max`; a larger one is refused without reading it to the end. Throws
 * `ProblemError` for anything but JSON in UTF-8. None, whatever its declared type, is an empty object if it is optional.
 *
 * @example
 * const { value } = await readJson(c, 1_048_576, { weigh });
 */
export async function readJson(
  c: ApiContext,
  bytes_max: number,
  { optional = false, weigh }: { optional?: boolean | undefined; weigh: Weigh },
): Promise<JsonBody> {
  if (!optional) requireJson(c);
  const bytes = hasBody(c) ? await readBytes(c, bytes_max) : new Uint8Array();
  if (optional && bytes.length === 0) return { value: {}, bytes: 0 };
  if (optional) requireJson(c);
  weigh(bytes.length);
  return { value: parseJson(bytes, "The body", weigh), bytes: bytes.length };
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

/** An empty object, with its place; an array takes 40 bytes, a key with a small value about as much. */
const value_bytes = 64;
/** The values of a shorter text take less than a place. */
const counted_chars_min = 4_096;

/**
 * What JSON in UTF-8 says. Its values are weighed, as a text of tiny ones takes twenty times as much memory. Throws
 * `ProblemError`; `what` it is said of, such as "The body".
 */
export function parseJson(bytes: Uint8Array, what: string, weigh: Weigh): unknown {
  let text = "";
  let value: unknown;
  try {
    // A byte order mark is skipped, as RFC 8259 allows.
    text = decoder.decode(bytes);
    value = JSON.parse(text);
  } catch (error) {
    throw new ProblemError("malformed_json", whyMalformed(error as Error, bytes, text, what));
  }
  if (text.length > counted_chars_min) weigh(countFew(value) * value_bytes);
  return value;
}

function whyMalformed(error: Error, bytes: Uint8Array, text: string, what: string): string {
  if (isUtf16(bytes)) return `${what} is UTF-16, not UTF-8`;
  if (error instanceof TypeError) return `${what} is not valid UTF-8`;
  return text === "" ? `${what} is empty` : error.message.slice(0, 200).toWellFormed();
}

/** How many values there are: what comes after costs far more for a megabyte of tiny keys than for one of text. */
function countFew(body: unknown): number {
  const { json_keys_max, json_values_max, json_depth_max } = limits;
  let [keys, values] = [0, 0];
  const count = (value: unknown, depth_left: number): void => {
    values += 1;
    // What nests deeper is refused for that.
    if (typeof value !== "object" || value === null || depth_left === 0) return;
    const items: unknown[] = Object.values(value);
    if (!Array.isArray(value)) keys += items.length;
    for (const item of items) count(item, depth_left - 1);
  };
  count(body, json_depth_max);
  if (keys <= json_keys_max && values <= json_values_max) return values;
  const most = `${json_keys_max} keys and ${json_values_max} values of JSON at most`;
  throw new ProblemError("too_large", `The body may have ${most}; send more than one request`);
}

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

/** 413 for a part of a body that is too large to store. Counted as compact JSON, unless the body is small. */
export function requireSmall(value: unknown, pointer: string, body_bytes: number, bytes_max: number): void {
  if (value === undefined || body_bytes <= bytes_max || Buffer.byteLength(JSON.stringify(value)) <= bytes_max) return;
  const message = `may have ${bytes_max} bytes of JSON at most; keep large data elsewhere and send where it is`;
  throw new ProblemError("too_large", `${pointer} ${message}`, { errors: [{ pointer, message }] });
}
