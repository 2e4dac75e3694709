import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import axe from "axe-core";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readGuide } from "../../api/src/dashboard/guide.ts";
import { startServer, type RunningServer } from "../../api/src/server.ts";
import { startBrowser } from "../../api/test/browser.ts";
import { testApp } from "../../api/test/test-app.ts";

// The built site, as the API serves it, in a real browser.
// @module-tag slow
const base_path = "/admin/queue";
let api: Awaited<ReturnType<typeof testApp>>;
let server: RunningServer;
let browser: Browser;
beforeAll(async () => {
  // In a process of its own, because Vitest's environment selects Vue's development build.
  const env = { ...process.env, NODE_ENV: "production" };
  execFileSync(process.execPath, [fileURLToPath(new URL("../build/ensure-built.ts", import.meta.url))], { env });
  [api, browser] = await Promise.all([testApp({ guide: readGuide() }), startBrowser()]);
  const options = { host: "127.0.0.1", port: 0, base_path, logger: api.deps.logger };
  server = await startServer(api.app, options);
});
afterAll(async () => {
  await browser?.close();
  await server?.stop(100);
  await api?.stop();
});

type Options = NonNullable<Parameters<Browser["newPage"]>[0]>;

/** A page, and every complaint by the browser: a script or a style that the policy refuses is one. */
async function open(path: string, options: Options = {}, below = ""): Promise<{ page: Page; complaints: string[] }> {
  const page = await browser.newPage(options);
  const complaints: string[] = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("response", (response) => response.status() >= 400 && complaints.push(`${response.url()} is an error`));
  await page.goto(`${server.url}${below}/guide${path}`, { waitUntil: "networkidle" });
  return { page, complaints };
}

test("search finds the retry delay, and opens its page", async () => {
  const { page, complaints } = await open("/");
  await page.getByRole("button", { name: "Search" }).first().click();
  await page.locator("#localsearch-input").fill("retry delay");
  const first = page.locator(".result").first();
  await first.waitFor();
  expect(await first.getAttribute("href")).toContain("/guide/guides/retries");
  await first.click();
  await page.waitForURL(/guides\/retries/);
  await page.getByRole("heading", { level: 1, name: /Retries/ }).waitFor();
  expect(complaints).toEqual([]);
  await page.close();
});

test("below a path, pages have their styles, links lead to other pages, and search opens them", async () => {
  const { page, complaints } = await open("/", {}, base_path);
  await page.getByRole("link", { name: "Quickstart" }).click();
  await page.getByRole("heading", { level: 1, name: "Quickstart" }).waitFor();
  await page.getByRole("link", { name: "Troubleshooting" }).first().click();
  await page.waitForURL(`**${base_path}/guide/operate/troubleshooting`);
  await page.getByRole("link", { name: "AtlasQueue", exact: true }).first().click();
  await page.waitForURL(`**${base_path}/guide/`);
  await page.getByRole("button", { name: "Search" }).first().click();
  await page.locator("#localsearch-input").fill("retry delay");
  await page.locator(".result").first().click();
  await page.getByRole("heading", { level: 1, name: /Retries/ }).waitFor();
  const addresses = "[...document.querySelectorAll('a[href]')].map((link) => link.pathname)";
  const elsewhere = ((await page.evaluate(addresses)) as string[]).filter((at) => !at.startsWith(base_path));
  expect([elsewhere, complaints]).toEqual([[], []]);
  await page.getByRole("link", { name: "HTTP API" }).first().click();
  await page.waitForURL(`**${base_path}/docs`);
  await page.close();
});

test("a page that does not exist says so below a path too", async () => {
  const { page } = await open("/guides/no/such/page", {}, base_path);
  await page.getByText("PAGE NOT FOUND").waitFor();
  await page.getByRole("link", { name: /home/i }).click();
  await page.waitForURL(`**${base_path}/guide/`);
  await page.close();
});

test.each([
  ["/guides/retries", "light"],
  ["/guides/retries", "dark"],
  ["/reference/settings", "light"],
  ["/", "dark"],
] as const)("axe finds nothing serious on %s in %s", async (path, colorScheme) => {
  const { page, complaints } = await open(path, { colorScheme });
  expect(await page.evaluate("document.documentElement.classList.contains('dark')")).toBe(colorScheme === "dark");
  await page.evaluate(axe.source);
  const { violations } = (await page.evaluate("axe.run()")) as { violations: AxeViolation[] };
  const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  expect(serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`)).toEqual([]);
  expect(complaints).toEqual([]);
  await page.close();
});
type AxeViolation = { id: string; impact: string; nodes: { html: string }[] };

test.each(["/", "/guides/retries", "/reference/settings", "/reference/cli", "/concepts/architecture"])(
  "%s does not scroll sideways on a phone",
  async (path) => {
    const { page } = await open(path, { viewport: { width: 390, height: 844 } });
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
    await page.close();
  },
);
