import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { expect, inject, test } from "vitest";
import { names } from "./project.ts";
import { succeed } from "./run.ts";

const require = createRequire(import.meta.url);
const publint = join(dirname(require.resolve("publint")), "cli.js");
const attw = join(dirname(require.resolve("@arethetypeswrong/cli/package.json")), "dist/index.js");
const folder = inject("archives");
const files = readdirSync(folder);

test("every package that is not private is packed", () => {
  expect(files).toHaveLength(names.length);
});

test.each(names)("publint and attw find nothing wrong with %s", async (name) => {
  const file = files.find((each) => each.startsWith(`${name.replace("@", "").replace("/", "-")}-0`)) ?? "";
  await succeed(process.execPath, [publint, "run", join(folder, file), "--strict"], { cwd: folder });
  // Types and modules are ESM only, so what require() would get is not checked.
  const options = ["--profile", "esm-only", "--format", "ascii"];
  await succeed(process.execPath, [attw, join(folder, file), ...options], { cwd: folder });
});
