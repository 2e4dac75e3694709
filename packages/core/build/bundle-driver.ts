import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const connection = "src/connection.js";

/**
 * Put the patched driver into a built package, as a pnpm patch doesn't travel with a published one. Throws when the
 * installed driver isn't the patched one.
 *
 * @example
 * bundleDriver("packages/core/dist");
 */
export function bundleDriver(dist: string): void {
  // …/postgres/src/index.js
  const driver = dirname(dirname(fileURLToPath(import.meta.resolve("postgres"))));
  if (!readFileSync(join(driver, connection), "utf8").includes("notBefore"))
    throw new Error(`${driver} is not the patched driver; run \`pnpm install\` in the repository first`);
  for (const part of ["src", "package.json"])
    cpSync(join(driver, part), join(dist, "driver", part), { recursive: true, dereference: true });
  writeFileSync(join(dist, "database", "driver.js"), 'export { default } from "../driver/src/index.js";\n');
}

if (import.meta.main) bundleDriver(fileURLToPath(new URL("../dist", import.meta.url)));
