import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { fixed, type Fixed } from "../http/answers/cached.ts";
import { icon, startScript } from "./page.ts";

type Source = { content_type: string } & ({ text: string } | { path: () => string });

const require = createRequire(import.meta.url);
const javascript = "text/javascript; charset=utf-8";

/** Everything below /docs: the files the page names. A name is looked up here and is never a path. */
const sources = {
  "swagger-ui-bundle.js": {
    content_type: javascript,
    path: () => require.resolve("swagger-ui-dist/swagger-ui-bundle.js"),
  },
  "swagger-ui.css": {
    content_type: "text/css; charset=utf-8",
    path: () => require.resolve("swagger-ui-dist/swagger-ui.css"),
  },
  "start.js": { content_type: javascript, text: startScript },
  "icon.svg": { content_type: "image/svg+xml", text: icon },
} satisfies Record<string, Source>;
type DocsFile = keyof typeof sources;

export const docsFileNames = Object.keys(sources) as DocsFile[];

export function isDocsFile(name: string): name is DocsFile {
  return Object.hasOwn(sources, name);
}

/** A file of the page, its own or from swagger-ui-dist, wherever that is installed. */
export async function readDocsFile(name: DocsFile): Promise<Fixed> {
  const source: Source = sources[name];
  return fixed("text" in source ? source.text : await readFile(source.path(), "utf8"), source.content_type);
}
