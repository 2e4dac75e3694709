import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/**
 * Makes the symbolic links among PostgreSQL's libraries. An npm package can't hold links, so this one lists them and
 * makes them in its install script, which pnpm and npm only run when allowed. Existing links stay; a folder we may not
 * write to is left as it is: what matters is whether the server runs, and that is tried next.
 */
export function makeLinks(packageFolder: string): void {
  const list = join(packageFolder, "native", "pg-symlinks.json");
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, "utf8")) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const link = join(packageFolder, target);
    if (existsSync(link)) continue;
    try {
      symlinkSync(relative(dirname(target), source), link);
    } catch {
      continue;
    }
  }
}
