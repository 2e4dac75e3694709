import { fileURLToPath } from "node:url";
import { stale } from "./stale.ts";

// Run before `start` and the tests: the API serves what is in `dist`, and a fresh clone has none.
const folder = fileURLToPath(new URL("..", import.meta.url));
const sources = [
  "index.html",
  "vite.config.ts",
  "package.json",
  "public/*",
  "src/**/*",
  "../../packages/{client,contract,runtime}/src/**/*",
];

const why = process.env["DASHBOARD"] === "false" ? undefined : stale(folder, "dist/index.html", sources);
if (why !== undefined) {
  process.stdout.write(`The dashboard ${why}: building it, which takes a few seconds.\n`);
  const { buildDashboard } = await import("./build.ts");
  await buildDashboard();
}
