import { lineOf } from "./literals.ts";

// What breaks the style guide of CONTRIBUTING.md and can be seen without understanding the text.

/** A breach of the style guide, with the text that breaks it. */
export type Breach = { kind: Kind; line: number; text: string };
export type Kind = keyof typeof rules;

/** What each kind breaks, as a failed test tells it. */
export const rules = {
  phrases: "a banned phrase: name the actor, and let machines return or log (CONTRIBUTING, rules 2, 3 and 8)",
  sentences: "a sentence of more than 40 words: split it, one idea each (rule 1)",
  rows: "a table row of more than 160 columns: tables hold values, not prose (rule 12)",
} as const;

const words_max = 40;
const columns_max = 160;
const banned =
  /\b(?:whoever|whosesoever|nobody|somebody|poorer|said\s+a\s+word|a\s+word\s+of|told\s+of|is\s+told|are\s+told|in\s+vain|hangs\s+on)\b/gi;

/**
 * Breaches in a Markdown page. Code blocks are left out, and code in a sentence is one word.
 *
 * @example
 * breachesInMarkdown("A job waits in vain.\n"); // [{ kind: "phrases", line: 1, text: "in vain" }]
 */
export function breachesInMarkdown(page: string): Breach[] {
  const prose = withoutCode(page);
  const rows = page.split("\n").flatMap((row, at): Breach[] => {
    const in_table = prose.split("\n")[at]?.trimStart().startsWith("|");
    return in_table && [...row].length > columns_max
      ? [{ kind: "rows", line: at + 1, text: `${[...row].length} columns` }]
      : [];
  });
  return [...breachesInText(prose), ...rows].toSorted((a, b) => a.line - b.line);
}

/** Banned phrases and long sentences; `first_line` is that of the text in its file. */
export function breachesInText(text: string, first_line = 1): Breach[] {
  const phrases = [...text.matchAll(banned)].map(({ 0: phrase, index }) => ({
    kind: "phrases" as const,
    line: first_line - 1 + lineOf(text, index),
    text: inOneLine(phrase),
  }));
  const long = sentencesOf(text).filter((sentence) => wordsOf(sentence.text).length > words_max);
  return [
    ...phrases,
    ...long.map(({ line, text: sentence }) => ({
      kind: "sentences" as const,
      line: first_line - 1 + line,
      text: `${wordsOf(sentence).length} words: ${sentence}`,
    })),
  ];
}

/** A dot after these ends no sentence. */
const abbreviation = /\b(?:e\.g|i\.e|etc|vs|cf|approx|incl)\.$/i;

/** Sentences of running text. A heading, an item of a list and a paragraph end the sentence before them; tables are left out. */
export function sentencesOf(prose: string): { line: number; text: string }[] {
  return blocksOf(prose).flatMap(({ line, text }) => {
    const sentences: { line: number; text: string }[] = [];
    let start = 0;
    for (const { 0: end, index } of text.matchAll(/[.!?…]["'”’)\]*_]*(?=\s+[\p{Lu}\d"'“‘(`[*_])/gu)) {
      if (abbreviation.test(text.slice(0, index + 1))) continue;
      sentences.push(from(start, index + end.length));
      start = index + end.length;
    }
    if (text.slice(start).trim() !== "") sentences.push(from(start, text.length));
    return sentences;

    function from(begin: number, end: number) {
      const sentence = text.slice(begin, end);
      const leading = sentence.length - sentence.trimStart().length;
      return { line: line + lineOf(text, begin + leading) - 1, text: inOneLine(sentence) };
    }
  });
}

function wordsOf(sentence: string): string[] {
  return sentence.split(/\s+/).filter((word) => /[\p{L}\d`…]/u.test(word));
}

/** Paragraphs, headings and items of lists, without the marks they begin with. */
function blocksOf(prose: string): { line: number; text: string }[] {
  const blocks: { line: number; text: string }[] = [];
  let open = false;
  for (const [at, whole] of prose.split("\n").entries()) {
    const line = whole.replace(/^[\s>]+/, "");
    const begins = /^(?:[-*+]|\d+[.)])\s+(?:\[[ x]\]\s+)?/.exec(line);
    const heading = /^#{1,6}\s/.test(line);
    if (line === "" || line.startsWith("|") || /^(?:-{3,}|={3,})$/.test(line)) {
      open = false;
      continue;
    }
    const last = blocks.at(-1);
    if (open && last && !begins && !heading) last.text += `\n${line}`;
    else blocks.push({ line: at + 1, text: line.replace(/^#{1,6}\s+/, "").slice(begins?.[0].length ?? 0) });
    open = !heading;
  }
  return blocks;
}

/** The page with blank lines for code blocks and comments, `…` for code in a line, and only the text of links. */
function withoutCode(page: string): string {
  const blank = (text: string) => text.replaceAll(/[^\n]/g, "");
  return page
    .replaceAll(
      /^([ \t>]*(?:[-*+]\s+|\d+[.)]\s+)?)(`{3,}|~{3,})[^\n]*\n[\s\S]*?(?:^[ \t>]*\2[ \t]*$|$(?![\s\S]))/gm,
      blank,
    )
    .replaceAll(/<!--[\s\S]*?-->/g, blank)
    .replaceAll(/(`+)(?!`)((?:(?!\n\s*\n)[\s\S])*?[^`])\1(?!`)/g, (code) => `\`…\`${blank(code)}`)
    .replaceAll(/!\[[^\]]*\]\([^)]*\)/g, blank)
    .replaceAll(/\[([^\]]*)\]\(([^)]*)\)/g, (_, text: string, target: string) => text + blank(target));
}

function inOneLine(text: string): string {
  return text.trim().replaceAll(/\s+/g, " ");
}
