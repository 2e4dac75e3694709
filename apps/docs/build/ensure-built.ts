import { fileURLToPath } from "node:url";
import { stale } from "../../dashboard/build/stale.ts";

const folder = fileURLToPath(new URL("..", import.meta.url));
const sources = ["package.json", ".vitepress/**/*", "build/*.ts", "pages/**/*"];

/** Build the site if a source is newer. */
export async function ensureDocs(): Promise<void> {
  const why = stale(folder, "dist/index.html", sources);
  if (why === undefined) return;
  process.stdout.write(`The documentation ${why}: building it, which takes half a minute at most.\n`);
  const { buildDocs } = await import("./build.ts");
  await buildDocs();
}

if (import.meta.main && process.env["DOCS"] !== "false") await ensureDocs();
