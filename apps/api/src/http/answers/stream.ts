import { everywhere } from "./answer.ts";
import type { ProblemError } from "./problem.ts";
import type { ApiContext } from "../context.ts";

/**
 * An answer that goes on. Cancelling the body must end what feeds it. `end` is called when the caller hangs up, or with
 * the refusal when their token ends: then the stream says so and ends.
 */
export type Stream = {
  body: ReadableStream<Uint8Array>;
  content_type: string;
  end(refusal: ProblemError | undefined): void;
};

/** Proxies that collect answers before passing them on are asked not to. */
const unbuffered = { "x-accel-buffering": "no" };

export function answerStream(c: ApiContext, { body, content_type }: Stream): Response {
  // Whoever asks for the head alone reads nothing of it.
  if (c.req.method === "HEAD") void body.cancel();
  const headers = { "content-type": content_type, "x-request-id": c.get("request_id") };
  return new Response(c.req.method === "HEAD" ? null : body, {
    headers: { ...headers, ...everywhere, ...unbuffered, ...c.get("limit_headers") },
  });
}
