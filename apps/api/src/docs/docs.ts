import { fixed, type Fixed } from "../http/answers/cached.ts";
import { isDocsFile, readDocsFile } from "./files.ts";
import { docsPage, docsPolicy } from "./page.ts";

/** The API's description as it is served: made once, and the same for everyone. */
export type Docs = {
  document: Fixed;
  page: Fixed;
  /** One of the files that the page names. */
  file(name: string): Promise<Fixed | undefined>;
};

/** @example const docs = createDocs(openApiDocument(operations)); */
export function createDocs(document: object): Docs {
  // Read when first asked for: most processes never are.
  const files = new Map<string, Fixed>();
  return {
    document: fixed(JSON.stringify(document), "application/json"),
    page: fixed(docsPage, "text/html; charset=utf-8", { "content-security-policy": docsPolicy }),
    async file(name) {
      if (!isDocsFile(name)) return undefined;
      const found = files.get(name) ?? (await readDocsFile(name));
      files.set(name, found);
      return found;
    },
  };
}
