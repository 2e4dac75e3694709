import { readFileSync } from "node:fs";

/**
 * What stands on a page for operators in blocks of a language, in their order.
 *
 * @example
 * const [dump, restore] = blocksOf("backup.md", "bash");
 */
export function blocksOf(page: string, language: string): string[] {
  const text = readFileSync(new URL(`../../../deploy/${page}`, import.meta.url), "utf8");
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm"))].map(
    ([, block = ""]) => block,
  );
}

/** The block with this word in it. */
export function blockWith(page: string, language: string, word: string): string {
  const found = blocksOf(page, language).find((block) => block.includes(word));
  if (found === undefined) throw new Error(`no block of ${page} has "${word}" in it`);
  return found;
}
