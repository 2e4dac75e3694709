import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Where the pages are: `<section>/<page>.md`. */
export const pages_folder = fileURLToPath(new URL("../pages", import.meta.url));

/** `path` is below the folder, such as `guides/retries.md`; `text` is all of the file. */
export type Page = { path: string; section: string; title: string; description: string; text: string };

/** All pages, by path. A page without a title or a description is refused. */
export function readPages(): Page[] {
  return globSync("**/*.md", { cwd: pages_folder })
    .toSorted()
    .map((path) => {
      const text = readFileSync(join(pages_folder, path), "utf8");
      const front = /^---\n(.*?)\n---\n/s.exec(text)?.[1] ?? "";
      const field = (name: string) => {
        const value = RegExp(`^${name}: *(.+)$`, "m").exec(front)?.[1];
        if (value === undefined) throw new Error(`${path}: its front matter has no ${name}`);
        return value.replace(/^(["'])(.*)\1$/, "$2");
      };
      const section = path.includes("/") ? path.slice(0, path.indexOf("/")) : "";
      return { path, section, title: field("title"), description: field("description"), text };
    });
}
