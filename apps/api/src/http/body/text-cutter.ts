import { limits } from "@atlasqueue/contract";

const quote = 0x22;
const backslash = 0x5c;
const name = Buffer.from("error");

/** A JSON character has at most six bytes; what is stored is cut again, by characters, and may look one further. */
const kept_bytes_min = 6 * (limits.error_chars_max + 8);

/**
 * Drops the excess from texts under the key `error` of objects at a depth, from a JSON body that arrives in pieces. It
 * cuts only between characters: neither inside an escape or a byte sequence, nor between two surrogates.
 *
 * @example
 * const cutter = createTextCutter(1);
 * cutter.push(Buffer.from('{"error":"…ten megabytes…"}')); // the first 24 KiB of the text, and what is around it
 */
export function createTextCutter(at_depth: number) {
  let depth = 0;
  let inside = false;
  /** How many bytes of the string have come. */
  let length = 0;
  /** How many of them are those of the name; -1 when some differ. */
  let same = 0;
  let named = false;
  let cuttable = false;
  let dropping = false;
  /** 0 outside of an escape, 1 after its backslash, 2 to 5 before its four digits. */
  let escape = 0;
  let maybe_high = false;
  let high = false;

  /** Whether a character begins here that is not the second half of the one before. */
  const begins = (byte: number) => escape === 0 && !high && (byte < 0x80 || byte >= 0xc0);

  const step = (byte: number): void => {
    if (escape === 1) escape = byte === 0x75 ? 2 : 0;
    else if (escape > 1) {
      // \ud800 to \udbff.
      if (escape === 2) maybe_high = byte === 0x64 || byte === 0x44;
      if (escape === 3) high = maybe_high && /[89ab]/i.test(String.fromCharCode(byte));
      escape = escape === 5 ? 0 : escape + 1;
    } else if (byte === backslash) {
      escape = 1;
    } else high = false;
  };

  const push = (chunk: Uint8Array): Uint8Array => {
    const kept: Uint8Array[] = [];
    let from = dropping ? -1 : 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] as number;
      if (inside) {
        if (escape === 0 && byte === quote) {
          inside = false;
          named = !cuttable && same === name.length && length === same;
          if (dropping) from = at;
          dropping = false;
          continue;
        }
        if (cuttable && !dropping && length >= kept_bytes_min && begins(byte)) {
          kept.push(chunk.subarray(from, at));
          dropping = true;
        }
        same = same === length && byte === name[length] ? same + 1 : -1;
        length += 1;
        // A second half clears `high` by its own digits, as it is not a first half.
        step(byte);
      } else if (byte === quote) {
        inside = true;
        cuttable = named && depth === at_depth;
        [length, same, escape, high] = [0, 0, 0, false];
      } else if (byte === 0x7b || byte === 0x5b) depth += 1;
      else if (byte === 0x7d || byte === 0x5d) depth -= 1;
      else if (byte === 0x2c) named = false;
    }
    if (!dropping && from === 0) return chunk;
    if (!dropping) kept.push(chunk.subarray(from));
    return Buffer.concat(kept);
  };

  return { push };
}
