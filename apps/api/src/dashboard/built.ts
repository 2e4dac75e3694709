import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { fixed, type Fixed } from "../http/answers/cached.ts";
import { guards } from "./guards.ts";

/**
 * `assets` have names that change with their content; `index` is the page at every address of its own, and `missing` comes
 * in place of a script of another version.
 */
export type BuiltDashboard = { index: Fixed; missing: Fixed; assets: ReadonlyMap<string, Fixed> };

const types: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
  ".md": "text/markdown; charset=utf-8",
  ".txt": "text/plain; charset=utf-8",
};

export const isServed = (name: string): boolean => Object.hasOwn(types, extname(name));

/** In the published package it is a copy next to the code; in the repository, where the app's own build leaves it. */
export const placesOf = (app: "dashboard" | "docs"): string[] =>
  [`../${app}-dist`, `../../../${app}/dist`].map((path) => fileURLToPath(new URL(path, import.meta.url)));

/**
 * The built page, or undefined where it was not built. All of it is read at once (1.5 MB): a later build in the same
 * folder must not give a browser files of two versions.
 *
 * @example
 * const dashboard = readDashboard();
 */
export function readDashboard(folders: readonly string[] = placesOf("dashboard")): BuiltDashboard | undefined {
  const folder = folders.find((each) => existsSync(join(each, "index.html")));
  if (folder === undefined) return undefined;
  const names = readdirSync(join(folder, "assets")).filter(isServed);
  return {
    index: readBuilt(join(folder, "index.html")),
    missing: readBuilt(join(folder, "missing.js")),
    assets: new Map(names.map((name) => [name, readBuilt(join(folder, "assets", name))])),
  };
}

/** A file of a page, as it is and as it was compressed when the page was built. */
export function readBuilt(path: string, headers: Record<string, string> = guards): Fixed {
  const smaller = (suffix: string) => (existsSync(path + suffix) ? readFileSync(path + suffix) : undefined);
  const [br, gzip] = [smaller(".br"), smaller(".gz")];
  const content_type = types[extname(path)] ?? "application/octet-stream";
  return { ...fixed(readFileSync(path), content_type, headers), ...(br && { br }), ...(gzip && { gzip }) };
}
