import { limits } from "@atlasqueue/contract";
import { createTextCutter } from "./text-cutter.ts";
import { invalid, ProblemError } from "../answers/problem.ts";

export type JsonMeter = {
  /** How many keys have come so far. */
  keys(): number;
  /** What the values that have come so far take in memory once they are parsed, beside their bytes, roughly. */
  weight(): number;
  /**
   * Look at the next bytes of a body; returns what to keep of them. Throws `ProblemError` when there are too many
   * values.
   */
  push(chunk: Uint8Array): Uint8Array;
};

/** An empty object, with its place in what it is in; an array takes 40, a key with a small value about as much. */
const value_bytes = 64;

const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;
const comma = 0x2c;
const open_brace = 0x7b;
const close_brace = 0x7d;
const open_bracket = 0x5b;
const close_bracket = 0x5d;

/**
 * Counts the keys and values of a body while it arrives, from its bytes alone: a megabyte of tiny keys takes a hundred
 * times as long to parse as a megabyte of text, and while one body is parsed no one is answered. What is not JSON is
 * counted as if it were, and refused later.
 *
 * With `error_at`, the depth at which objects have an `error`: only as much of its text as may be stored is kept, and
 * the rest, however long, is dropped as it arrives.
 *
 * @example
 * const meter = createJsonMeter();
 * for await (const chunk of incoming) kept.push(meter.push(chunk));
 */
export function createJsonMeter(error_at?: number): JsonMeter {
  const cutter = error_at === undefined ? undefined : createTextCutter(error_at);
  let inside = false;
  let escaped = false;
  let keys = 0;
  let values = 0;
  let depth = 0;
  let depth_most = 0;

  const push = (chunk: Uint8Array): Uint8Array => {
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] as number;
      if (inside) {
        if (escaped) escaped = false;
        else if (byte === backslash) escaped = true;
        else if (byte === quote) inside = false;
      } else
        switch (byte) {
          case quote:
            inside = true;
            break;
          case colon:
            keys += 1;
            break;
          case comma:
            values += 1;
            break;
          case open_brace:
          case open_bracket:
            values += 1;
            depth += 1;
            if (depth > depth_most) depth_most = depth;
            break;
          case close_brace:
          case close_bracket:
            depth -= 1;
            break;
        }
    }
    if (keys > limits.json_keys_max || values > limits.json_values_max) throw tooMany(depth_most);
    return cutter ? cutter.push(chunk) : chunk;
  };

  return { keys: () => keys, weight: () => values * value_bytes, push };
}

function tooMany(depth_most: number): ProblemError {
  if (depth_most > limits.json_depth_max)
    return invalid([{ pointer: "", message: `must not nest deeper than ${limits.json_depth_max} levels` }]);
  const { json_keys_max, json_values_max } = limits;
  return new ProblemError(
    "too_large",
    `The body may have ${json_keys_max} keys and ${json_values_max} values of JSON at most; send more than one request`,
  );
}
