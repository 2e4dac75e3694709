import { readFileSync } from "node:fs";

/**
 * The commands that stand on a page for operators in a block of a language: the first one with this word in it.
 *
 * @example
 * const dump = blockWith("backup.md", "bash", "pg_dump");
 */
export function blockWith(page: string, language: string, word: string): string {
  const text = readFileSync(new URL(`../../../../apps/docs/pages/operate/${page}`, import.meta.url), "utf8");
  const blocks = text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm"));
  const found = [...blocks].map(([, block = ""]) => block).find((block) => block.includes(word));
  if (found === undefined) throw new Error(`no block of ${page} has "${word}" in it`);
  return found;
}
