import { problemPage, problems, problemType, type ProblemKind } from "@atlasqueue/contract";
import { forFile } from "@atlasqueue/harness";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startBrowser } from "../../test/browser.ts";
import { serverOf, testApp } from "../../test/test-app.ts";
import { operations } from "../routes.ts";

const api = forFile(testApp);
const server = serverOf(api);
let browser: Browser;
beforeAll(async () => void (browser = await startBrowser()));
afterAll(() => browser.close());

/** A page that records every complaint by the browser, and every address it requested. */
async function watchedPage() {
  const page = await browser.newPage();
  // Swagger UI draws all operations, which takes half a minute on a busy machine.
  page.setDefaultTimeout(120_000);
  const complaints: string[] = [];
  const asked: string[] = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("requestfailed", (request) => complaints.push(`${request.url()} failed`));
  page.on("response", (response) => response.status() >= 400 && complaints.push(`${response.url()} is an error`));
  page.on("request", (request) => asked.push(request.url()));
  return { page, complaints, asked };
}

test("the page shows every operation in a real browser, without complaints", { tags: ["slow"] }, async () => {
  const { page, complaints, asked } = await watchedPage();
  const response = await page.goto(`${server.url}/docs`);
  expect(response?.headers()["content-security-policy"]).toContain("default-src 'none'");
  await page
    .locator(".opblock")
    .nth(operations.length - 1)
    .waitFor();
  const shown = await page.locator(".opblock-summary-path").evaluateAll((all) => all.map((one) => one.textContent));
  expect(shown.map((path) => path?.replaceAll("\u200b", "")).toSorted()).toEqual(
    operations.map(({ path }) => path).toSorted(),
  );
  expect(complaints).toEqual([]);
  expect(asked.filter((url) => !url.startsWith(server.url) && !url.startsWith("data:"))).toEqual([]);
});

test.each([
  ["/docs", "text/html; charset=utf-8"],
  ["/docs/swagger-ui-bundle.js", "text/javascript; charset=utf-8"],
  ["/docs/swagger-ui.css", "text/css; charset=utf-8"],
  ["/docs/start.js", "text/javascript; charset=utf-8"],
  ["/docs/icon.svg", "image/svg+xml"],
  ["/openapi.json", "application/json"],
  ["/problems/lease-lost", "application/json"],
])("%s is %s, and is not sent again to a client that has it", async (path, type) => {
  const first = await api.get(path);
  expect(first.status).toBe(200);
  expect(first.headers.get("content-type")).toBe(type);
  expect(first.headers.get("cache-control")).toBe("no-cache");
  const etag = first.headers.get("etag") ?? "";
  for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
    const again = await api.get(path, { "if-none-match": known });
    expect(again.status, known).toBe(304);
    expect(await again.text()).toBe("");
    expect(again.headers.get("etag")).toBe(etag);
  }
  expect((await api.get(path, { "if-none-match": '"other"' })).status).toBe(200);
});

test.each(["package.json", "index.html", "..%2Fpackage.json", "..%2f..%2f..%2fpackage.json", "constructor", "%2e%2e"])(
  "no other file can be asked for: %s",
  async (name) => {
    const response = await api.get(`/docs/${name}`);
    expect(response.status).toBe(404);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
  },
);

test("every problem's type leads to a page about it: JSON, and HTML for browsers", async () => {
  for (const kind of Object.keys(problems) as ProblemKind[]) {
    const json = await api.get(problemType(kind));
    expect(await json.json()).toEqual(problemPage(kind));
    const html = await api.get(problemType(kind), { accept: "text/html,*/*;q=0.8" });
    expect([html.status, html.headers.get("content-type"), html.headers.get("vary")], kind).toEqual([
      200,
      "text/html; charset=utf-8",
      "accept",
    ]);
    expect(html.headers.get("etag")).not.toBe(json.headers.get("etag"));
    const text = await html.text();
    expect(text).toContain(`<h1>${problems[kind].title}</h1>`);
    expect(text, "a backtick without its partner").not.toMatch(/`|undefined/);
  }
  for (const other of ["lease_lost", "constructor", "..%2Fdocs"])
    expect((await api.get(`/problems/${other}`)).status, other).toBe(404);
});
