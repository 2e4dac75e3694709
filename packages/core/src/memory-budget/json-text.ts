import { randomUUID } from "node:crypto";

/** JSON that is kept as its text: it is only passed on. */
export type JsonText = { readonly text: string; toJSON(): unknown };

/**
 * Stands for JSON where that becomes part of an answer, written by `writeJson`. Parsed and written anew, a page of 4 MiB
 * full of `{}` takes 100 MB and half a second, in which nobody else is served.
 *
 * @example
 * writeJson({ id, payload: jsonText('{"to":"ada"}') }); // {"id":"…","payload":{"to":"ada"}}
 */
export function jsonText(text: string): JsonText {
  return {
    text,
    toJSON() {
      if (!texts) return JSON.parse(text);
      texts.push(text);
      return mark;
    },
  };
}

/** As `JSON.stringify`, with texts of JSON as they are. */
export function writeJson(value: unknown): string {
  texts = [];
  try {
    const written = JSON.stringify(value);
    if (texts.length === 0) return written;
    const between = written.split(`"${mark}"`);
    return between.flatMap((part, at) => [part, texts?.[at] ?? ""]).join("");
  } finally {
    texts = undefined;
  }
}

// What stands for a text meanwhile: nobody else knows it, so it can be in nothing that is written.
const mark = randomUUID();
// Those of what is being written, in their order.
let texts: string[] | undefined;
