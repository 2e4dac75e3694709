import { pause } from "@atlasqueue/core/internal";
import type { Arriving } from "./arriving.ts";

/** A line of a body, counted from 1, blank ones too; without its end. */
export type Line = { number: number; bytes: Uint8Array };

/** Lines in order; `over` says that there are no more, and why. */
type Taken = { lines: Line[]; over?: "complete" | "idle" | "stopped" | { too_long: number } };

export type LineBounds = {
  line_bytes_max: number;
  /** In one take. */
  lines_max: number;
  /** How long to wait for a line to go on. */
  idle_ms: number;
};

export type LineReader = {
  /**
   * The lines that are there: one at least, unless it is over. Waits for them, until `stop` aborts. Rejects like the
   * body it reads.
   */
  take(stop: AbortSignal): Promise<Taken>;
};

const line_feed = 0x0a;
const blanks = new Set([0x20, 0x09, 0x0d]);
const nothing = Buffer.alloc(0);

/**
 * Cuts a body into lines while it arrives. It holds one piece of it, and the beginning of one line. Blank lines are
 * left out; what follows the last line's end is a line too when the body is complete.
 *
 * @example
 * const lines = createLineReader(body, { line_bytes_max: 300_000, lines_max: 500, idle_ms: 60_000 });
 * const { lines: first } = await lines.take(stop);
 */
export function createLineReader(body: Arriving, { line_bytes_max, lines_max, idle_ms }: LineBounds): LineReader {
  let piece: Uint8Array = nothing;
  let at = 0;
  /** The beginning of a line, from earlier pieces. */
  let begun: Uint8Array = nothing;
  let number = 0;
  let over: Taken["over"];
  let arriving: Promise<Uint8Array | undefined> | undefined;

  const finish = (bytes: Uint8Array): Uint8Array => {
    const line = begun.length === 0 ? bytes : Buffer.concat([begun, bytes]);
    begun = nothing;
    return line;
  };

  const add = (lines: Line[], bytes: Uint8Array): void => {
    number += 1;
    if (bytes.length > line_bytes_max) over = { too_long: number };
    else if (!bytes.every((byte) => blanks.has(byte))) lines.push({ number, bytes });
  };
  /** What the piece at hand has. */
  const cut = (lines: Line[]): void => {
    while (lines.length < lines_max && over === undefined && at < piece.length) {
      const end = piece.indexOf(line_feed, at);
      if (end === -1) {
        begun = finish(piece.subarray(at));
        at = piece.length;
        if (begun.length > line_bytes_max) over = { too_long: number + 1 };
        return;
      }
      add(lines, finish(piece.subarray(at, end)));
      at = end + 1;
    }
  };

  return {
    async take(stop) {
      const lines: Line[] = [];
      for (;;) {
        cut(lines);
        if (lines.length > 0) return { lines };
        if (over !== undefined) return { lines, over };
        if (stop.aborted) return { lines, over: "stopped" };
        if (!arriving) {
          arriving = body.next();
          // It may break off when nobody waits for it any more.
          arriving.catch(() => {});
        }
        const next = await soonEnough(arriving, idle_ms, stop);
        if (typeof next === "string") return { lines, over: next };
        arriving = undefined;
        [piece, at] = [next ?? nothing, 0];
        if (next) continue;
        over = "complete";
        if (begun.length > 0) add(lines, finish(nothing));
      }
    },
  };
}

/** What arrives, or why it is not waited for any longer. */
async function soonEnough<T>(arriving: Promise<T>, ms: number, stop: AbortSignal): Promise<T | "idle" | "stopped"> {
  const over = new AbortController();
  const given_up = pause(ms, AbortSignal.any([stop, over.signal])).then(() => (stop.aborted ? "stopped" : "idle"));
  return Promise.race([arriving, given_up]).finally(() => over.abort());
}
