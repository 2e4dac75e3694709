import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

/** Text shrinks; fonts are compressed already. */
const compressed = /\.(js|css|html|svg|json|md|txt)$/;

/** Write a `.br` and a `.gz` next to every file of a built site that shrinks. */
export function compressFiles(dist: string): void {
  for (const name of readdirSync(dist, { recursive: true, encoding: "utf8" })) {
    if (!compressed.test(name)) continue;
    const file = join(dist, name);
    const content = readFileSync(file);
    const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
    writeFileSync(`${file}.br`, brotliCompressSync(content, { params }));
    writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
  }
}
