import { fileURLToPath } from "node:url";
import { stale } from "../../dashboard/build/stale.ts";

// Run before `start` and the test of the site: the API serves what is in `dist`.
const folder = fileURLToPath(new URL("..", import.meta.url));
const sources = ["package.json", ".vitepress/**/*", "build/*.ts", "pages/**/*"];

const why = process.env["DOCS"] === "false" ? undefined : stale(folder, "dist/index.html", sources);
if (why !== undefined) {
  process.stdout.write(`The documentation ${why}: building it, which takes half a minute at most.\n`);
  const { buildDocs } = await import("./build.ts");
  await buildDocs();
}
