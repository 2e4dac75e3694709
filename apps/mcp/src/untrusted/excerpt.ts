import { visible } from "./visible.ts";

/** What was left out of an answer, in words. */
export type Cuts = string[];

type Part = {
  /** What it is, for the note that says it was cut. */
  name: string;
  chars_max: number;
  /** The character to begin with. */
  offset?: number;
  /** How to see the rest, which begins at this offset. */
  more?: string | ((offset: number) => string);
};

/**
 * A text of the queue's as a model is shown it: visible, and no longer than `chars_max`. A note says what was cut.
 *
 * @example
 * excerpt(cuts, job.last_error, { name: "error_text", chars_max: 200 });
 */
export function excerpt(cuts: Cuts, text: string, { name, chars_max, offset = 0, more }: Part): string {
  const end = offset + chars_max;
  // A character may become the twelve of its escape; none becomes fewer. Offsets are those of the visible text.
  const shown = visible(text.length > end ? withoutHalves(text.slice(0, end)) : text);
  const kept = (shown.length > end ? withoutHalves(shown.slice(offset, end)) : shown.slice(offset)).replace(
    halfAtStart,
    "",
  );
  if (text.length <= end && shown.length <= end) return kept;
  const length = Math.max(text.length, shown.length);
  const part =
    offset === 0
      ? `the first ${chars_max} of ${length} characters`
      : `${chars_max} of ${length} characters, from ${offset}`;
  const rest = typeof more === "function" ? more(offset + kept.length) : more;
  cuts.push(`${name}: ${part}${rest === undefined ? "" : `; ${rest}`}`);
  return `${kept}…`;
}

const halfAtStart = /^[\udc00-\udfff]/;

/** The same of any JSON value, as JSON text. */
export function jsonExcerpt(cuts: Cuts, value: unknown, part: Part): string {
  return excerpt(cuts, JSON.stringify(value), part);
}

/** The first of a list. A note says how many there are. */
export function firstOf<T>(cuts: Cuts, items: readonly T[], { name, items_max, more }: ListPart): T[] {
  if (items.length > items_max)
    cuts.push(`${name}: the first ${items_max} of ${items.length}${more === undefined ? "" : `; ${more}`}`);
  return items.slice(0, items_max);
}
type ListPart = { name: string; items_max: number; more?: string };

/** A cut may go through an escape, or between the two halves of a character. */
function withoutHalves(text: string): string {
  return text.replace(/[\ud800-\udbff]$|\\(?:u[0-9a-f]{0,3})?$/, "");
}
