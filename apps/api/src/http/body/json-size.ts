import { limits } from "@atlasqueue/contract";
import { invalid, ProblemError } from "../answers/problem.ts";

const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;
const comma = 0x2c;
const open_brace = 0x7b;
const close_brace = 0x7d;
const open_bracket = 0x5b;
const close_bracket = 0x5d;

/** An empty object, with its place; an array takes 40, a key with a small value about as much. */
const value_bytes = 64;

/**
 * Counts the keys and values of a JSON text from its bytes, before it is parsed: a megabyte of tiny keys takes a hundred times as
 * long to parse as a megabyte of text. A text that is not JSON is counted as if it were, and refused later. Throws
 * `ProblemError` when there are too many keys or values, or when they nest too deep. Returns roughly how many bytes of
 * memory the values take once they are parsed.
 *
 * @example
 * memory.add(weightOfJson(bytes));
 */
export function weightOfJson(bytes: Uint8Array): number {
  let inside = false;
  let keys = 0;
  let values = 0;
  let depth = 0;
  let depth_most = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] as number;
    if (inside) {
      if (byte === backslash) at += 1;
      else if (byte === quote) inside = false;
      continue;
    }
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
  return values * value_bytes;
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
