import { forFile } from "@atlasqueue/harness";
import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import { testApi } from "./test-api.ts";

const pages = new URL("../../../apps/docs/pages/clients/", import.meta.url);
const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "atlasqueue-languages-"));

const api = forFile(testApi);
afterAll(() => void rmSync(folder, { recursive: true }));

/** Runs a page's one block for a language as written, except for the port. */
async function runBlock(page: string, language: string, command: string[], file: string): Promise<string> {
  const text = readFileSync(new URL(`${page}.md`, pages), "utf8");
  const blocks = [...text.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, "gs"))];
  expect(blocks).toHaveLength(1);
  writeFileSync(join(folder, file), (blocks[0]?.[1] ?? "").replaceAll("http://127.0.0.1:8000", api.url));
  const [program = "", ...args] = command;
  return (await run(program, [...args, file], { cwd: folder })).stdout;
}
const missing = (command: string, version: string) => spawnSync(command, [version]).status !== 0;

test.skipIf(missing("curl", "--version"))("curl submits, leases, acknowledges and reads", async () => {
  const lines = (await runBlock("curl", "bash", ["sh", "-eu"], "page.sh")).trim().split("\n");
  const [submitted, done] = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(submitted).toMatchObject({ status: "queued", queue: "from-curl" });
  expect(done).toMatchObject({ id: submitted?.id, status: "succeeded", result: { pages: 3 } });
});

test.skipIf(missing("python3", "--version"))("Python submits, works and waits", async () => {
  const said = await runBlock("python-http", "python", ["python3"], "page.py");
  expect(said).toBe('succeeded {"month": "2026-11", "pages": 3}\n');
});

test("the page on Python has the examples of the package's README, which run in its tests", () => {
  const blocksIn = (file: URL) => readFileSync(file, "utf8").match(/```python\n(.*?)```/gs);
  expect(blocksIn(new URL("python.md", pages))).toEqual(blocksIn(new URL("../../python/README.md", import.meta.url)));
});

test.skipIf(missing("go", "version"))("Go does the same, where it is installed", async () => {
  expect(await runBlock("go", "go", ["go", "run"], "main.go")).toBe('succeeded {"pages":3}\n');
});
