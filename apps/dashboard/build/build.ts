import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build } from "vite";

const folder = fileURLToPath(new URL("..", import.meta.url));

/** Text shrinks; fonts are compressed already. */
const compressed = /\.(js|css|html|svg|json)$/;

/** Build the page into `dist`, with a `.br` and a `.gz` beside every file that gets smaller by it. */
export async function buildDashboard(): Promise<void> {
  await build({ root: folder, logLevel: "warn" });
  const dist = join(folder, "dist");
  for (const name of readdirSync(dist, { recursive: true, encoding: "utf8" })) {
    if (!compressed.test(name)) continue;
    const file = join(dist, name);
    const content = readFileSync(file);
    const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
    writeFileSync(`${file}.br`, brotliCompressSync(content, { params }));
    writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
  }
}

if (import.meta.main) await buildDashboard();
