import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { forFile } from "@atlasqueue/harness";
import { afterAll, beforeAll, expect, test } from "vitest";
import { testApp } from "../../test/test-app.ts";
import { readApiConfig } from "../config.ts";
import { readGuide } from "./guide.ts";

const files = {
  "index.html": "<title>Documentation</title>",
  "404.html": '<title>There is no such page</title><script src="./assets/app.js"></script>',
  "start/index.html": "<title>What is AtlasQueue?</title>",
  "guides/retries.html": "<title>Retries</title>",
  "guides/retries.md": "# Retries",
  "llms.txt": "# AtlasQueue",
  "assets/chunks/theme.4f2a.js": "console.log('theme');".repeat(50),
  "hashmap.json": "{}",
};

const parent = mkdtempSync(join(tmpdir(), "guide-"));
const folder = join(parent, "dist");
afterAll(() => rmSync(parent, { recursive: true, force: true }));
beforeAll(() => {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), text);
    writeFileSync(join(folder, `${name}.gz`), gzipSync(text));
  }
  writeFileSync(join(parent, "secret.html"), "not a part of it");
});
const api = forFile(() => testApp({ guide: readGuide([folder]) }));

test.each([
  ["/guide/", "index.html", "text/html"],
  ["/guide/start/", "start/index.html", "text/html"],
  ["/guide/guides/retries", "guides/retries.html", "text/html"],
  ["/guide/guides/retries.html", "guides/retries.html", "text/html"],
  ["/guide/guides/retries.md", "guides/retries.md", "text/markdown"],
  ["/guide/llms.txt", "llms.txt", "text/plain"],
] as const)("%s is %s, asked for anew each time", async (path, name, type) => {
  const response = await api.get(path);
  expect([response.status, await response.text()]).toEqual([200, files[name]]);
  expect(response.headers.get("content-type")).toBe(`${type}; charset=utf-8`);
  expect(response.headers.get("cache-control")).toBe("no-cache");
  expect(response.headers.get("content-security-policy")).toMatch(/^default-src 'none'; script-src 'self';/);
  expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  const etag = response.headers.get("etag") ?? "";
  expect((await api.get(path, { "if-none-match": etag })).status).toBe(304);
  const head = await api.app.request(`http://localhost${path}`, { method: "HEAD" });
  expect([head.status, head.headers.get("etag"), await head.text()]).toEqual([200, etag, ""]);
});

test("an asset is compressed and kept for ever", async () => {
  const response = await api.get("/guide/assets/chunks/theme.4f2a.js", { "accept-encoding": "gzip" });
  expect(response.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
  const text = gunzipSync(new Uint8Array(await response.arrayBuffer())).toString();
  expect(text).toBe(files["assets/chunks/theme.4f2a.js"]);
});

test.each([
  "/guide/nothing",
  "/guide/guides/",
  "/guide/guides",
  "/guide/..%2Fsecret",
  "/guide/..%2fsecret.html",
  "/guide/%2e%2e/secret.html",
  "/guide/guides%2Fretries.html.gz",
  "/guide/guides/retries.html.gz",
  "/guide/hashmap.json",
  "/guide/assets/nothing.js",
  "/guide//index.html",
  "/guide/constructor",
])("%s is a 404 with a page of its own, and nothing else", async (path) => {
  const response = await api.app.request(`http://localhost${path}`);
  expect(response.status).toBe(404);
  if (!response.headers.get("content-type")?.startsWith("application/problem+json"))
    expect(await response.text()).toContain("There is no such page");
  const etag = response.headers.get("etag") ?? "*";
  expect((await api.get(path, { "if-none-match": etag })).status).toBe(404);
});

test.each([
  ["/guide/nothing", "./"],
  ["/guide/guides/nothing", "../"],
  ["/guide/guides/", "../"],
])("the page of the 404 at %s finds its files at %s", async (path, up) => {
  expect(await (await api.get(path)).text()).toContain(`src="${up}assets/app.js"`);
});

test.each([
  ["/guide", "guide/"],
  ["/llms.txt", "guide/llms.txt"],
])("%s leads to %s, behind any prefix", async (path, location) => {
  const response = await api.get(path, {});
  expect([response.status, response.headers.get("location")]).toEqual([308, location]);
});

test("the documentation takes no other method, and is nothing of a neighbour's", async () => {
  const response = await api.app.request("http://localhost/guide/start/", { method: "POST" });
  expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  expect((await api.get("/guides")).headers.get("content-type")).toBe("application/problem+json");
});

test("DOCS=false leaves it out, and so does a build that is not there", async () => {
  const env = { DATABASE_URL: "postgres://127.0.0.1/atlasqueue" };
  expect(readApiConfig(env).with_docs).toBe(true);
  expect(readApiConfig({ ...env, DOCS: "false" }).with_docs).toBe(false);
  expect(readGuide([join(parent, "nowhere")])).toBeUndefined();
});
