import { execFile } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { tsBlocks } from "../build/blocks.ts";
import { readPages } from "../build/pages.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
// In this package, so that the blocks find what its examples import; and in a folder that no tool reads.
const folder = fileURLToPath(new URL("../dist-blocks", import.meta.url));

test("every ts block of a page type-checks as a module", { tags: ["slow"] }, async () => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const { path, text } of readPages())
    for (const { line, code } of tsBlocks(text))
      writeFileSync(`${folder}/${path.replaceAll("/", "_").replace(/\.md$/, "")}_line_${line}.ts`, code);
  const options = { noEmit: true, allowImportingTsExtensions: true, types: ["node"], lib: ["es2024", "dom"] };
  const config = { extends: `${root}.config/tsconfig.base.json`, compilerOptions: options, include: ["*.ts"] };
  writeFileSync(`${folder}/tsconfig.json`, JSON.stringify(config));
  const said = await new Promise<string>((resolve) =>
    execFile(
      `${root}node_modules/.bin/tsc`,
      ["--noEmit", "-p", folder],
      { timeout: 200_000 },
      (_error, stdout, stderr) => resolve(stdout + stderr),
    ),
  );
  expect(said).toBe("");
  rmSync(folder, { recursive: true, force: true });
});
