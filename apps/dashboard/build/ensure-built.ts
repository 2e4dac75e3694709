import { existsSync, globSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";

// Run before `start` and the tests: the API serves what is in `dist`, and a fresh clone has none.
const folder = fileURLToPath(new URL("..", import.meta.url));
const built = `${folder}dist/index.html`;
const sources = [
  "index.html",
  "vite.config.ts",
  "package.json",
  "src/**/*",
  "../../packages/{client,contract,runtime}/src/**/*",
];

/** Undefined when the page is built and none of its sources is newer. */
function reason(): string | undefined {
  if (!existsSync(built)) return "The dashboard is not built yet";
  const since = statSync(built).mtimeMs;
  const newer = globSync(sources, { cwd: folder }).some((file) => statSync(`${folder}${file}`).mtimeMs > since);
  return newer ? "The dashboard's sources have changed" : undefined;
}

const why = process.env["DASHBOARD"] === "false" ? undefined : reason();
if (why !== undefined) {
  process.stdout.write(`${why}: building it, which takes a few seconds.\n`);
  const { buildDashboard } = await import("./build.ts");
  await buildDashboard();
}
