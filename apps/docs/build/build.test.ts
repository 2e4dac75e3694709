import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { writeForPrograms } from "./for-programs.ts";
import { readPages, type Page } from "./pages.ts";
import { withoutInlineScripts } from "./scripts.ts";
import { inOrder, sidebar } from "./sidebar.ts";

let folder: string;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), "docs-"))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const page = (path: string): Page => {
  const section = path.includes("/") ? (path.split("/")[0] ?? "") : "";
  return { path, section, title: `About ${path}`, description: "It says so.", text: `# About ${path}\n` };
};

test("every page has its place in the sidebar, named ones first", () => {
  const links = sidebar(["index.md", "guides/zebra.md", "guides/retries.md", "start/index.md"].map(page));
  expect(links.map(({ text, items }) => [text, items.map(({ link }) => link)])).toEqual([
    ["Start", ["/start/"]],
    ["Guides", ["/guides/retries", "/guides/zebra"]],
  ]);
  expect(() => inOrder([page("lost/page.md")])).toThrow("lost/page.md: build/order.ts does not name the section lost");
});

test("the pages themselves are read with their titles", () => {
  const pages = readPages();
  expect(pages.map(({ path }) => path)).toContain("index.md");
  expect(() => inOrder(pages)).not.toThrow();
});

test("a script in a page becomes a file that the page names", () => {
  const html = `<head><script id="dark">a();</script><script type="module" src="/b.js"></script></head>`;
  const found = /^<head><script id="dark" src="\/guide\/(assets\/[0-9a-f]{12}\.js)"><\/script><script type/;
  const [, file = ""] = found.exec(withoutInlineScripts(html, folder, "/guide/")) ?? [];
  expect(readFileSync(join(folder, file), "utf8")).toBe("a();");
});

test("programs read each page as Markdown, and find all of them in llms.txt", () => {
  writeForPrograms(["index.md", "guides/retries.md"].map(page), folder);
  expect(readFileSync(join(folder, "guides/retries.md"), "utf8")).toBe("# About guides/retries.md\n");
  const list = readFileSync(join(folder, "llms.txt"), "utf8");
  expect(list).toContain("## Guides\n\n- [About guides/retries.md](guides/retries.md): It says so.\n");
});
