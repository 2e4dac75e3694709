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
export function createLineReader(body: Arriving, { line_bytes_max, lines_max, idle_ms }: LineBounds) {
  /** What has come and is not cut yet; the last of it is the beginning of a line until the body is complete. */
  let left: Uint8Array = nothing;
  let complete = false;
  let number = 0;
  let over: Taken["over"];
  let arriving: Promise<Uint8Array | undefined> | undefined;

  const cut = (): Line[] => {
    const lines: Line[] = [];
    while (lines.length < lines_max && over === undefined && left.length > 0) {
      const end = left.indexOf(line_feed);
      if (end === -1 && !complete && left.length <= line_bytes_max) break;
      const bytes = end === -1 ? left : left.subarray(0, end);
      left = end === -1 ? nothing : left.subarray(end + 1);
      number += 1;
      if (bytes.length > line_bytes_max) over = { too_long: number };
      else if (!bytes.every((byte) => blanks.has(byte))) lines.push({ number, bytes });
    }
    return lines;
  };

  return {
    /**
     * The lines that are there: one at least, unless it is over. Waits for them, until `stop` aborts. Rejects like the
     * body it reads.
     */
    async take(stop: AbortSignal): Promise<Taken> {
      for (;;) {
        const lines = cut();
        if (lines.length > 0) return { lines };
        if (complete) over ??= "complete";
        if (over !== undefined || stop.aborted) return { lines, over: over ?? "stopped" };
        if (!arriving) {
          arriving = body.next();
          // It may break off when nobody waits for it any more.
          arriving.catch(() => {});
        }
        const next = await soonEnough(arriving, idle_ms, stop);
        if (typeof next === "string") return { lines, over: next };
        arriving = undefined;
        complete = next === undefined;
        left = left.length === 0 ? (next ?? nothing) : Buffer.concat([left, next ?? nothing]);
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
