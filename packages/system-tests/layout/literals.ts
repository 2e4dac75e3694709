/** A text in a source file, and the line it begins in. */
export type Literal = { text: string; line: number };

/** Stands for what is put into a template at run time: one word, as for code in Markdown. */
const filled_in = "`…`";

/** After these a slash begins a regular expression, not a division. */
const before_regexp = /(?:^|[(,=:[!&|?{};>\n]|\breturn)\s*$/;

/**
 * The texts between quotes in a TypeScript source. Texts joined by `+` are one, comments are left out, and what a
 * template fills in is one word.
 *
 * @example
 * literalsIn('fail("no such " + "queue"); // "not this"'); // [{ text: "no such queue", line: 1 }]
 */
export function literalsIn(source: string): Literal[] {
  const found: { text: string; start: number; end: number }[] = [];

  /** Reads code from `at` to the brace that closes it, or to the end. Returns where it stopped. */
  function readCode(at: number): number {
    let depth = 0;
    while (at < source.length) {
      const two = source.slice(at, at + 2);
      const one = source[at];
      if (two === "//") at = indexFrom("\n", at);
      else if (two === "/*") at = indexFrom("*/", at + 2) + 2;
      else if (one === '"' || one === "'") at = readQuoted(at, one);
      else if (one === "`") at = readTemplate(at);
      else if (one === "/" && before_regexp.test(source.slice(Math.max(0, at - 40), at))) at = readRegExp(at);
      else if (one === "}" && depth-- === 0) return at;
      else {
        if (one === "{") depth += 1;
        at += 1;
        continue;
      }
      if (one === "}") at += 1;
    }
    return at;
  }

  function indexFrom(text: string, at: number): number {
    const index = source.indexOf(text, at);
    return index === -1 ? source.length : index;
  }

  /** An apostrophe between tags looks like a quote; as it ends with its line, little is lost. */
  function readQuoted(start: number, quote: string): number {
    let at = start + 1;
    while (at < source.length && source[at] !== quote && source[at] !== "\n") at += source[at] === "\\" ? 2 : 1;
    if (source[at] === quote) found.push({ text: source.slice(start + 1, at), start, end: at + 1 });
    return at + 1;
  }

  function readTemplate(start: number): number {
    let text = "";
    let at = start + 1;
    const inner: typeof found = [];
    while (at < source.length && source[at] !== "`") {
      if (source.startsWith("${", at)) {
        const before = found.length;
        at = readCode(at + 2) + 1;
        inner.push(...found.splice(before));
        text += filled_in;
      } else if (source[at] === "\\") {
        text += source.slice(at, at + 2);
        at += 2;
      } else text += source[at++];
    }
    found.push(...inner, { text, start, end: at + 1 });
    return at + 1;
  }

  function readRegExp(start: number): number {
    let in_class = false;
    let at = start + 1;
    while (at < source.length && source[at] !== "\n" && (in_class || source[at] !== "/")) {
      if (source[at] === "[") in_class = true;
      if (source[at] === "]") in_class = false;
      at += source[at] === "\\" ? 2 : 1;
    }
    return at + 1;
  }

  readCode(0);
  const joined: typeof found = [];
  for (const literal of found) {
    const last = joined.at(-1);
    if (last && literal.start >= last.end && /^\s*\+\s*$/.test(source.slice(last.end, literal.start))) {
      last.text += literal.text;
      last.end = literal.end;
    } else joined.push({ ...literal });
  }
  return joined.map(({ text, start }) => ({ text: unescaped(text), line: lineOf(source, start) }));
}

/**
 * The texts between the tags of a TSX source, with code in braces left out.
 *
 * @example
 * textsBetweenTags("<p>No queue matches.</p>"); // [{ text: "No queue matches.", line: 1 }]
 */
export function textsBetweenTags(source: string): Literal[] {
  const code = source.replaceAll(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*$/gm, (comment) => comment.replaceAll(/[^\n]/g, " "));
  return [...code.matchAll(/[>}]([^<>{}]+)[<{]/g)]
    .filter(([, text = ""]) => /^[\s\p{L}\d.,:'’“”"!?–—…()%/-]+$/u.test(text))
    .map(({ 1: text = "", index }) => ({
      text: text.trim().replaceAll(/\s+/g, " "),
      line: lineOf(source, index + 1 + text.search(/\S/)),
    }));
}

export function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

function unescaped(text: string): string {
  return text.replaceAll("\\n", "\n").replaceAll(/\\(.)/g, "$1");
}
