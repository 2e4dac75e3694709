import { globSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, test } from "vitest";

// The test command has built the page.
const dist = fileURLToPath(new URL("../dist/", import.meta.url));
const first_page_bytes_max = 132_000;
const all_bytes_max = 300_000;

type Chunk = { file: string; imports?: string[]; isEntry?: boolean };
let chunks: Record<string, Chunk>;
beforeAll(() => void (chunks = JSON.parse(readFileSync(`${dist}manifest.json`, "utf8")) as Record<string, Chunk>));

const gzipped = (files: Iterable<string>) =>
  [...files]
    .filter((file) => file.endsWith(".js"))
    .reduce((sum, file) => sum + gzipSync(readFileSync(dist + file), { level: 9 }).length, 0);

/** A chunk's file and those it cannot do without. */
function needed(name: string, found = new Set<string>()): Set<string> {
  const chunk = chunks[name];
  if (!chunk || found.has(chunk.file)) return found;
  found.add(chunk.file);
  for (const each of chunk.imports ?? []) needed(each, found);
  return found;
}

test("the first page's scripts are at most 132 KB, gzipped", () => {
  const [entry = ""] = Object.entries(chunks).find(([, { isEntry }]) => isEntry) ?? [];
  const bytes = gzipped(needed(entry));
  expect(bytes).toBeGreaterThan(20_000);
  expect(bytes).toBeLessThanOrEqual(first_page_bytes_max);
});

test("all scripts together are at most 300 KB, gzipped", () => {
  // The manifest knows nothing of what runs beside the page.
  const all = globSync("assets/*.js", { cwd: dist });
  expect(all.some((file) => file.includes("worker"))).toBe(true);
  expect(gzipped(all)).toBeLessThanOrEqual(all_bytes_max);
});

test("the page has no script, style or handler in its text, which its policy would refuse", () => {
  const page = readFileSync(`${dist}index.html`, "utf8");
  expect(page).not.toMatch(/<style|<script(?![^>]*\ssrc=)|\sstyle=|\son\w+=/);
  expect(page).not.toMatch(/https?:\/\//);
});
