import { visible } from "./visible.ts";

/** What was left out of an answer, in words. */
export type Cuts = string[];

type Part = {
  /** What it is, for the note that says it was cut. */
  name: string;
  chars_max: number;
  /** How to see the rest. */
  more?: string;
};

/**
 * A text of the queue's as a model is shown it: visible, and no longer than `chars_max`. A note says what was cut.
 *
 * @example
 * excerpt(cuts, job.last_error, { name: "error_text", chars_max: 200 });
 */
export function excerpt(cuts: Cuts, text: string, { name, chars_max, more }: Part): string {
  const begin = text.length > chars_max ? withoutHalves(text.slice(0, chars_max)) : text;
  // A character may become the twelve of its escape.
  const shown = visible(begin);
  const kept = shown.length > chars_max ? withoutHalves(shown.slice(0, chars_max)) : shown;
  if (text.length <= chars_max && kept.length === shown.length) return kept;
  const length = Math.max(text.length, shown.length);
  cuts.push(`${name}: the first ${chars_max} of ${length} characters${more === undefined ? "" : `; ${more}`}`);
  return `${kept}…`;
}

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
