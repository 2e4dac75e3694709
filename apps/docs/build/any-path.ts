import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The site's address in a browser, computed in `assets/chunks`, wherever a proxy or a program serves the site. */
const here = `(new URL("../../",import.meta.url).pathname)`;

/** What the browser keeps while another page is shown must not depend on the first page's folder. */
const absoluteLinks = `document.querySelectorAll("a[href^='.'],[rel=icon]").forEach((link)=>{link.href=link.href});`;

/**
 * Makes the built site work below any path, which VitePress can't: pages name their files and each other relatively,
 * and scripts compute the site's address. Throws if VitePress writes the address in a form that this does not know.
 */
export function belowAnyPath(folder: string, base: string): void {
  for (const name of globSync("**/*.html", { cwd: folder })) {
    const up = "../".repeat(name.split("/").length - 1) || "./";
    change(join(folder, name), (html) => html.replaceAll(`="${base}`, `="${up}`));
  }
  for (const name of globSync("assets/chunks/*.js", { cwd: folder }))
    change(join(folder, name), (script) => {
      const moved = withComputedBase(script, base);
      if (moved.includes(`"${base}`)) throw new Error(`${name} has the address ${base} in an unknown form`);
      return name.includes("/metadata.") ? `${moved}${absoluteLinks}` : moved;
    });
}

/** In the JSON of the search, as a whole string, and in the JSON of the site's data. */
function withComputedBase(script: string, base: string): string {
  return script
    .replace(/^const (\w+)=('\{"documentCount".*');export/s, (_whole, name: string, json: string) => {
      const marked = json.replaceAll(`"${base}`, '"~/');
      return `const ${name}=${marked}.replaceAll('"~/','"'+${here});export`;
    })
    .replaceAll(`\\"${base}\\"`, `\\""+${here}+"\\"`)
    .replaceAll(`"${base}"`, here);
}

function change(file: string, how: (text: string) => string): void {
  writeFileSync(file, how(readFileSync(file, "utf8")));
}
