import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

type Manifest = Record<"name" | "version" | "license" | "type", string>;

const connection = "src/connection.js";

/**
 * Put the patched driver into a built package, as a pnpm patch doesn't travel with a published one, and point the one
 * module that imports the driver there. Throws when the installed driver isn't the patched one.
 *
 * @example
 * bundleDriver("packages/core/dist", "database/driver.js");
 */
export function bundleDriver(dist: string, module: string): void {
  // …/postgres/src/index.js
  const driver = dirname(dirname(fileURLToPath(import.meta.resolve("postgres"))));
  if (!readFileSync(join(driver, connection), "utf8").includes("notBefore"))
    throw new Error(`${driver} is not the patched driver; run \`pnpm install\` in the repository first`);
  cpSync(join(driver, "src"), join(dist, "driver/src"), { recursive: true, dereference: true });
  // Whose it is. Its `exports` would mean nothing here.
  const { name, version, license, type } = JSON.parse(readFileSync(join(driver, "package.json"), "utf8")) as Manifest;
  writeFileSync(join(dist, "driver/package.json"), `${JSON.stringify({ name, version, license, type }, null, 2)}\n`);
  const entry = relative(dirname(module), "driver/src/index.js");
  writeFileSync(join(dist, module), `export { default } from "${entry}";\n`);
}

// In a package's folder: node ../core/build/bundle-driver.ts database/driver.js
if (import.meta.main) bundleDriver(resolve("dist"), process.argv[2] ?? "");
