// @module-tag nightly
import { createClient } from "@atlasqueue/client";
import { freePort } from "@atlasqueue/embedded";
import { findProgram, forFile } from "@atlasqueue/harness";
import { chromium, type Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { startNginx, subPathLines, type Nginx } from "./nginx.ts";
import { startSystem } from "./system.ts";

const system = forFile(startSystem);
let browser: Browser;
beforeAll(async () => {
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  browser = await chromium.launch({ executablePath: findProgram("chromium") ?? "", args });
});
afterAll(() => browser.close());

/** Two ways to the same: the proxy cuts the path off, or the API does. */
const ways = {
  "cut off by nginx": { server: subPathLines(), env: {} },
  "cut off by the API": {
    server: subPathLines().replace("http://atlasqueue/;", "http://atlasqueue;"),
    env: { BASE_PATH: "/queue" },
  },
};

describe.each(Object.entries(ways))("below a path that is %s, with another Host", (_name, { server, env }) => {
  let nginx: Nginx;
  let url: string;
  let token: string;
  beforeAll(async () => {
    const port = await freePort();
    const PUBLIC_ORIGIN = `http://127.0.0.1:${port}`;
    const api = await system.startApi({ AUTH: "required", PUBLIC_ORIGIN, ...env });
    nginx = await startNginx(new URL(api.url).host, { port, server });
    url = `${nginx.url}/queue`;
    token = await system.makeToken();
    await createClient({ url, token }).submit({ type: "a", queue: "mail" });
  });
  afterAll(() => nginx.stop());

  test("the dashboard loads, signs in, goes from page to page and loads again", async () => {
    const context = await browser.newContext();
    onTestFinished(() => context.close());
    const page = await context.newPage();
    const strays: string[] = [];
    page.on("response", (response) => {
      if (!response.url().startsWith(`${url}/`) || response.status() >= 400)
        strays.push(`${response.status()} ${response.url()}`);
    });
    page.on("pageerror", (error) => strays.push(String(error)));
    await page.goto(`${url}/`);
    await page.getByLabel("API token").fill(token);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await page.getByRole("link", { name: "Queues", exact: true }).first().click();
    await page.getByRole("heading", { name: "Queues", exact: true }).waitFor();
    expect(page.url()).toBe(`${url}/ui/queues`);
    await page.goto(`${url}/ui/queues/mail`);
    await page.getByRole("heading", { name: "mail" }).first().waitFor();
    await page.goto(`${url}/ui/settings`);
    await page.getByRole("link", { name: "API reference" }).click();
    await page.locator(".opblock").first().waitFor();
    expect(page.url()).toMatch(`${url}/docs`);
    expect(strays).toEqual([]);
  });

  test("a client, MCP, and a page that changes something are served", async () => {
    const client = createClient({ url, token });
    const { id } = await client.submit({ type: "a", queue: "below" });
    expect(await client.get(id)).toMatchObject({ queue: "below" });
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const message = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    const spoken = await fetch(`${url}/mcp`, { method: "POST", headers, body: JSON.stringify(message) });
    expect(await spoken.json()).toMatchObject({ result: { tools: expect.any(Array) as unknown } });
    const pause = (origin: string) =>
      fetch(`${url}/v1/queues/below/pause`, { method: "POST", headers: { ...headers, origin } });
    expect((await pause(nginx.url)).status).toBe(200);
    expect((await pause("https://evil.example")).status).toBe(403);
  });
});
