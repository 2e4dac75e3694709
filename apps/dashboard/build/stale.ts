import { existsSync, globSync, statSync } from "node:fs";

/** Why `built` must be built, or undefined if it is there and newer than all `sources`, which are globs below `folder`. */
export function stale(folder: string, built: string, sources: readonly string[]): string | undefined {
  if (!existsSync(`${folder}${built}`)) return "is not built yet";
  const since = statSync(`${folder}${built}`).mtimeMs;
  const newer = globSync(sources, { cwd: folder }).some((file) => statSync(`${folder}${file}`).mtimeMs > since);
  return newer ? "has changed" : undefined;
}
