import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Page } from "./pages.ts";
import { inOrder } from "./sidebar.ts";

/** Writes each page as Markdown next to its HTML, and `llms.txt`, which lists them for language models. */
export function writeForPrograms(pages: readonly Page[], folder: string): void {
  for (const { path, text } of pages) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const lists = inOrder(pages).map((section) => {
    const lines = section.pages.map(({ path, title, description }) => `- [${title}](${path}): ${description}`);
    return `## ${section.title}\n\n${lines.join("\n")}\n`;
  });
  const [home] = pages.filter(({ section }) => section === "");
  writeFileSync(join(folder, "llms.txt"), `# AtlasQueue\n\n> ${home?.description ?? ""}\n\n${lists.join("\n")}`);
}
