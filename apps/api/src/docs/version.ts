import { createRequire } from "node:module";

/** The API's own version, as the document and the session say it. */
export const { version } = createRequire(import.meta.url)("../../package.json") as { version: string };
