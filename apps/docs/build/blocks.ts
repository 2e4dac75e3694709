/** A `ts` block of a page as a module of its own, with what a comment in front of it declares. */
export type Block = { line: number; code: string };

/** @example tsBlocks("<!-- setup: declare const a: 1 -->\n\n```ts\nconsole.log(a);\n```\n"); */
export function tsBlocks(page: string): Block[] {
  const found = page.matchAll(/(?:<!-- setup: (?<setup>(?:(?!-->).)*?) -->\n\n?)?^```ts\n(?<code>.*?)^```$/gms);
  return [...found].map(({ index, groups }) => ({
    line: page.slice(0, index).split("\n").length,
    // Its top-level `await` and names are its own.
    code: `${groups?.["setup"] ?? ""}\n${groups?.["code"] ?? ""}\nexport {};\n`,
  }));
}
