import type { IncomingMessage } from "node:http";
import { incomingOf, type ApiContext } from "../context.ts";
import { ProblemError } from "../answers/problem.ts";

/** The bytes of a body, counted as they come. One with more than `bytes_max` is refused with 413, without reading it to the end. */
export async function readBytes(c: ApiContext, bytes_max: number): Promise<Uint8Array> {
  const incoming = incomingOf(c);
  const declared = c.req.header("content-length");
  if (declared !== undefined && Number(declared) > bytes_max) throw tooLarge(bytes_max);
  if (incoming) return readIncoming(incoming, bytes_max);
  // Inside another program, which gives us a web request.
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of c.req.raw.body ?? []) {
    length += chunk.length;
    if (length > bytes_max) throw tooLarge(bytes_max);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}

/** Straight from Node: a web stream would wrap and copy every body. */
function readIncoming(incoming: IncomingMessage, bytes_max: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const listen = (chunk: Buffer) => {
      length += chunk.length;
      chunks.push(chunk);
      if (length <= bytes_max) return;
      incoming.off("data", listen);
      reject(tooLarge(bytes_max));
    };
    // Also when all of it has arrived: what was not read by then is gone with the connection.
    const gone = () => reject(new ProblemError("request_timeout", "The body did not arrive completely"));
    if (incoming.destroyed) return gone();
    incoming.on("data", listen);
    incoming.on("end", () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, length)));
    incoming.on("error", gone);
    incoming.on("close", () => incoming.readableEnded || gone());
  });
}

function tooLarge(bytes_max: number): ProblemError {
  return new ProblemError("too_large", `The body may have ${bytes_max} bytes at most`);
}
