import type { Tracing } from "@atlasqueue/contract";
import { pause } from "@atlasqueue/runtime";
import { keyHeader } from "../idempotency-key.ts";
import { AtlasQueueError, TimeoutError, UnexpectedAnswerError } from "../errors.ts";
import { errorOfAnswer, networkError } from "./error-of.ts";
import { nextTryInMs, type Repeat } from "./retry.ts";
import { within } from "./time.ts";

/** For one call, in place of the client's own. */
export type CallOptions = {
  /** Aborting rejects the call with the signal's reason. */
  signal?: AbortSignal;
  /**
   * For one try. A call that waits on the server gets this on top of that wait. Default: the client's own; of a call that
   * leases, a third of its lease at most.
   */
  timeoutMs?: number;
  /** Tries after the first. */
  retries?: number;
  /** No try starts later than this after the first. */
  retryMaxMs?: number;
};

/** For an act that may be sent again, even by another process: it is done once for its key. */
export type ActOptions = CallOptions & {
  /** 1 to 512 printable ASCII characters. With it the act is sent again after any passing failure. */
  idempotencyKey?: string;
  /** Called when the key had been used for this act: nothing was done now, and the answer is how things are. */
  onReplayed?: () => void;
};

export type TransportOptions = {
  url: string;
  token: string | undefined;
  headers: Record<string, string>;
  fetch: typeof fetch;
  timeoutMs: number;
  retries: number;
  retryMaxMs: number;
  tracing: Tracing | undefined;
};

export type Call = {
  method: "GET" | "POST" | "PUT" | "DELETE";
  path: string;
  query?: Record<string, string | number | undefined>;
  /** Serialized once, so that every try sends the same. */
  body?: string;
  /** Instead of a body: streamed, while the answer is read. */
  stream?: ReadableStream<Uint8Array>;
  headers?: Record<string, string>;
  repeat: Repeat;
  /** How long the server may hold the answer back. */
  hold_ms?: number;
  /** Where the caller names no deadline: its answer is of no use after this and `hold_ms`. No rest before a repeat is longer. */
  answer_ms_max?: number;
  /** Called before each further try, with why the one before it failed. */
  onRepeat?: (error: unknown) => unknown;
};

type Answer = { status: number; body: unknown };
export type Send = (call: Call, options?: ActOptions) => Promise<Answer>;

/** Sends requests: each try has a deadline, passing failures are retried, and every failure is a typed error. */
export function createTransport(own: TransportOptions): Send {
  const hide = hiderOf(own);

  const once = async (call: Call, what: string, signal: AbortSignal, onReplayed?: () => void): Promise<Answer> => {
    const response = await request(own, call, signal);
    const text = await response.text();
    if (!response.ok) throw errorOfAnswer(what, response, hide(text));
    if (onReplayed && response.headers.get("idempotency-replayed") === "true") onReplayed();
    return { status: response.status, body: response.status === 204 ? {} : parseAnswer(what, response.status, text) };
  };

  return async (asked, options = {}) => {
    const call = keyed(asked, options.idempotencyKey);
    const { signal, retries = own.retries, retryMaxMs = own.retryMaxMs } = options;
    const timeoutMs = options.timeoutMs ?? Math.min(own.timeoutMs, call.answer_ms_max ?? Infinity);
    const what = `${call.method} ${call.path}`;
    const timeout_ms = Math.round(timeoutMs + (call.hold_ms ?? 0));
    const late = () => new TimeoutError(`${what}: no response within ${timeout_ms} ms`);
    const started = performance.now();
    for (let tries = 1; ; tries += 1) {
      try {
        return await within(
          timeout_ms,
          signal,
          (within_signal) => once(call, what, within_signal, options.onReplayed),
          late,
        );
      } catch (thrown) {
        signal?.throwIfAborted();
        const error = thrown instanceof AtlasQueueError ? thrown : networkError(what, thrown, hide);
        const left_ms = retryMaxMs - (performance.now() - started);
        const wait_ms = nextTryInMs(
          error,
          { repeat: call.repeat, tries, retries, left_ms, rest_ms_max: call.answer_ms_max },
          Math.random(),
        );
        if (wait_ms === undefined) throw error;
        await pause(wait_ms, signal);
        signal?.throwIfAborted();
        call.onRepeat?.(error);
      }
    }
  };
}

function keyed(call: Call, key: string | undefined): Call {
  if (key === undefined) return call;
  return { ...call, repeat: "always", headers: { ...call.headers, "idempotency-key": keyHeader(key) } };
}

/** The headers that carry the span active here to the API. */
function traceHeaders(tracing: Tracing | undefined): Record<string, string> {
  const active = tracing?.on() ? tracing.active() : undefined;
  if (!active) return {};
  const { traceparent, tracestate } = active;
  return { traceparent, ...(tracestate !== null && { tracestate }) };
}

/** One try, up to the answer's headers. */
function request(
  own: Pick<TransportOptions, "url" | "token" | "headers" | "fetch" | "tracing">,
  call: Call,
  signal: AbortSignal,
): Promise<Response> {
  return own.fetch(urlOf(own.url, call), {
    method: call.method,
    headers: {
      accept: "application/json",
      ...(call.body === undefined ? {} : { "content-type": "application/json" }),
      ...(own.token === undefined ? {} : { authorization: `Bearer ${own.token}` }),
      ...traceHeaders(own.tracing),
      ...own.headers,
      ...call.headers,
    },
    ...(call.body === undefined ? {} : { body: call.body }),
    // "half" is all that there is; Node, Deno and Bun let the answer be read meanwhile nevertheless.
    ...(call.stream && { body: call.stream, duplex: "half" }),
    // Followed, a redirected POST would come back as the answer to a GET of something else.
    redirect: "error",
    signal,
  });
}

/**
 * One try whose answer is read as it comes. Any but a good one is thrown as the error that it stands for; its text is
 * read here, as it has no other deadline.
 */
export async function openAnswer(own: TransportOptions, call: Call, signal: AbortSignal): Promise<Response> {
  const response = await request(own, call, signal);
  if (response.ok) return response;
  throw errorOfAnswer(`${call.method} ${call.path}`, response, hiderOf(own)(await response.text()));
}

/** Takes the token out of what is said about a failure. */
export function hiderOf({ token }: Pick<TransportOptions, "token">): (text: string) => string {
  return (text) => (token ? text.replaceAll(token, "[token]") : text);
}

function urlOf(base: string, { path, query = {} }: Call): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  );
  return `${base}${path}${pairs.length > 0 ? `?${new URLSearchParams(pairs)}` : ""}`;
}

/** Not checked against a schema: an older client must accept a newer server's fields. */
function parseAnswer(what: string, status: number, text: string): unknown {
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === "object" && body !== null) return body;
  } catch {
    // Reported below.
  }
  throw new UnexpectedAnswerError(`${what}: ${status}, but the body is not a JSON object: is this AtlasQueue's URL?`, {
    status,
  });
}

/** A name as one segment of a path. Throws a TypeError for names that a URL would read as another path. */
export function segment(name: string): string {
  if (name === "" || name === "." || name === "..") throw new TypeError(`not an id or a name: ${JSON.stringify(name)}`);
  return encodeURIComponent(name);
}
