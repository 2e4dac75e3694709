import { constants } from "node:crypto";
import http from "node:http";
import https from "node:https";
import type { LookupFunction, Socket } from "node:net";
import { DEFAULT_CIPHERS } from "node:tls";

/** All that is read of what a receiver sends: 1xx answers, the answer, and how they are framed. */
const bytes_max = 65_536;
/** A smaller read counts as one of this size, as it costs no less. */
const bytes_of_read_min = 64;

export type PostAnswer = { status: number; retry_after: string | undefined };
export type PostOptions = {
  headers: Record<string, string>;
  lookup: LookupFunction;
  signal: AbortSignal;
  /** For the answer, its body aside. Default: until `signal` aborts. */
  timeout_ms?: number;
};

/**
 * POST a JSON text and read the status; the answer's body is discarded. Rejects when there is none in time, or in the
 * first 64 KiB. On `node:http` rather than `fetch`, as only there can a lookup decide which addresses may be connected to.
 */
export function postJson(
  url: URL,
  text: string,
  { headers, lookup, signal, timeout_ms }: PostOptions,
): Promise<PostAnswer> {
  const { request } = url.protocol === "https:" ? https : http;
  return new Promise((resolve, reject) => {
    const tooMuch = () =>
      void sent.destroy(new Error("the receiver has sent too much without a final answer (1xx are none)"));
    const sent = request(
      url,
      {
        method: "POST",
        headers: {
          "content-type": "application/json",
          ...lowerCased(headers),
          "content-length": Buffer.byteLength(text),
        },
        signal,
        // A socket of its own: one that other code in the process keeps open to the same name was never checked.
        agent: false,
        lookup,
        // With DHE the receiver names the numbers to reckon with, as long as it likes: a second for 5 KiB.
        ciphers: `${DEFAULT_CIPHERS}:!kDHE`,
        secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
      },
      (answer) => {
        // The status is the answer: an endless body must not hold up the job.
        answer.on("error", () => {});
        answer.resume();
        const abandoned = setTimeout(() => sent.destroy(), 1_000);
        answer.once("close", () => clearTimeout(abandoned));
        resolve({ status: answer.statusCode ?? 0, retry_after: answer.headers["retry-after"] });
      },
    );
    sent.once("socket", (socket) => boundReads(socket, tooMuch));
    const late = () => sent.destroy(new Error(`the receiver has not answered within ${(timeout_ms ?? 0) / 1_000} s`));
    const deadline = timeout_ms === undefined ? undefined : setTimeout(late, timeout_ms);
    sent.once("error", (error) =>
      reject(signal.aborted && signal.reason instanceof Error ? signal.reason : ofOne(error)),
    );
    sent.on("error", () => {});
    // An answer too, which Node tells nobody else of.
    sent.once("upgrade", ({ statusCode = 101 }, socket) => {
      socket.destroy();
      resolve({ status: statusCode, retry_after: undefined });
    });
    // Whatever else ends it: after an answer or an error this changes nothing.
    sent.once("close", () => {
      clearTimeout(deadline);
      reject(new Error("the receiver's connection ended without an answer"));
    });
    sent.end(text);
  });
}

/**
 * Node bounds a head, a chunk's extensions and the trailers, but not how many 1xx answers and empty lines come before the
 * head, nor the body.
 */
function boundReads(socket: Socket, tooMuch: () => void): void {
  let bytes_left = bytes_max;
  socket.on("data", ({ length }: Buffer) => {
    bytes_left -= Math.max(length, bytes_of_read_min);
    // After the other listeners, as these bytes may have the answer in them, and before the next read.
    if (bytes_left <= 0) process.nextTick(tooMuch);
  });
}

/** Where no address of a name can be reached, Node's error of them all says nothing by itself. */
const ofOne = (error: Error): Error =>
  error instanceof AggregateError && error.errors[0] instanceof Error ? error.errors[0] : error;

/** The names that frame the message are ours to set. */
function lowerCased(headers: Record<string, string>): Record<string, string> {
  const own = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return Object.fromEntries(
    own.filter(([name]) => !["host", "content-length", "transfer-encoding", "connection"].includes(name)),
  );
}
