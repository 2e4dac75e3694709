import { AtlasQueueError, TimeoutError, UnexpectedAnswerError } from "../errors.ts";
import { networkError } from "./error-of.ts";
import { within } from "./time.ts";
import { hiderOf, openAnswer, type Call, type CallOptions, type TransportOptions } from "./transport.ts";

/** A server-sent event: its name, and its data as text. */
type ServerEvent = { event: string; data: string };
export type OpenEvents = (
  call: Call,
  options?: Pick<CallOptions, "signal" | "timeoutMs">,
) => AsyncGenerator<ServerEvent>;

/** The server says something every 15 seconds, and be it that it is still there. */
const silence_ms_max = 45_000;
/** An event is a few kilobytes. */
const event_chars_max = 4 * 1_048_576;

/**
 * Listens to server-sent events over `fetch`, one connection long: it ends when the server ends it or the signal
 * aborts, and throws when it cannot be made or breaks.
 */
export function createEvents(own: TransportOptions): OpenEvents {
  const hide = hiderOf(own);
  return async function* open(call, { signal, timeoutMs = own.timeoutMs } = {}) {
    const what = `${call.method} ${call.path}`;
    if (signal?.aborted) return;
    const gone = new AbortController();
    const ending = signal ? AbortSignal.any([signal, gone.signal]) : gone.signal;
    const late = (ms: number) => () => new TimeoutError(`${what}: no data for ${ms} ms`);
    try {
      const headers = { ...call.headers, accept: "text/event-stream" };
      const asked = () => openAnswer(own, { ...call, headers }, ending);
      const response = await within(timeoutMs, ending, asked, late(timeoutMs));
      const reader = response.body?.getReader();
      if (!reader) return;
      const decoder = new TextDecoder();
      for (let rest = ""; ;) {
        const { value, done } = await within(silence_ms_max, ending, () => reader.read(), late(silence_ms_max));
        if (done) return;
        const parts = (rest + decoder.decode(value, { stream: true })).split("\n\n");
        rest = parts.pop() ?? "";
        if (rest.length > event_chars_max) throw new UnexpectedAnswerError(`${what}: an event has no end`, {});
        yield* parts.map(parseEvent).filter((event) => event !== undefined);
      }
    } catch (thrown) {
      if (signal?.aborted) return;
      throw thrown instanceof AtlasQueueError ? thrown : networkError(what, thrown, hide);
    } finally {
      // However it ends, the connection must not stay.
      gone.abort();
    }
  };
}

/** Undefined for what is no event: a comment, or the time to wait before connecting again. */
function parseEvent(text: string): ServerEvent | undefined {
  const fields = text.split("\n").map((line) => /^(event|data): ?(.*)$/.exec(line));
  const valueOf = (name: string) => fields.flatMap((field) => (field?.[1] === name ? [field[2] ?? ""] : []));
  const data = valueOf("data");
  return data.length === 0 ? undefined : { event: valueOf("event").at(-1) ?? "message", data: data.join("\n") };
}
