import type { Payload } from "../variants/variant.ts";

/** A job's size by default: an id or two, a name, an address. */
export const default_bytes = 200;

/** A payload of about `bytes` as JSON, or the smallest. */
export function makePayload(n: number, bytes = default_bytes): Payload {
  const rest = bytes - JSON.stringify({ n, text: "" }).length;
  return rest > 0 ? { n, text: "x".repeat(rest) } : { n };
}

/** `count` payloads in parts of at most `size`, each made when its turn comes: all at once can be a gigabyte. */
export function* makeBatches(count: number, size: number, bytes = default_bytes): Generator<Payload[]> {
  for (let at = 0; at < count; at += size) {
    const length = Math.min(size, count - at);
    yield Array.from({ length }, (_, index) => makePayload(at + index, bytes));
  }
}
