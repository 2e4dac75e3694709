// Text comes from anyone who may submit a job. React shows it as text; what it cannot defuse is what changes how the
// text around it reads: overrides of the writing direction, and characters that show nothing. Line ends and the joiners
// that scripts and emoji need stay.
const invisible = /(?![\t\n\r\u200c\u200d])[\p{Cc}\p{Cf}]/gu;

/** The text with such characters as their codes: `\u202e`. Right-to-left scripts stay as they are. */
export function visible(text: string): string {
  return text.replaceAll(invisible, (char) => `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`);
}

/** For one line of a list: the first characters, as a word of 100 KB in each of 1,000 rows would be slow to lay out. */
export function clipped(text: string, chars_max = 300): string {
  const line = text.length > chars_max ? `${text.slice(0, chars_max)}…` : text;
  return visible(line).replaceAll(/\s+/g, " ");
}
