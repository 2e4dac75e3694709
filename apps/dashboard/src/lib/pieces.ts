/** Shown at first of a long text. */
const first_chars = 12_000;
const first_lines = 300;
/** Of one piece: little enough to be laid out in a frame. */
const piece_chars = 4_000;
const piece_lines = 60;

/** The beginning of a text, up to the end of a line if there is one. */
export function firstOf(text: string): string {
  const end = endOf(text, 0, first_chars, first_lines);
  return end < text.length ? text.slice(0, end) : text;
}

/** A text in pieces of whole lines; only a long line is broken, in the middle. */
export function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  for (let from = 0; from < text.length;) {
    const end = endOf(text, from, piece_chars, piece_lines);
    pieces.push(text.slice(from, end));
    // Each piece begins a line of its own.
    from = text[end] === "\n" ? end + 1 : end;
  }
  return pieces.length === 0 ? [text] : pieces;
}

/** Where a part from `from` on ends: at the end of a line, or inside one that is too long, between two characters. */
function endOf(text: string, from: number, chars_max: number, lines_max: number): number {
  let end = from;
  let lines = 0;
  for (let at = from; lines < lines_max; lines += 1) {
    const next = text.indexOf("\n", at);
    const line_end = next === -1 ? text.length : next;
    if (line_end - from > chars_max) break;
    end = line_end;
    if (next === -1) return end;
    at = next + 1;
  }
  // Few lines before an endless one say little by themselves.
  if (lines === lines_max || end - from > chars_max / 2) return end;
  const cut = Math.min(text.length, from + chars_max);
  return /[\ud800-\udbff]/.test(text[cut - 1] ?? "") ? cut - 1 : cut;
}
