/**
 * What a reader does not see, or sees elsewhere than it stands: control and format characters, marks of direction,
 * invisible ones that can carry a hidden text, line separators, halves of surrogate pairs.
 */
const unseen = /[\p{C}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]/gu;
/** Line ends and tabs, and the selector that makes a sign an emoji. */
const harmless = new Set(["\n", "\t", "\u{fe0f}"]);

/**
 * A text with everything in it to be seen: what would be invisible is written as its escape. Of JSON text it makes JSON
 * text with the same meaning.
 *
 * @example
 * visible("a\u202eb"); // "a\\u202eb"
 */
export function visible(text: string): string {
  return text.replaceAll(unseen, (one) => (harmless.has(one) ? one : escaped(one)));
}

function escaped(character: string): string {
  return Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`,
  ).join("");
}
