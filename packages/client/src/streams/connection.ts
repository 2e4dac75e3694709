import type { LastLine, RefusedLine, TakenLine } from "@atlasqueue/contract";
import { pause } from "@atlasqueue/runtime";
import { TimeoutError, UnexpectedAnswerError } from "../errors.ts";
import { networkError } from "../http/error-of.ts";
import { within } from "../http/time.ts";
import { hiderOf, openAnswer, type TransportOptions } from "../http/transport.ts";
import type { Outbox } from "./outbox.ts";

type Answer = TakenLine | RefusedLine | LastLine;

/** Longer than the server's rate limit usually has a stream wait. */
const silence_ms_max = 90_000;
/** Sent together. */
const lines_max = 200;
const answer_chars_max = 1_048_576;

export const what = "POST /v1/jobs/stream";

/**
 * One connection: sends the lines of the outbox, first those that have no answer yet, and yields what is said to them.
 * It ends with the last line; throws when it breaks before that.
 */
export async function* connectStream(
  own: TransportOptions,
  outbox: Outbox,
  { signal, timeoutMs }: { signal: AbortSignal; timeoutMs: number },
): AsyncGenerator<Answer, void, undefined> {
  const call = {
    method: "POST",
    path: "/v1/jobs/stream",
    repeat: "always",
    headers: { "content-type": "application/x-ndjson", accept: "application/x-ndjson" },
    stream: linesOf(outbox, signal),
  } as const;
  const late = () => silence(timeoutMs);
  const response = await within(timeoutMs, signal, () => openAnswer(own, call, signal), late);
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  for (let rest = ""; reader;) {
    const { value, done } = await hear(reader, outbox, signal);
    if (done) break;
    const parts = (rest + decoder.decode(value, { stream: true })).split("\n");
    rest = parts.pop() ?? "";
    if (rest.length > answer_chars_max) throw new UnexpectedAnswerError(`${what}: an answer has no end`, {});
    for (const part of parts) {
      const answer = parseAnswer(part);
      yield answer;
      if ("end" in answer) return;
    }
  }
  throw networkError(what, new Error("the answer broke off"), hiderOf(own));
}

const silence = (ms: number) => new TimeoutError(`${what}: no data for ${ms} ms`);

/**
 * The next that the server says. With nothing to be answered it may say nothing; it owes an answer from when a line is
 * taken, be it long after this began to wait.
 */
async function hear(reader: ReadableStreamDefaultReader<Uint8Array>, outbox: Outbox, signal: AbortSignal) {
  const began_at = performance.now();
  const late = silence(silence_ms_max);
  let heard: ReturnType<typeof reader.read> | undefined;
  const read = () => (heard ??= reader.read());
  for (let wait_ms = silence_ms_max; ;) {
    try {
      return await within(wait_ms, signal, read, () => late);
    } catch (error) {
      const now = performance.now();
      const owed_since = Math.max(began_at, outbox.unanswered[0]?.taken_at ?? now);
      wait_ms = owed_since + silence_ms_max - now;
      if (error !== late || wait_ms <= 0) throw error;
    }
  }
}

function parseAnswer(text: string): Answer {
  try {
    const answer = JSON.parse(text) as Answer | null;
    if (typeof answer === "object" && answer !== null && ("line" in answer || "end" in answer)) return answer;
  } catch {
    // Said below.
  }
  throw new UnexpectedAnswerError(`${what}: this is no answer to a line: is this AtlasQueue's URL?`, {});
}

/** The body of one connection. It takes jobs only when they can be sent. */
function linesOf(outbox: Outbox, signal: AbortSignal): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const first = outbox.answered;
  let sent = 0;
  const unsent = () => outbox.unanswered.slice(first + sent - outbox.answered);
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (unsent().length === 0 && !outbox.exhausted) await outbox.more();
        // What can be had at once goes along.
        const soon = pause(0);
        let waiting = false;
        void soon.then(() => (waiting = true));
        while (!waiting && !outbox.exhausted && unsent().length < lines_max) await Promise.race([outbox.more(), soon]);
        // The next connection sends it.
        if (signal.aborted) return;
        const lines = unsent().slice(0, lines_max);
        sent += lines.length;
        if (lines.length > 0) controller.enqueue(encoder.encode(lines.map(({ text }) => text).join("")));
        else if (outbox.exhausted) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}
