import type { Payload } from "../variants/variant.ts";

/** A job's size by default: an id or two, a name, an address. */
export const default_bytes = 200;

const words =
  "order invoice customer street Berlin total cents shipped 2026 mail Ada parcel weight status pending label tax city " +
  "phone note gift size colour blue grey amount currency EUR unit stock shelf return reason paid due date hour zone";

/** Made once for each size: to put words together costs as much as to add a job. */
const texts = new Map<number, readonly string[]>();
const texts_max = 500;

/** Words in an order of their own for each `n`, of `chars` characters: what compresses like data, and not like one letter. */
function textOf(n: number, chars: number): string {
  let made = texts.get(chars);
  if (!made) {
    let state = chars;
    const list = words.split(" ");
    // Numerical Recipes' generator: the same texts in each run.
    const next = () => list[(state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) % list.length];
    const text = () => {
      let whole = "";
      while (whole.length < chars) whole += `${next()} `;
      return whole.slice(0, chars);
    };
    texts.set(chars, (made = Array.from({ length: texts_max }, text)));
  }
  return made[Math.abs(n) % texts_max] ?? "";
}

/** A payload of about `bytes` as JSON, or the smallest. */
export function makePayload(n: number, bytes = default_bytes): Payload {
  const rest = bytes - JSON.stringify({ n, text: "" }).length;
  return rest > 0 ? { n, text: textOf(n, rest) } : { n };
}

/** `count` payloads in parts of at most `size`, each made when its turn comes: all at once can be a gigabyte. */
export function* makeBatches(count: number, size: number, bytes = default_bytes): Generator<Payload[]> {
  for (let at = 0; at < count; at += size) {
    const length = Math.min(size, count - at);
    yield Array.from({ length }, (_, index) => makePayload(at + index, bytes));
  }
}
