import type { IncomingMessage } from "node:http";
import { incomingOf, type ApiContext } from "./context.ts";
import { lingerAfterAnswer } from "./linger.ts";
import { ProblemError } from "./problem.ts";

/** A parsed body and how many bytes it had. */
export type JsonBody = { value: unknown; bytes: number };

/** Up to here a body is no larger than what Node and the system keep for its connection anyway. */
const small_bytes_max = 65_536;

const decoder = new TextDecoder("utf-8", { fatal: true });

/**
 * Read and parse a JSON body of at most `bytes_max` bytes; a longer one is refused without reading it to its end.
 * Throws `ProblemError` for what is not JSON in UTF-8; what the JSON says is for `validate` to check.
 *
 * @example
 * const { value } = await readJson(c, 1_048_576);
 */
export async function readJson(c: ApiContext, bytes_max: number): Promise<JsonBody> {
  requireJson(c);
  const bytes = await readBytes(c, bytes_max);
  return { value: parse(decode(bytes)), bytes: bytes.length };
}

/** For routes that take a body or none: undefined for none, whatever type it is said to be of. */
export async function readJsonOrNothing(c: ApiContext, bytes_max: number): Promise<JsonBody | undefined> {
  if (!hasBody(c)) return undefined;
  const bytes = await readBytes(c, bytes_max);
  if (bytes.length === 0) return undefined;
  requireJson(c);
  return { value: parse(decode(bytes)), bytes: bytes.length };
}

async function readBytes(c: ApiContext, bytes_max: number): Promise<Uint8Array> {
  const incoming = incomingOf(c);
  const declared = c.req.header("content-length");
  if (declared !== undefined && Number(declared) > bytes_max) throw tooLarge(bytes_max, incoming);
  const bytes = incoming ? await withRoom(c, incoming, bytes_max) : new Uint8Array(await c.req.arrayBuffer());
  if (bytes.length > bytes_max) throw tooLarge(bytes_max, incoming);
  return bytes;
}

/** Small bodies always have room; large ones and those whose length nobody said share what there is. */
async function withRoom(c: ApiContext, incoming: IncomingMessage, bytes_max: number): Promise<Uint8Array> {
  const declared = incoming.headers["content-length"];
  if (declared !== undefined) {
    const read = () => readIncoming(incoming, bytes_max);
    return Number(declared) <= small_bytes_max ? read() : c.get("bodies").hold(Number(declared), read);
  }
  const meter = c.get("bodies").meter();
  return readIncoming(incoming, bytes_max, meter.add).finally(meter.release);
}

/** 415 unless the headers say JSON in UTF-8. A request without a body needs no type: it is refused as empty. */
function requireJson(c: ApiContext): void {
  const type = c.req.header("content-type");
  if (c.req.header("content-encoding") !== undefined)
    throw new ProblemError("not_json", "The body must be sent without a Content-Encoding");
  if (type === "application/json") return;
  if (type === undefined && !hasBody(c)) return;
  const [media = "", ...parameters] = (type ?? "")
    .toLowerCase()
    .split(";")
    .map((part) => part.trim());
  const foreign = parameters.some((part) => part.startsWith("charset=") && !/^charset="?utf-?8"?$/.test(part));
  if (media === "application/json" && !foreign) return;
  const got = type === undefined ? "got none" : `got ${JSON.stringify(type.slice(0, 100))}`;
  throw new ProblemError("not_json", `Content-Type must be application/json, in UTF-8; ${got}`);
}

function hasBody(c: ApiContext): boolean {
  const headers = incomingOf(c)?.headers;
  if (!headers) return c.req.raw.body !== null;
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

/** Straight from Node: as a web stream every body would be wrapped and copied. */
function readIncoming(
  incoming: IncomingMessage,
  bytes_max: number,
  arrived: (bytes: number) => void = () => {},
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const take = (chunk: Buffer) => {
      bytes += chunk.length;
      try {
        if (bytes > bytes_max) throw tooLarge(bytes_max, incoming);
        arrived(chunk.length);
        chunks.push(chunk);
      } catch (error) {
        incoming.off("data", take);
        reject(error as Error);
      }
    };
    const cutOff = () => {
      if (!incoming.complete) reject(new ProblemError("request_timeout", "The body did not arrive completely"));
    };
    if (incoming.destroyed) return cutOff();
    incoming.on("data", take);
    incoming.on("end", () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
    incoming.on("error", cutOff);
    incoming.on("close", cutOff);
  });
}

function tooLarge(bytes_max: number, incoming: IncomingMessage | undefined): ProblemError {
  if (incoming) lingerAfterAnswer(incoming);
  const headers = { connection: "close" };
  return new ProblemError("too_large", `The body may have ${bytes_max} bytes at most`, { headers });
}

function decode(bytes: Uint8Array): string {
  try {
    // A byte order mark is skipped, as RFC 8259 allows.
    return decoder.decode(bytes);
  } catch {
    throw new ProblemError("malformed_json", "The body is not valid UTF-8");
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ProblemError("malformed_json", text === "" ? "The body is empty" : reason.slice(0, 200).toWellFormed());
  }
}
