import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

// `--compare` measures commits with different names in core with the scenarios of one checkout. So nothing but the
// variants may know such names, and they may need nothing of the rest of the bench: each commit brings its own.
const source = fileURLToPath(new URL(".", import.meta.url));
const files = globSync("**/*.ts", { cwd: source }).toSorted();
const isVariant = (file: string) => file.startsWith("variants/");
/** Programs of their own, which know one commit only. */
const isApart = (file: string) => /^(cells|pages|tracing)\//.test(file);
const common = files.filter((file) => !isVariant(file) && !isApart(file));

/** What the files import that matches, each with its place; paths as seen from the source folder. */
function imports(of: readonly string[], wanted: (path: string) => boolean): string[] {
  return of.flatMap((file) =>
    [...readFileSync(join(source, file), "utf8").matchAll(/(?:from|import|import\(|URL\()\s*"([^"]+)"/g)]
      .map(([, path = ""]) => (path.startsWith(".") ? join(dirname(file), path) : path))
      .filter(wanted)
      .map((path) => `${file}: ${path}`),
  );
}

test("scenarios, meter and report import nothing of what is measured", () => {
  const measured = /^@atlasqueue\/(?!(embedded|harness)(\/|$))|(^|\/)packages\//;
  expect(common.length).toBeGreaterThan(50);
  expect(imports(common, (path) => measured.test(path))).toEqual([]);
});

test("scenarios, meter and report reach the variants through their list and the files of types only", () => {
  const seam = /^variants\/(index|variant|ours)\.ts$/;
  expect(imports(common, (path) => isVariant(path) && !seam.test(path))).toEqual([]);
});

test("no scenario brings this checkout's own variants to a commit's", () => {
  const used = imports(common, (path) => path === "variants/index.ts").map((found) => found.split(":")[0]);
  expect(used).toEqual(["bench.ts", "config.ts", "run/measure.ts"]);
});

test("the variants import nothing of the rest of the bench", () => {
  const outside = (path: string) => path.endsWith(".ts") && !isVariant(path);
  expect(imports(files.filter(isVariant), outside)).toEqual([]);
});
