import { fileURLToPath } from "node:url";
import { build } from "vite";
import { compressFiles } from "./compress.ts";

const folder = fileURLToPath(new URL("..", import.meta.url));

/** Build the page into `dist`. */
export async function buildDashboard(): Promise<void> {
  await build({ root: folder, logLevel: "warn" });
  compressFiles(`${folder}dist`);
}

if (import.meta.main) await buildDashboard();
