import type { IncomingMessage } from "node:http";
import { limits } from "@atlasqueue/contract";
import { incomingOf, type ApiContext } from "../context.ts";
import { createGathered } from "./gathered.ts";
import { createJsonMeter, type JsonMeter } from "./json-meter.ts";
import type { Kind } from "../kept-room.ts";
import { lingerAfterAnswer } from "./linger.ts";
import { ProblemError } from "../answers/problem.ts";

export type BodyBounds = {
  /** The limit on what is kept of the body. */
  bytes_max: number;
  /** The depth at which objects have an `error`, whose text may be far longer than what is kept. */
  error_at?: number | undefined;
  /** Whether it comes first in the room for bodies. */
  of?: Kind;
};

/** Up to this size a body is no larger than what is counted for the headers of its request (see `oneAtATime`). */
const small_bytes_max = 4_096;

type Room = { add(bytes: number): void };
type Read = { bytes: Uint8Array; keys: number; weight: number };

/**
 * The bytes of a body, as far as they are kept. Room is taken for what has arrived, never for what was declared; and for
 * what it will take when it is parsed, which for tiny values is twenty times as much.
 */
export async function readBytes(c: ApiContext, bounds: BodyBounds, room: Room): Promise<Read> {
  const incoming = incomingOf(c);
  const sent_max = bounds.error_at === undefined ? bounds.bytes_max : limits.error_body_bytes_max;
  const declared = c.req.header("content-length");
  if (declared !== undefined && Number(declared) > sent_max) throw cutOff(tooLarge(sent_max), incoming);
  const meter = createJsonMeter(bounds.error_at);
  const take = taker(bounds.bytes_max, sent_max, meter, room);
  // Without a server there is nothing to wait for: the bytes are here.
  const bytes = incoming ? await readIncoming(incoming, take) : take(new Uint8Array(await c.req.arrayBuffer()));
  return { bytes, keys: meter.keys(), weight: meter.weight() };
}

/** What to keep of each chunk. Throws when it is one too many. */
function taker(bytes_max: number, sent_max: number, meter: JsonMeter, room: Room) {
  let sent = 0;
  let kept = 0;
  let counted = 0;
  return (chunk: Uint8Array): Uint8Array => {
    sent += chunk.length;
    if (sent > sent_max) throw tooLarge(sent_max);
    const keep = meter.push(chunk);
    kept += keep.length;
    if (kept > bytes_max) throw tooLarge(bytes_max);
    const over = kept + meter.weight() - small_bytes_max - counted;
    if (over > 0) {
      room.add(over);
      counted += over;
    }
    return keep;
  };
}

/** Straight from Node: a web stream would wrap and copy every body. */
function readIncoming(incoming: IncomingMessage, take: (chunk: Uint8Array) => Uint8Array): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const gathered = createGathered();
    const listen = (chunk: Buffer) => {
      try {
        gathered.add(take(chunk));
      } catch (error) {
        incoming.off("data", listen);
        reject(cutOff(error as Error, incoming));
      }
    };
    // Also when all of it has arrived: what was not read by then is gone with the connection.
    const gone = () => reject(new ProblemError("request_timeout", "The body did not arrive completely"));
    if (incoming.destroyed) return gone();
    incoming.on("data", listen);
    incoming.on("end", () => {
      incoming.off("close", gone);
      resolve(gathered.take());
    });
    incoming.on("error", gone);
    incoming.on("close", gone);
  });
}

function tooLarge(bytes_max: number): ProblemError {
  return new ProblemError("too_large", `The body may have ${bytes_max} bytes at most`);
}

/** The same, for a client that may still be sending: we listen for a moment, then disconnect. */
function cutOff(error: Error, incoming: IncomingMessage | undefined): Error {
  if (!incoming || incoming.complete) return error;
  lingerAfterAnswer(incoming);
  if (error instanceof ProblemError) error.extras.headers = { ...error.extras.headers, connection: "close" };
  return error;
}
