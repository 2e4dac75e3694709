import { fileURLToPath } from "node:url";
import { build } from "vitepress";
import { compressFiles } from "../../dashboard/build/compress.ts";

/** Build the site into `dist`. */
export async function buildDocs(): Promise<void> {
  const folder = fileURLToPath(new URL("..", import.meta.url));
  await build(folder);
  compressFiles(`${folder}dist`);
}

if (import.meta.main) await buildDocs();
