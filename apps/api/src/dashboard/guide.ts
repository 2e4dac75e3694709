import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Hono } from "hono";
import { docsPolicy } from "../docs/page.ts";
import type { ApiEnv } from "../http/context.ts";
import { answerFixed, type Fixed } from "../http/answers/cached.ts";
import { isServed, placesOf, readBuilt } from "./built.ts";
import { guards } from "./guards.ts";
import { for_ever, placed } from "./serve.ts";

const headers = { ...guards, "content-security-policy": docsPolicy };

/** A file of the built documentation by its path, such as `guides/retries.html`. */
export type BuiltGuide = (path: string) => Fixed | undefined;

/** The documentation, or undefined if it is not built. A file is read at its first request: most never are. */
export function readGuide(folders: readonly string[] = placesOf("docs")): BuiltGuide | undefined {
  const folder = folders.find((each) => existsSync(join(each, "index.html")));
  if (folder === undefined) return undefined;
  // A path is looked up here and never joined as it was sent.
  const names = new Set(readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(isServed));
  const read = new Map<string, Fixed>();
  return (name) => {
    if (!read.has(name) && names.has(name)) read.set(name, readBuilt(join(folder, name), headers));
    return read.get(name);
  };
}

/** Serve the documentation at `/guide/`: pages without `.html`, and as Markdown with `.md`. */
export function addGuide(app: Hono<ApiEnv>, guide: BuiltGuide): void {
  // Relative, as a proxy may add a prefix.
  app.on("GET", "/llms.txt", (c) => c.redirect("guide/llms.txt", 308));
  app.on("GET", "/guide/*", (c) => {
    if (c.req.path === "/guide") return c.redirect("guide/", 308);
    const path = c.req.path.slice("/guide/".length).replace(/(^|\/)$/, "$1index");
    const file = guide(path) ?? guide(`${path}.html`);
    const found = file ?? guide("404.html");
    if (!found) return c.notFound();
    // A file of another version may be there after an upgrade.
    const kept = file && path.startsWith("assets/") ? for_ever : "no-cache";
    return file ? answerFixed(c, file, kept) : answerFixed(c, placed(found, c.req.path, headers, 2), kept, 404);
  });
}
