import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * A page whose scripts are files. The API's policy lets a browser run nothing that is in the page itself, and VitePress
 * writes a few lines there that choose the colours before anything is drawn.
 */
export function withoutInlineScripts(html: string, folder: string, base: string): string {
  return html.replaceAll(/<script((?: id="[^"]*")?)>(.*?)<\/script>/gs, (_whole, id: string, text: string) => {
    const name = `assets/${createHash("sha256").update(text).digest("hex").slice(0, 12)}.js`;
    mkdirSync(join(folder, "assets"), { recursive: true });
    writeFileSync(join(folder, name), text);
    return `<script${id} src="${base}${name}"></script>`;
  });
}
