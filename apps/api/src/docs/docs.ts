import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fixed, type Fixed } from "../http/answers/cached.ts";
import { docsPage, docsPolicy, icon, startScript } from "./page.ts";

const require = createRequire(import.meta.url);
const read = (path: string) => readFileSync(path, "utf8");
const javascript = "text/javascript; charset=utf-8";

/** Everything below /docs: the files the page names. A name is looked up here and is never a path. */
const sources = new Map<string, () => Fixed>([
  ["swagger-ui-bundle.js", () => fixed(read(require.resolve("swagger-ui-dist/swagger-ui-bundle.js")), javascript)],
  ["swagger-ui.css", () => fixed(read(require.resolve("swagger-ui-dist/swagger-ui.css")), "text/css; charset=utf-8")],
  ["start.js", () => fixed(startScript, javascript)],
  ["icon.svg", () => fixed(icon, "image/svg+xml")],
]);
export const docsFileNames = [...sources.keys()];

/** The API's description as it is served: made once, and the same for everyone. `file` is one that the page names. */
export type Docs = ReturnType<typeof createDocs>;

/** @example const docs = createDocs(openApiDocument(operations)); */
export function createDocs(document: object) {
  // Read when first asked for: most processes never are.
  const files = new Map<string, Fixed | undefined>();
  return {
    document: fixed(JSON.stringify(document), "application/json"),
    page: fixed(docsPage, "text/html; charset=utf-8", { "content-security-policy": docsPolicy }),
    file(name: string): Fixed | undefined {
      if (!files.has(name) && sources.has(name)) files.set(name, sources.get(name)?.());
      return files.get(name);
    },
  };
}
